"""`sisyphus ralph run --jobs N`: workers do items at once, each in a worktree of its own, and what
passes its check on top of the others' work is merged."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import pytest
from patience import PATIENCE, wait_for
from test_run import LIMIT, PLAN, Process, done
from test_run_commits import TRUST, Nights
from test_run_worktree import checkout
from world import Reply, World


class Jobs(Nights):
    """Nights with workers. Each item has a script of its own."""

    def items_script(self, items: Mapping[str, Sequence[Process]]) -> None:
        folder = self.folder / "items"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        for item, processes in items.items():
            (folder / f"{item}.json").write_text(json.dumps(processes))

    def jobs(
        self,
        count: int,
        *words: str,
        items: Mapping[str, Sequence[Process]],
        rest: Sequence[Process] = (),
    ) -> Reply:
        self.items_script(items)
        return self.run("--jobs", str(count), *words, processes=rest)

    @property
    def run_id(self) -> str:
        return self.run_branch.removeprefix("sisyphus/")

    @property
    def run_branch(self) -> str:
        """The branch of the last run."""
        names = self.ask("for-each-ref", "--format=%(refname:short)", "refs/heads/sisyphus/")
        return min(names.splitlines(), key=len)

    @property
    def branches(self) -> list[str]:
        names = self.ask("for-each-ref", "--format=%(refname:short)", "refs/heads/sisyphus/")
        return [name.removeprefix(self.run_branch) for name in names.splitlines()]

    @property
    def trees(self) -> list[str]:
        """The worktrees beside the project, by the end of their names."""
        project = self.world.project
        start = f"{project.name}-sisyphus-{self.run_id}"
        return sorted(path.name.removeprefix(start) for path in project.parent.glob(f"{start}*"))

    def tree(self, number: int = 0) -> Path:
        project = self.world.project
        end = f"-{number}" if number else ""
        return project.with_name(f"{project.name}-sisyphus-{self.run_id}{end}")

    def in_tree(self, *words: str) -> str:
        """What git prints in the run's worktree."""
        return self.ask("-C", str(self.tree()), *words)

    def left(self, word: str = "") -> list[int]:
        """The processes of runs that are still there. word: in their command line."""
        ours, found = os.fsencode(self.folder), []
        for path in Path("/proc").glob("[0-9]*/environ"):
            with suppress(OSError):
                variables = path.read_bytes()
                line = (path.parent / "cmdline").read_text().replace("\0", " ")
                if b"_SISYPHUS_RUN=" in variables and ours in variables and word in line:
                    found.append(int(path.parent.name))
        return found

    def file(self, name: str) -> str:
        """A file on the run's branch."""
        return self.ask("show", f"{self.run_branch}:{name}")


@pytest.fixture
def jobs(world: World) -> Jobs:
    world.write("fix_plan.md", PLAN)
    return Jobs(world)


def after(item: str) -> list[object]:
    """A step that waits until an item is merged."""
    merged = f"git log --branches=sisyphus/????? --format=%s | grep -qx {item}"
    return ["run", f"until {merged}; do sleep 0.05; done"]


EACH = {item: [done(item)] for item in ("cart", "total", "receipt")}


def test_workers_do_items_at_once_and_merge_them(jobs: Jobs) -> None:
    before = checkout(jobs)
    answer = jobs.jobs(2, items=EACH)

    assert answer.code == 0, answer
    assert sorted(jobs.subjects(jobs.run_branch)[1:]) == ["cart", "receipt", "total"]
    assert jobs.file("fix_plan.md") == PLAN.replace("[ ]", "[x]").strip()
    assert checkout(jobs) == before
    assert jobs.trees == []
    assert jobs.branches == [""]
    assert jobs.ask("for-each-ref", "refs/sisyphus/*/merged") == ""
    assert "(3/3)" in answer.out
    folders = {Path(call["folder"]).name[-2:] for call in jobs.calls}
    assert folders == {"-1", "-2"}


def test_one_worker_is_a_queue(jobs: Jobs) -> None:
    answer = jobs.jobs(1, items=EACH)

    assert answer.code == 0, answer
    assert jobs.subjects(jobs.run_branch)[1:] == ["cart", "total", "receipt"]
    assert [row["iteration"] for row in jobs.log(jobs.run_id)] == [1, 2, 3]
    assert [row["item"] for row in jobs.log(jobs.run_id)] == ["cart", "total", "receipt"]


def test_a_conflict_goes_back_to_its_agent(jobs: Jobs) -> None:
    jobs.plan("cart", "total")
    both: Process = [["write", ["shop.py", "cart\ntotal\n"]], ["say", "Both."]]
    slow = [after("cart"), ["write", ["shop.py", "total\n"]], ["tick", "total"], ["say", "Done."]]
    cart = [["write", ["shop.py", "cart\n"]], ["tick", "cart"], ["say", "Done."]]
    answer = jobs.jobs(2, items={"cart": [cart], "total": [slow, both]})

    assert answer.code == 0, answer
    assert jobs.subjects(jobs.run_branch)[-2:] == ["cart", "total"]
    assert jobs.file("shop.py") == "cart\ntotal"
    again = jobs.calls[2]["prompt"]
    assert "could not merge the work with that of others" in again
    assert "`git rebase` stopped at conflicts in shop.py" in again
    assert "Do not abort it" in again


def test_a_check_that_fails_on_what_others_have_merged(jobs: Jobs) -> None:
    """Each passes alone, and not both together."""
    jobs.plan("cart (verify: `test -f a`)", "total (verify: `test -f c || test -f b -a ! -f a`)")
    cart = [["write", ["a", "a\n"]], ["tick", "cart"], ["say", "Done."]]
    total = [after("cart"), ["write", ["b", "b\n"]], ["tick", "total"], ["say", "Done."]]
    mend: Process = [["run", "git mv b c"], ["say", "Mended."]]
    answer = jobs.jobs(2, TRUST, items={"cart": [cart], "total": [total, mend]})

    assert "Why The Item Is Not Done" in jobs.calls[2]["prompt"]
    assert answer.code == 0, answer
    assert jobs.subjects(jobs.run_branch)[-2:] == ["cart", "total"]


def test_the_third_failure_is_set_aside(jobs: Jobs) -> None:
    cart = [["write", ["shop.py", "cart\n"]], ["tick", "cart"], ["say", "Done."]]
    slow = [after("cart"), ["write", ["shop.py", "total\n"]], ["tick", "total"], ["say", "Done."]]
    nothing: Process = [["say", "I cannot."]]
    answer = jobs.jobs(
        2, items={"cart": [cart], "total": [slow, nothing, nothing], "receipt": [done("receipt")]}
    )

    assert answer.code == 4, answer
    assert len(jobs.calls) == 5
    assert "✗ total · failed" in answer.out
    assert ", but `git rebase` stopped at conflicts in shop.py" in answer.out
    assert sorted(jobs.subjects(jobs.run_branch)[1:]) == ["cart", "receipt"]
    assert "-total" in jobs.branches
    assert jobs.ask("show", f"{jobs.run_branch}-total:shop.py") == "total"
    assert jobs.file("fix_plan.md").splitlines()[2:] == [
        "- [x] cart",
        "- [ ] total",
        "- [x] receipt",
    ]


# ---------------------------------------------------------------- limits, and who ends it


def sleepy(item: str, seconds: float = 60.0) -> Process:
    return [["write", [f"{item}.py", "half\n"]], ["sleep", seconds], *done(item)]


CUT_OFF = EACH | {item: [sleepy(item), done(item)] for item in ("cart", "total")}


def test_limits_are_of_the_run(jobs: Jobs) -> None:
    """Three workers do not begin a third iteration each."""
    nothing: list[Process] = [[["write", ["a", "a\n"]], ["say", "Not done."]]] * 3
    answer = jobs.jobs(
        3, "--max-iterations", "4", items={item: nothing for item in ("cart", "total", "receipt")}
    )
    assert answer.code == 3, answer
    assert len(jobs.log(jobs.run_id)) == 4
    assert "To go on: `sisyphus ralph run --resume`, with a higher limit" in answer.out


def test_what_all_workers_use_counts(jobs: Jobs) -> None:
    answer = jobs.jobs(1, "--max-tokens", "5000", items=EACH)
    assert answer.code == 3, answer
    assert "its 5,000 tokens are used up" in answer.out
    assert jobs.subjects(jobs.run_branch)[1:] == ["cart", "total"]


def test_ctrl_c_lets_workers_end_their_iterations(jobs: Jobs) -> None:
    jobs.items_script({item: [sleepy(item, 2.0)] for item in ("cart", "total", "receipt")})
    process = jobs.process("--jobs", "2")
    wait_for(lambda: len(jobs.calls) == 2)
    process.send_signal(signal.SIGINT)
    assert process.wait(PATIENCE) == 130
    assert sorted(jobs.subjects(jobs.run_branch)[1:]) == ["cart", "total"]

    answer = jobs.resume(processes=[])
    assert answer.code == 0, answer
    assert sorted(jobs.subjects(jobs.run_branch)[1:]) == ["cart", "receipt", "total"]
    assert jobs.trees == []


def test_ctrl_c_twice_ends_them_at_once(jobs: Jobs) -> None:
    jobs.items_script(CUT_OFF)
    process = jobs.process("--jobs", "2")
    wait_for(lambda: len(jobs.calls) == 2)
    process.send_signal(signal.SIGINT)
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    assert process.wait(PATIENCE) == 130
    assert jobs.left() == []

    answer = jobs.resume(processes=[])
    assert answer.code == 0, answer
    assert sorted(jobs.subjects(jobs.run_branch)[1:]) == ["cart", "receipt", "total"]


@pytest.mark.parametrize("verb", ["pause", "cancel"])
def test_its_user_ends_it_from_elsewhere(jobs: Jobs, verb: str) -> None:
    jobs.items_script({item: [sleepy(item, 2.0)] for item in ("cart", "total", "receipt")})
    process = jobs.process("--jobs", "2")
    wait_for(lambda: len(jobs.calls) == 2)
    id = jobs.run_id
    assert jobs.world.cli("ralph", verb, id).code == 0
    assert process.wait(PATIENCE) == 130
    assert jobs.left() == []
    merged = [] if verb == "cancel" else ["cart", "total"]
    assert sorted(jobs.subjects(jobs.run_branch)[1:]) == merged


def test_a_killed_run_goes_on(jobs: Jobs) -> None:
    jobs.items_script(CUT_OFF)
    process = jobs.process("--jobs", "2")
    wait_for(lambda: len(jobs.calls) == 2)
    process.kill()
    process.wait()

    answer = jobs.resume(processes=[])
    assert answer.code == 0, answer
    assert jobs.left() == []
    assert sorted(jobs.subjects(jobs.run_branch)[1:]) == ["cart", "receipt", "total"]
    assert jobs.trees == []


def test_an_account_limit_lets_all_wait(jobs: Jobs) -> None:
    """The third item does not begin before the limit of the first one has passed."""
    limit = {**LIMIT, "resets_at": time.time() + 300}
    both_work = ["run", "until test -e ../begun; do sleep 0.02; done"]
    begins = ["run", "touch ../begun; sleep 3"]  # it ends when the limit is known
    limited: Process = [both_work, ["fail", limit]]
    total: Process = [begins, *done("total")]
    jobs.items_script(EACH | {"cart": [limited, done("cart")], "total": [total]})
    process = jobs.process("--jobs", "2")
    wait_for(lambda: "total" in jobs.subjects(jobs.run_branch) if jobs.calls else False)
    time.sleep(1.5)
    assert len(jobs.calls) == 2
    process.send_signal(signal.SIGINT)
    assert process.wait(PATIENCE) == 130

    again = jobs.process("--resume")  # its user knows that there is no limit any more
    try:
        assert again.wait(PATIENCE) == 0
    finally:
        again.terminate()
        again.wait()


# ---------------------------------------------------------------- the plan


def test_what_a_blocked_agent_has_noted_comes_onto_the_branch(jobs: Jobs) -> None:
    words = PLAN.replace("- [ ] cart\n", "- [ ] cart\n  Needs the rate.\n- [ ] rate\n")
    blocked: Process = [
        ["write", ["cart.py", "half\n"]],
        ["write", ["fix_plan.md", words]],
        ["say", "<blocked>the rate</blocked>"],
    ]
    items = EACH | {"cart": [blocked], "rate": [done("rate")]}
    answer = jobs.jobs(2, items=items)

    assert answer.code == 4, answer
    assert jobs.file("fix_plan.md") == (
        words.replace("[ ]", "[x]").replace("[x] cart", "[ ] cart").strip()
    )
    assert jobs.ask("show", f"{jobs.run_branch}-cart:cart.py") == "half"
    assert "Needs the rate" in jobs.ask("show", f"{jobs.run_branch}-cart:fix_plan.md")


def test_a_notice_about_an_item_names_the_run(jobs: Jobs) -> None:
    """Whoever reads it answers to that: `sisyphus ralph pause` knows no worker."""
    file = jobs.world.root / "notices"
    command = f"[notify]\ncommand = '(tr -d \\\\n; echo) >> {file}'\n"
    jobs.world.write(jobs.world.ours / "config.toml", command)
    jobs.plan("cart", "total")
    blocked: Process = [["say", "<blocked>the rate</blocked>"]]
    answer = jobs.jobs(1, items={"cart": [blocked], "total": [done("total")]})

    assert answer.code == 4, answer
    wait_for(lambda: file.exists() and len(file.read_text().splitlines()) == 2)
    notices = map(json.loads, file.read_text().splitlines())
    assert {notice["loop"] for notice in notices} == {jobs.run_id}


def test_a_liar_is_set_aside(jobs: Jobs) -> None:
    jobs.plan("cart (verify: `test -f cart.py`)", "total (verify: `test -f total.py`)")
    lie: list[Process] = [[["tick", "cart"], ["say", "Done."]], [["say", "Done."]], [["say", "?"]]]
    answer = jobs.jobs(2, TRUST, items=EACH | {"cart": lie})

    assert answer.code == 4, answer
    assert jobs.subjects(jobs.run_branch)[-1:] == ["total"]
    assert jobs.file("fix_plan.md").count("[ ]") == 1
    answer = jobs.jobs(2, "--resume", items=EACH)
    assert answer.code == 0, answer
    assert jobs.trees == []


def test_new_items_are_done_too(jobs: Jobs) -> None:
    new = PLAN.replace("- [ ] receipt\n", "- [ ] receipt\n- [ ] refund\n")
    cart: Process = [["write", ["fix_plan.md", new]], *done("cart")]
    answer = jobs.jobs(2, items=EACH | {"cart": [cart], "refund": [done("refund")]})

    assert answer.code == 0, answer
    assert jobs.file("fix_plan.md") == new.replace("[ ]", "[x]").strip()


def test_items_that_wait_for_others(jobs: Jobs) -> None:
    jobs.plan("cart (after: total)", "total (after: receipt)", "receipt")
    answer = jobs.jobs(3, items=EACH)

    assert answer.code == 0, answer
    assert jobs.subjects(jobs.run_branch)[2:] == ["receipt", "total", "cart"]


def test_a_worker_is_told_of_its_own_item_alone(jobs: Jobs) -> None:
    items = EACH | {"total": [[["say", "I read."]], done("total")]}
    assert jobs.jobs(1, items=items).code == 0
    again = jobs.calls[2]["prompt"]
    assert "(not done: the item is not done yet): total" in again
    assert ": cart" not in again


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_run_that_is_told_to_end_ends_its_workers_at_once(jobs: Jobs, number: int) -> None:
    jobs.items_script(CUT_OFF)
    process = jobs.process("--jobs", "2")
    wait_for(lambda: len(jobs.calls) == 2)
    process.send_signal(number)
    assert process.wait(PATIENCE) == 130
    assert jobs.left() == []


def test_a_client_ends_whose_worker_was_killed_when_the_run_was_about_to_end(jobs: Jobs) -> None:
    jobs.items_script({"cart": [sleepy("cart")]})
    process = jobs.process("--jobs", "1")
    wait_for(lambda: len(jobs.calls) == 1)
    process.send_signal(signal.SIGINT)
    time.sleep(0.5)
    (worker,) = jobs.left("runner.worker")
    os.kill(worker, signal.SIGKILL)
    assert process.wait(PATIENCE) == 130
    assert jobs.left() == []


def test_fewer_workers_when_it_goes_on(jobs: Jobs) -> None:
    """Items that are begun wait for each other, too."""
    jobs.items_script(CUT_OFF | {"cart": [sleepy("cart"), sleepy("cart", 2.0)]})
    process = jobs.process("--jobs", "2")
    wait_for(lambda: len(jobs.calls) == 2)
    process.kill()
    process.wait()

    answer = jobs.resume("--jobs", "1", processes=[])
    assert answer.code == 0, answer
    assert [row["item"] for row in jobs.log(jobs.run_id)] == ["cart", "total", "receipt"]


def test_an_item_at_which_the_process_of_its_worker_ends_is_set_aside(jobs: Jobs) -> None:
    """The others are done."""
    ends: Process = [["write", ["cart.py", "half"]], ["signal", "SIGKILL"], ["sleep", 60]]
    answer = jobs.jobs(1, items=EACH | {"cart": [ends] * 3})

    assert answer.code == 4, answer
    assert jobs.subjects(jobs.run_branch)[1:] == ["total", "receipt"]
    assert "the process of its worker exited -9, 3 times" in answer.out
    assert jobs.left() == []
    (left,) = (name for name in jobs.branches if "left" in name)
    assert jobs.ask("show", f"{jobs.run_branch}{left}:cart.py") == "half"
    answer = jobs.jobs(1, "--resume", items=EACH)
    assert answer.code == 0, answer
    assert jobs.subjects(jobs.run_branch)[1:] == ["total", "receipt", "cart"]


def test_a_plan_that_is_changed_while_an_item_is_merged(jobs: Jobs) -> None:
    """Its user adds an item to the plan in the run's worktree, when the check of another one runs
    on what is merged."""
    jobs.world.write("more", "- [ ] extra\n")
    jobs.commit("add", "more")
    adds = "touch ../added && cat more | tee -a ../project-sisyphus-?????/fix_plan.md"
    check = f"test -f total.py && (test ! -f cart.py -o -e ../added || ({adds}))"
    jobs.plan("cart", f"total (verify: `{check}`)")
    slow: Process = [after("cart"), *done("total")]
    items = {"cart": [done("cart")], "total": [slow], "extra": [done("extra")]}
    answer = jobs.jobs(2, TRUST, items=items)

    assert answer.code == 0, answer
    assert jobs.file("fix_plan.md").endswith("- [x] extra")
    assert len(jobs.calls) == 3


def test_a_cancelled_run_goes_on_with_what_was_begun(jobs: Jobs) -> None:
    see: Process = [["run", "cat cart.py >>../seen"], *done("cart")]
    jobs.items_script(
        EACH | {"cart": [sleepy("cart"), see], "total": [sleepy("total"), done("total")]}
    )
    process = jobs.process("--jobs", "2")
    wait_for(lambda: len(jobs.calls) == 2)
    assert jobs.world.cli("ralph", "cancel", jobs.run_id).code == 0
    assert process.wait(PATIENCE) == 130

    answer = jobs.resume(processes=[])
    assert answer.code == 0, answer
    assert (jobs.world.project.parent / "seen").read_text() == "half\n"
    assert sorted(jobs.subjects(jobs.run_branch)[1:]) == ["cart", "receipt", "total"]
    assert jobs.branches == [""]
    assert jobs.trees == []


def test_the_report_says_why_an_item_that_is_begun_is_not_done(jobs: Jobs) -> None:
    jobs.plan("cart (verify: `echo BECAUSE; test -f never`)")
    answer = jobs.jobs(1, TRUST, "--max-iterations", "1", items=EACH)
    assert answer.code == 3, answer
    assert "Ticked, but `echo BECAUSE; test -f never` exited 1: cart" in answer.out
    assert "cart: begun in `" in answer.out


def test_what_workers_have_done_after_a_kill_is_told(jobs: Jobs) -> None:
    jobs.items_script(EACH | {"cart": [sleepy("cart", 2.0)], "total": [sleepy("total", 2.0)]})
    process = jobs.process("--jobs", "2")
    wait_for(lambda: len(jobs.calls) == 2)
    process.kill()
    process.wait()
    wait_for(lambda: len(jobs.subjects(jobs.run_branch)) == 3)
    wait_for(lambda: jobs.left() == [])

    answer = jobs.resume(processes=[])
    assert answer.code == 0, answer
    assert all(f"✓ {item} · changed · " in answer.out for item in ("cart", "total", "receipt"))
    assert "(3/3)" in answer.out


@pytest.mark.parametrize("command", ["rm fix_plan.md", "echo gone >fix_plan.md"])
def test_an_agent_that_spoils_its_list_spoils_no_night(jobs: Jobs, command: str) -> None:
    spoil: Process = [["write", ["cart.py", "x\n"]], ["run", command], ["say", "Done."]]
    again: Process = [["run", "git checkout HEAD -- fix_plan.md"], *done("cart")]
    answer = jobs.jobs(1, items=EACH | {"cart": [spoil, again]})
    assert answer.code == 0, answer
    assert jobs.file("fix_plan.md") == PLAN.replace("[ ]", "[x]").strip()


def test_a_run_that_is_not_merged_is_named_before_the_next_one(jobs: Jobs) -> None:
    assert jobs.jobs(1, items=EACH).code == 0
    first = jobs.run_id
    answer = jobs.jobs(1, items=EACH)
    assert f"Run {first} is complete and not merged" in answer.out
    assert f"`git merge sisyphus/{first}` brings it." in answer.out


# ---------------------------------------------------------------- what users have


GIT = {
    "core.autocrlf": "true", "core.safecrlf": "warn", "merge.ff": "false", "rerere.enabled": "true",
    "status.showUntrackedFiles": "no", "commit.verbose": "true", "diff.noprefix": "true",
    "color.ui": "always", "rebase.updateRefs": "true", "rebase.autoStash": "true",
    "rebase.autoSquash": "true", "commit.template": "/nonexistent", "feature.manyFiles": "true",
}  # fmt: skip
AFTERWARDS = ("post-checkout", "post-merge", "pre-rebase", "post-commit", "post-rewrite")


def test_what_its_user_has_set_for_their_own_git(jobs: Jobs) -> None:
    for name, value in GIT.items():
        jobs.ask("config", name, value)
    for name in AFTERWARDS:
        jobs.hook(name, "exit 1")
    before = checkout(jobs)
    answer = jobs.jobs(3, items=EACH)

    assert answer.code == 0, answer
    assert checkout(jobs) == before
    assert sorted(jobs.subjects(jobs.run_branch)[1:]) == ["cart", "receipt", "total"]
    assert jobs.branches == [""]


ODD = (
    '"cart" --force', "$(touch ../pwned) `touch ../pwned`", "-- -rf", "total " + "x" * 10_000,
    "Café ☕ \\n 'q'", "a [link](http://x) **b**",
)  # fmt: skip
DOES_ALL = """\
import pathlib, re

plan = pathlib.Path("fix_plan.md")
prompt = open(0)
asked = re.sub(r"[*`]", "", re.search(r"\\n> (.*)\\n", prompt.read())[1])[:30]
lines = plan.read_text().split("\\n")
number = next(n for n, line in enumerate(lines) if re.sub(r"[*`]", "", line)[6:36] == asked)
lines[number] = lines[number].replace("[ ]", "[x]", 1)
plan.write_text("\\n".join(lines))
pathlib.Path(f"{number}.txt").write_text("x\\n")
"""


def test_items_in_any_words(jobs: Jobs) -> None:
    jobs.plan(*ODD)
    script = jobs.world.root / "client.py"
    script.write_text(DOES_ALL)
    answer = jobs.run("--jobs", "3", "--client-command", f"{sys.executable} -S {script}")

    assert answer.code == 0, answer
    done_items = jobs.subjects(jobs.run_branch)[2:]
    short = [item if len(item) < 72 else "total…" for item in ODD]
    assert sorted(done_items) == sorted(short)
    assert not (jobs.world.project.parent / "pwned").exists()
