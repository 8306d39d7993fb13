"""`sisyphus ralph run --commit`: each item that is done and passed its checks is one commit."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from test_run import ALL, PLAN, Process, Runs, done, runs
from world import Reply, World

from sisyphus.runner import asides, commits

__all__ = ["runs"]

TRUST = "--trust-checks"


class Nights(Runs):
    """Runs in a real repository whose user git knows."""

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.git()
        self.commit("config", "user.name", "Ada")
        self.commit("config", "user.email", "ada@example.org")

    def ask(self, *words: str) -> str:
        """Returns what git prints."""
        command = ["git", "-c", "i18n.logOutputEncoding=utf-8", *words]
        done = subprocess.run(
            command, cwd=self.world.project, capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    def subjects(self, of: str = "HEAD") -> list[str]:
        """The subjects of the commits, the oldest first."""
        return self.ask("log", "--reverse", "--format=%s", of).splitlines()

    @property
    def branch(self) -> str:
        """The one that is checked out."""
        return self.ask("symbolic-ref", "--short", "HEAD")

    def dirt(self) -> str:
        return self.ask("status", "--porcelain")

    def night(self, *words: str, processes: list[Process]) -> Reply:
        return self.run("--commit", *words, processes=processes)

    def hook(self, name: str, script: str) -> None:
        """Writes a hook of git."""
        file = self.world.project / ".git" / "hooks" / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(f"#!/bin/sh\n{script}\n")
        file.chmod(0o755)

    def plan(self, *lines: str) -> None:
        """Writes another plan, and commits it."""
        self.world.write("fix_plan.md", "# Shop\n\n" + "".join(f"- [ ] {each}\n" for each in lines))
        self.commit("commit", "-qam", "plan")


@pytest.fixture
def nights(world: World) -> Nights:
    world.write("fix_plan.md", PLAN)
    return Nights(world)


# ---------------------------------------------------------------- a commit an item


def test_each_item_is_a_commit_of_its_user(nights: Nights) -> None:
    answer = nights.night(processes=[done("cart", "The cart is there."), *ALL[1:]])

    assert answer.code == 0, answer
    assert nights.subjects() == ["first", "cart", "total", "receipt"]
    assert nights.dirt() == ""
    assert nights.ask("show", "--format=%an <%ae>|%cn", "--no-patch", "HEAD~2") == (
        "Ada <ada@example.org>|Ada"
    )
    names = nights.ask("show", "--format=", "--name-only", "HEAD~2").splitlines()
    assert names == ["cart.py", "fix_plan.md"]
    assert "- [x] cart\n- [ ] total" in nights.ask("show", "HEAD~2:fix_plan.md")
    assert nights.ask("show", "--format=%B", "--no-patch", "HEAD~2") == (
        f"cart\n\nThe cart is there.\n\nSisyphus-Run: {nights.id}"
    )
    commit = nights.ask("rev-parse", "HEAD~2")
    assert f"✓ cart · changed · {commit[:7]} · " in answer.out
    assert "The run commits your work when the item is done." in nights.prompts[0]


def test_a_run_without_the_option_commits_nothing(nights: Nights) -> None:
    assert nights.run(processes=ALL).code == 0
    assert nights.subjects() == ["first"]


def test_the_check_that_passed_stands_in_the_commit(nights: Nights) -> None:
    nights.plan("cart (verify: `test -f cart.py`)", "total")
    answer = nights.night(TRUST, processes=[done("cart"), done("total")])

    assert answer.code == 0, answer
    text = nights.ask("show", "--format=%(trailers)", "--no-patch", "HEAD~1")
    assert text == f"Sisyphus-Run: {nights.id}\nSisyphus-Check: test -f cart.py (exit 0)"
    assert "Sisyphus-Check" not in nights.ask("show", "--format=%B", "--no-patch", "HEAD")


def test_an_item_whose_check_fails_is_not_committed(nights: Nights) -> None:
    nights.plan("cart (verify: `grep -q 2 cart.py`)", "total")
    mended: Process = [["write", ["cart.py", "cart = 2\n"]], ["say", "Mended."]]
    answer = nights.night(TRUST, processes=[done("cart"), mended, done("total")])

    assert answer.code == 0, answer
    assert nights.subjects() == ["first", "plan", "cart", "total"]
    assert nights.ask("show", "HEAD~1:cart.py") == "cart = 2"


def test_several_items_of_one_iteration_are_one_commit(nights: Nights) -> None:
    both: Process = [*done("cart"), *done("total")]
    answer = nights.night(processes=[both, done("receipt")])

    assert answer.code == 0, answer
    assert nights.subjects() == ["first", "cart; total", "receipt"]
    assert "- cart\n- total\n" in nights.ask("show", "--format=%B", "--no-patch", "HEAD~1")


def test_half_work_is_in_the_commit_of_its_item(nights: Nights) -> None:
    half: Process = [["write", ["cart.py", "half\n"]], ["say", "Half."]]
    end: Process = [["write", ["more.py", "1\n"]], ["tick", "cart"], ["say", "Done."]]
    answer = nights.night(processes=[half, end, *ALL[1:]])

    assert answer.code == 0, answer
    names = nights.ask("show", "--format=", "--name-only", "HEAD~2").splitlines()
    assert names == ["cart.py", "fix_plan.md", "more.py"]


def test_commits_of_the_agent_are_kept(nights: Nights) -> None:
    own: Process = [
        ["write", ["cart.py", "1\n"]],
        ["run", "git add cart.py && git commit -qm 'feat: cart'"],
        ["tick", "cart"],
        ["say", "Committed."],
    ]
    answer = nights.night(processes=[own, *ALL[1:]])

    assert answer.code == 0, answer
    assert nights.subjects() == ["first", "feat: cart", "cart", "total", "receipt"]


def test_an_agent_that_commits_all_leaves_nothing_to_commit(nights: Nights) -> None:
    own: Process = [*done("cart"), ["run", "git add -A && git commit -qm 'feat: cart'"]]
    answer = nights.night(processes=[own, *ALL[1:]])

    assert answer.code == 0, answer
    assert nights.subjects() == ["first", "feat: cart", "total", "receipt"]


def test_open_edits_of_the_plan_are_the_first_commit(nights: Nights) -> None:
    nights.world.write("fix_plan.md", PLAN + "- [ ] coupon\n")
    answer = nights.night(processes=[*ALL, done("coupon")])

    assert answer.code == 0, answer
    assert nights.subjects()[1] == f"Plan of run {nights.id}"
    assert nights.ask("show", "--format=", "--name-only", "HEAD~4") == "fix_plan.md"
    assert "Committed fix_plan.md, which had open edits, to " in answer.out


def test_a_plan_that_git_does_not_know_is_the_first_commit(nights: Nights) -> None:
    nights.commit("rm", "-q", "--cached", "fix_plan.md")
    nights.commit("commit", "-qm", "no plan")
    assert nights.night(processes=ALL).code == 0
    assert nights.subjects()[2:] == [f"Plan of run {nights.id}", "cart", "total", "receipt"]


def test_a_plan_that_git_ignores_is_in_no_commit(nights: Nights) -> None:
    nights.commit("rm", "-q", "--cached", "fix_plan.md")
    nights.world.write(".gitignore", "fix_plan.md\n")
    nights.commit("add", "-A")
    nights.commit("commit", "-qm", "no plan")
    answer = nights.night(processes=ALL)
    assert answer.code == 0, answer
    assert nights.subjects()[2:] == ["cart", "total", "receipt"]
    assert nights.ask("show", "--format=", "--name-only", "HEAD") == "receipt.py"


def test_a_repository_without_commits(nights: Nights) -> None:
    nights.git()
    nights.commit("update-ref", "-d", "HEAD")
    nights.commit("rm", "-rq", "--cached", ".")
    for file in nights.world.project.iterdir():
        if file.is_file() and file.name != "fix_plan.md":
            file.unlink()
    nights.world.write(".git/info/exclude", "*\n!fix_plan.md\n!*.py\n")
    nights.commit("config", "user.name", "Ada")
    nights.commit("config", "user.email", "ada@example.org")

    answer = nights.night(processes=ALL)

    assert answer.code == 0, answer
    assert nights.subjects() == [f"Plan of run {nights.id}", "cart", "total", "receipt"]


def test_what_git_ignores_and_what_is_ours_stays_out(nights: Nights) -> None:
    nights.world.write(".gitignore", "*.log\n")
    nights.commit("add", "-A")
    nights.commit("commit", "-qm", "ignore")
    first: Process = [["write", ["a.log", "1\n"]], *done("cart")]
    assert nights.night(processes=[first, *ALL[1:]]).code == 0

    files = nights.ask("ls-files").splitlines()
    assert "a.log" not in files
    assert not [each for each in files if each.startswith(".claude/")]
    assert (nights.world.project / "a.log").exists()


# ---------------------------------------------------------------- the run's own check


def test_the_check_of_the_run_is_asked_before_each_commit(nights: Nights) -> None:
    check = "! grep -rq broken *.py"
    breaks: Process = [["write", ["total.py", "broken\n"]], ["tick", "total"], ["say", "Done."]]
    mended: Process = [["write", ["total.py", "total = 1\n"]], ["say", "Mended."]]
    answer = nights.night(
        "--verify", check, processes=[done("cart"), breaks, mended, done("receipt")]
    )

    assert answer.code == 0, answer
    assert nights.subjects() == ["first", "cart", "total", "receipt"]
    assert "+broken" not in nights.ask("log", "-p", "--", "total.py")
    assert f"Sisyphus-Check: {check} (exit 0)" in nights.ask("show", "--no-patch", "HEAD")


def test_the_check_of_the_run_at_the_end_alone(nights: Nights) -> None:
    answer = nights.night("--verify", "test -f receipt.py", "--verify-at-end", processes=ALL)
    assert answer.code == 0, answer
    assert nights.subjects() == ["first", "cart", "total", "receipt"]


def test_work_that_makes_the_check_pass_is_a_commit_too(nights: Nights) -> None:
    mends: Process = [["write", ["all.py", "1\n"]], ["say", "Mended."]]
    answer = nights.night("--verify", "test -f all.py", "--verify-at-end", processes=[*ALL, mends])
    assert answer.code == 0, answer
    assert nights.subjects() == ["first", "cart", "total", "receipt", "Make the check pass"]
    assert nights.dirt() == ""


def test_a_run_without_items_is_one_commit(nights: Nights) -> None:
    nights.commit("rm", "-q", "fix_plan.md")
    nights.commit("commit", "-qm", "no plan")
    half: Process = [["write", ["a.py", "1\n"]], ["say", "Half."]]
    whole: Process = [["write", ["b.py", "1\n"]], ["say", "<promise>MOVED</promise>"]]
    answer = nights.night(
        "--completion-promise", "MOVED", "--", "Move the tests", processes=[half, whole]
    )
    assert answer.code == 0, answer
    assert nights.subjects() == ["first", "no plan", "Move the tests"]
    assert nights.dirt() == ""


# ---------------------------------------------------------------- git refuses


def test_a_hook_that_refuses_gives_the_item_again(nights: Nights) -> None:
    nights.hook("pre-commit", 'test ! -e cart.py || grep -q 2 cart.py || { echo "no 2"; exit 1; }')
    mended: Process = [["write", ["cart.py", "2\n"]], ["say", "Mended."]]
    answer = nights.night(processes=[done("cart"), mended, *ALL[1:]])

    assert answer.code == 0, answer
    assert nights.subjects() == ["first", "cart", "total", "receipt"]
    assert nights.items == ["cart", "cart", "total", "receipt"]
    assert (
        "The box is ticked, and the run could not commit the work: `git commit` exited 1."
        in (nights.prompts[1])
    )
    assert "no 2" in nights.prompts[1]
    assert "Mend what git says" in nights.prompts[1]
    assert "✗ cart · failed" in answer.out


def test_a_hook_that_refuses_twice_stops_the_run(nights: Nights) -> None:
    nights.hook("commit-msg", 'echo "subject needs a type: feat, fix"; exit 1')
    again: Process = [["say", "It is right."]]
    answer = nights.night(processes=[done("cart"), again])

    assert answer.code == 1, answer
    assert "for the second time in a row, `git commit` exited 1" in answer.out
    assert "subject needs a type" in answer.out
    assert nights.subjects() == ["first"]
    assert (nights.world.project / "cart.py").exists()

    own: Process = [
        ["run", "git add -A && git commit --no-verify -qm 'feat: cart'"],
        ["say", "Ok."],
    ]
    nights.hook("commit-msg", "exit 0")
    assert nights.resume(processes=[own, *ALL[1:]]).code == 0
    assert nights.subjects() == ["first", "feat: cart", "total", "receipt"]


def test_a_hook_that_formats_files_needs_no_second_iteration(nights: Nights) -> None:
    nights.plan("cart (verify: `test -f cart.py`)", "total")
    nights.hook(
        "pre-commit",
        "for each in *.py; do\n"
        "  grep -q formatted $each || { echo '# formatted' >> $each; changed=1; }\n"
        'done\ntest -z "$changed"',
    )
    answer = nights.night(TRUST, processes=[done("cart"), done("total")])

    assert answer.code == 0, answer
    assert nights.subjects() == ["first", "plan", "cart", "total"]
    assert "formatted" in nights.ask("show", "HEAD~1:cart.py")
    assert nights.dirt() == ""


def test_what_a_hook_makes_of_the_files_is_checked_again(nights: Nights) -> None:
    nights.hook("pre-commit", "grep -q 1 cart.py || exit 0; echo 2 > cart.py; exit 1")
    nights.plan("cart (verify: `grep 1 cart.py`)")
    mended: Process = [["run", "rm .git/hooks/pre-commit"], *done("cart")[:1], ["say", "Now."]]
    answer = nights.night(TRUST, processes=[done("cart"), mended])

    assert answer.code == 0, answer
    assert "its check fails: `grep 1 cart.py` exited 1" in nights.prompts[1]
    assert nights.ask("show", "HEAD:cart.py") == "cart = 1"


def test_a_hook_that_hangs_is_ended(nights: Nights) -> None:
    (nights.world.ours / "config.toml").write_text(
        "[runner]\nretry_seconds = 0\n[ralph]\nverify_seconds = 1\n"
    )
    nights.hook("pre-commit", "read answer < /dev/tty; sleep 30; exit 1")
    answer = nights.night(processes=[done("cart"), [["say", "I cannot."]]])
    assert answer.code == 1, answer
    assert "`git commit` did not finish within 1 s" in answer.out


def test_a_signature_that_cannot_be_made(nights: Nights) -> None:
    nights.commit("config", "commit.gpgSign", "true")
    nights.commit("config", "gpg.program", shutil.which("false") or "")
    answer = nights.night(processes=[done("cart"), [["say", "I cannot."]]])
    assert answer.code == 1, answer
    assert "gpg" in answer.out
    assert nights.subjects() == ["first"]


def test_settings_of_git_that_change_messages(nights: Nights, tmp_path: Path) -> None:
    template = tmp_path / "template"
    template.write_text("# Why?\n")
    nights.commit("config", "commit.template", str(template))
    nights.commit("config", "commit.verbose", "true")
    nights.commit("config", "core.autocrlf", "true")
    nights.commit("config", "core.commentChar", "c")
    nights.commit("config", "commit.cleanup", "scissors")
    nights.commit("config", "i18n.commitEncoding", "latin-1")
    nights.plan("cärt", "# total")
    tick: Process = [["write", ["a.py", "1\n"]], ["tick", "# total"], ["say", "# One\n# Two"]]
    answer = nights.night(
        processes=[[["write", ["b.py", "1\n"]], ["tick", "cärt"], ["say", "ä"]], tick]
    )

    assert answer.code == 0, answer
    assert nights.subjects()[2:] == ["cärt", "# total"]
    assert "# One\n# Two\n" in nights.ask("show", "--format=%B", "--no-patch", "HEAD")


# ---------------------------------------------------------------- an agent that goes astray


def test_an_agent_that_makes_a_branch(nights: Nights) -> None:
    branch = nights.branch
    own: Process = [
        ["run", "git switch -qc feature"],
        *done("cart"),
        ["run", "git add cart.py && git commit -qm mine"],
    ]
    answer = nights.night(processes=[own, *ALL[1:]])

    assert answer.code == 0, answer
    assert nights.branch == branch
    assert nights.subjects() == ["first", "mine", "cart", "total", "receipt"]
    assert nights.subjects("feature") == ["first", "mine"]


def test_an_agent_that_takes_commits_back(nights: Nights) -> None:
    astray: Process = [["run", "git reset -q --hard HEAD~1"], *done("total")]
    answer = nights.night(processes=[done("cart"), astray, *ALL[1:]])

    assert answer.code == 0, answer
    assert "had lost the commit" in nights.prompts[2]
    assert f"Your work is on the branch sisyphus/{nights.id}-total." in nights.prompts[2]
    assert nights.items == ["cart", "total", "total", "receipt"]
    aside = f"sisyphus/{nights.id}-total"
    assert (
        f"- Set aside: total (`git diff {nights.branch}...{aside}` shows its half work)\n"
        in answer.out
    )
    assert "Look at 1 point below" in answer.out
    assert nights.subjects() == ["first", "cart", "total", "receipt"]
    assert nights.dirt() == ""


def test_an_agent_that_changes_the_last_commit(nights: Nights) -> None:
    amends: Process = [*done("total"), ["run", "git add -A; git commit -q --amend --no-edit"]]
    answer = nights.night(processes=[done("cart"), amends, *ALL[1:]])

    assert answer.code == 0, answer
    assert nights.subjects() == ["first", "cart", "total", "receipt"]
    assert nights.ask("show", "--format=", "--name-only", "HEAD~2").splitlines() == [
        "cart.py",
        "fix_plan.md",
    ]


def test_an_agent_on_another_branch(nights: Nights) -> None:
    branch = nights.branch
    nights.commit("branch", "old")
    nights.world.write("more.py", "1\n")
    nights.commit("add", "-A")
    nights.commit("commit", "-qm", "second")
    astray: Process = [["run", "git switch -q old"], *done("cart")]
    answer = nights.night(processes=[astray, *ALL])

    assert answer.code == 0, answer
    assert f"HEAD was not on {branch} any more" in nights.prompts[1]
    assert nights.subjects() == ["first", "second", "cart", "total", "receipt"]
    assert nights.subjects("old") == ["first"]
    aside = f"sisyphus/{nights.id}-cart"
    assert nights.subjects(aside) == ["first", "Half work: cart"]
    assert nights.ask("show", f"{aside}:cart.py") == "cart = 1"


def test_an_agent_that_goes_astray_twice_stops_the_run(nights: Nights) -> None:
    nights.commit("branch", "old")
    nights.plan("cart", "total")
    astray: Process = [["run", "git switch -q old"], ["write", ["cart.py", "1\n"]]]
    answer = nights.night(processes=[astray, [*astray, ["write", ["b.py", "1\n"]]]])
    assert answer.code == 1, answer
    assert "for the second time in a row, `git commit`" in answer.out
    assert nights.subjects() == ["first", "plan"]
    assert nights.dirt() == ""
    assert nights.ask("show", f"sisyphus/{nights.id}-cart-2:b.py") == "1"


# ---------------------------------------------------------------- what is set aside

BLOCKED: Process = [["write", ["total.py", "half\n"]], ["say", "<blocked>the rate</blocked>"]]


def test_half_work_of_a_blocked_item_is_on_a_branch(nights: Nights) -> None:
    answer = nights.night(processes=[done("cart"), BLOCKED, done("receipt")])

    assert answer.code == 4, answer
    assert nights.subjects() == ["first", "cart", "receipt"]
    assert nights.dirt() == ""
    aside = f"sisyphus/{nights.id}-total"
    assert nights.subjects(aside) == ["first", "cart", "Half work: total"]
    assert nights.ask("show", f"{aside}:total.py") == "half"
    assert not (nights.world.project / "total.py").exists()
    assert (
        f"- Blocked: total: the rate (`git diff {nights.branch}...{aside}` shows its half work)\n"
        in answer.out
    )

    again = nights.resume(processes=[done("total")])
    assert again.code == 0, again
    assert nights.subjects() == ["first", "cart", "receipt", "total"]
    assert f"`git diff {nights.branch}...{aside}` shows an earlier attempt" in nights.prompts[3]


def test_an_item_whose_check_fails_three_times_is_on_a_branch(nights: Nights) -> None:
    nights.plan("cart (verify: `grep -q 2 cart.py`)", "total")
    right: Process = [["say", "It is right."]]
    answer = nights.night(TRUST, processes=[done("cart"), right, right, done("total")])

    assert answer.code == 4, answer
    assert nights.subjects() == ["first", "plan", "total"]
    assert nights.ask("show", f"sisyphus/{nights.id}-cart:cart.py") == "cart = 1"
    assert "- [ ] cart" in nights.ask("show", "HEAD:fix_plan.md")
    assert nights.dirt() == ""
    assert "Blocked: cart: its check fails" in answer.out

    mended: Process = [["write", ["cart.py", "cart = 2\n"]], ["tick", "cart"], ["say", "Now."]]
    again = nights.resume(processes=[mended])
    assert again.code == 0, again
    assert nights.subjects() == ["first", "plan", "total", "cart"]


def test_an_item_that_is_stuck_is_on_a_branch(nights: Nights) -> None:
    half: Process = [["write", ["cart.py", "half\n"]], ["say", "Half."]]
    idle: Process = [["say", "I think."]]
    answer = nights.night(processes=[half, *[idle] * 9])
    assert answer.code == 3, answer
    assert "is stuck" in answer.out
    assert nights.dirt() == ""
    assert nights.ask("show", f"sisyphus/{nights.id}-cart:cart.py") == "half"
    assert f"sisyphus/{nights.id}-cart" in answer.out


def test_commits_of_an_agent_that_is_blocked_are_on_its_branch(nights: Nights) -> None:
    own: Process = [
        ["write", ["cart.py", "1\n"]],
        ["run", "git add cart.py && git commit -qm mine"],
        ["write", ["more.py", "1\n"]],
        ["say", "<blocked>the rate</blocked>"],
    ]
    answer = nights.night(processes=[own, *ALL[1:]])
    assert answer.code == 4, answer
    assert nights.subjects() == ["first", "total", "receipt"]
    assert nights.subjects(f"sisyphus/{nights.id}-cart") == ["first", "mine", "Half work: cart"]


def test_a_blocked_item_without_any_work_needs_no_branch(nights: Nights) -> None:
    answer = nights.night(processes=[[["say", "<blocked>the rate</blocked>"]], *ALL[1:]])
    assert answer.code == 4, answer
    assert "sisyphus/" not in nights.ask("branch")


def test_items_that_were_added_stay_in_the_plan(nights: Nights) -> None:
    more = PLAN.replace(
        "- [ ] cart\n", "- [ ] cart\n  - [x] ask\n- [ ] coupon\n  the user's words\n"
    )
    works: Process = [
        ["write", ["fix_plan.md", more]],
        ["write", ["cart.py", "half\n"]],
        ["say", "<blocked>the rate</blocked>"],
    ]
    answer = nights.night(processes=[works, done("coupon"), *ALL[1:]])
    assert answer.code == 4, answer
    assert nights.subjects() == ["first", "coupon", "total", "receipt"]
    assert "  - [ ] ask\n- [x] coupon\n  the user's words\n" in nights.ask(
        "show", "HEAD:fix_plan.md"
    )


def test_what_git_ignores_stays_when_work_is_set_aside(nights: Nights) -> None:
    nights.world.write("secret.txt", "old\n")
    nights.world.write(".gitignore", "*.log\n")
    nights.commit("add", "-A")
    nights.commit("commit", "-qm", "more")
    works: Process = [
        ["write", ["build.log", "1\n"]],
        ["write", ["secret.txt", "new\n"]],
        ["write", [".gitignore", "*.log\nsecret.txt\n"]],
        ["run", "git rm -q --cached secret.txt"],
        ["say", "<blocked>the rate</blocked>"],
    ]
    answer = nights.night(processes=[works, *ALL[1:]])
    assert answer.code == 4, answer
    assert (nights.world.project / "build.log").exists()
    assert (nights.world.project / "secret.txt").read_text() == "old\n"
    assert nights.ask("show", f"sisyphus/{nights.id}-cart:secret.txt") == "new"


@pytest.mark.parametrize(
    ("text", "base", "expected"),
    [
        ("- [x] a\n- [ ] b\n", "- [ ] a\n- [ ] b\n", "- [ ] a\n- [ ] b\n"),
        ("- [ ] a\n", "- [x] a\n", "- [x] a\n"),
        ("- [x] a\n- [X] new\n", "- [X] a\n", "- [X] a\n- [ ] new\n"),
        ("- [!] a\n- [x] b\n", "- [ ] a\n- [x] b\n", "- [!] a\n- [x] b\n"),
        ("1. [x] a\r\n  - [x] step\r\n", "1. [ ] a\r\n", "1. [ ] a\r\n  - [ ] step\r\n"),
        ("- [x] a\n- [x] a\n", "- [x] a\n- [ ] a\n", "- [x] a\n- [ ] a\n"),
        ("words [x] and\n- [x] a", "", "words [x] and\n- [ ] a"),
        ("- [] a\n", "- [ ] a\n", "- [ ] a\n"),
        ("```\n- [x] code\n```\n- [x] a\n", "- [ ] a\n", "```\n- [x] code\n```\n- [ ] a\n"),
    ],
)
def test_a_plan_sets_aside_in_its_ticks_alone(text: str, base: str, expected: str) -> None:
    assert asides.with_ticks_of(text, base) == expected


def test_names_of_branches(nights: Nights) -> None:
    item = "../x Ünï -- 'quote' $(rm) and many more words than fit into a name"
    nights.plan(item)
    works: Process = [["write", ["a.py", "1\n"]], ["say", "<blocked>the rate</blocked>"]]
    assert nights.night(processes=[works]).code == 4
    branch = nights.ask("branch", "--format=%(refname:short)", "--list", "sisyphus/*")
    assert branch == f"sisyphus/{nights.id}-x-n-quote-rm-and-many-more-words-than"

    again: Process = [["write", ["b.py", "1\n"]], ["say", "<blocked>the rate</blocked>"]]
    assert nights.resume(processes=[again]).code == 4
    branches = nights.ask("branch", "--format=%(refname:short)", "--list", "sisyphus/*")
    assert branches.splitlines() == [branch, f"{branch}-2"]


# ---------------------------------------------------------------- before it starts


def refusal(nights: Nights, *words: str) -> str:
    answer = nights.night(*words, processes=ALL)
    assert answer.code in (1, 2), answer
    assert not nights.calls
    return " ".join(answer.err.split())


def test_what_is_not_committed_is_refused(nights: Nights) -> None:
    nights.world.write("draft.py", "1\n")
    text = refusal(nights)
    assert "draft.py" in text
    assert "--allow-dirty" not in text
    assert "--commit and --allow-dirty do not go together" in refusal(nights, "--allow-dirty")


def test_a_folder_without_git_is_refused(nights: Nights) -> None:
    os.rename(nights.world.project / ".git", nights.world.root / "git")
    (nights.world.project / ".git").mkdir()
    assert "--commit needs a git repository" in refusal(nights)


def test_a_detached_head_is_refused(nights: Nights) -> None:
    nights.commit("checkout", "-q", "--detach")
    assert "HEAD is on no branch" in refusal(nights)


def test_an_unfinished_merge_is_refused(nights: Nights) -> None:
    nights.world.write(".git/MERGE_HEAD", nights.ask("rev-parse", "HEAD") + "\n")
    assert "`git merge` is not finished" in refusal(nights)


def test_a_lock_of_another_git_is_refused(nights: Nights) -> None:
    nights.world.write(".git/index.lock", "")
    assert "index.lock" in refusal(nights)


def test_a_user_without_a_name_is_refused(nights: Nights) -> None:
    nights.commit("config", "--unset", "user.email")
    nights.commit("config", "user.useConfigOnly", "true")
    text = refusal(nights)
    assert "git does not know who commits" in text
    assert "user.email" in text


def test_a_check_at_the_end_without_commits_is_refused(nights: Nights) -> None:
    answer = nights.run("--verify-at-end", "--verify", "true", processes=ALL)
    assert answer.code == 2
    assert "--verify-at-end needs --commit" in answer.err


# ---------------------------------------------------------------- again


def test_a_resumed_run_goes_on_committing(nights: Nights) -> None:
    first = nights.night("--max-iterations", "1", processes=[done("cart")])
    assert first.code == 3, first
    nights.world.write("mine.py", "1\n")
    nights.commit("add", "-A")
    nights.commit("commit", "-qm", "of the user")
    answer = nights.resume("--max-iterations", "9", processes=ALL[1:])

    assert answer.code == 0, answer
    assert nights.subjects() == ["first", "cart", "of the user", "total", "receipt"]


def test_a_run_is_not_resumed_on_another_branch(nights: Nights) -> None:
    nights.night("--max-iterations", "1", processes=[done("cart")])
    nights.commit("switch", "-qc", "other")
    answer = nights.resume("--max-iterations", "9", processes=ALL[1:])
    assert answer.code == 1
    assert "HEAD is on other" in answer.err


def test_a_run_can_begin_to_commit_when_it_is_resumed(nights: Nights) -> None:
    assert nights.run("--max-iterations", "1", processes=[done("cart")]).code == 3
    refused = nights.resume("--commit", "--max-iterations", "9", processes=ALL[1:])
    assert "cart.py" in refused.err
    nights.commit("add", "-A")
    nights.commit("commit", "-qm", "by hand")
    answer = nights.resume("--commit", "--max-iterations", "9", processes=ALL[1:])
    assert answer.code == 0, answer
    assert nights.subjects() == ["first", "by hand", "total", "receipt"]


# ---------------------------------------------------------------- the message


@pytest.mark.parametrize(
    ("text", "limit", "cut"),
    [
        ("Store the cart", 72, "Store the cart"),
        ("Store the cart", 14, "Store the cart"),
        ("Store the cart", 13, "Store the…"),
        ("Store the, cart", 13, "Store the…"),
        ("Storethecart", 6, "Store…"),
        ("a b", 2, "a…"),
    ],
)
def test_a_subject_is_cut_on_a_word(text: str, limit: int, cut: str) -> None:
    assert commits.cut_on_word(text, limit) == cut
    assert len(cut) <= limit


def test_a_long_item_stands_whole_in_the_body(nights: Nights) -> None:
    item = 'Store "it" -- ' + "and then " * 20 + "end"
    nights.plan(item)
    tick: Process = [["write", ["a.py", "1\n"]], ["tick", item], ["say", "\n".join("abcdefghijkl")]]
    answer = nights.night(processes=[tick])

    assert answer.code == 0, answer
    subject, _, body = nights.ask("show", "--format=%B", "--no-patch", "HEAD").partition("\n")
    assert subject.startswith('Store "it" -- and then')
    assert len(subject) <= 72
    assert f"- {item}\n" in body
    assert "\nj\n" in body
    assert "\nk\n" not in body


def test_secrets_are_masked_in_a_message(nights: Nights) -> None:
    said = "The key is ghp_abcdefghijklmnop1234567890 in .env."
    assert nights.night(processes=[done("cart", said), *ALL[1:]]).code == 0
    text = nights.ask("show", "--format=%B", "--no-patch", "HEAD~2")
    assert "ghp_…" in text
    assert "1234567890" not in text
