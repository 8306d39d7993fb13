"""`sisyphus ralph run --commit` where an agent, a hook or a setting of git does what nobody
expects: nothing is lost, and what is ticked is committed."""

from __future__ import annotations

import os
import signal

import pytest
from patience import PATIENCE, wait_for
from test_run import ALL, Process, done, runs
from test_run_commits import TRUST, Nights, nights

__all__ = ["nights", "runs"]

BLOCKED = ["say", "<blocked>the rate</blocked>"]
AGAIN: Process = [["say", "It is right."]]


def half(*steps: list[object]) -> Process:
    """A process that does half of the total, and then needs its user."""
    return [["write", ["total.py", "half\n"]], *steps, BLOCKED]


def everything(nights: Nights) -> str:
    """What all branches have ever had."""
    return nights.ask("log", "--all", "-m", "-p", "--text", "--format=%s")


def opened(item: str) -> list[object]:
    """A step that opens an item again."""
    return ["run", f"sed -i.old 's/\\[x\\] {item}/[ ] {item}/' fix_plan.md && rm fix_plan.md.old"]


# ---------------------------------------------------------------- nothing is lost


@pytest.mark.parametrize(
    "leave",
    [
        "git switch -q --detach HEAD~2",
        "git switch -q --detach HEAD~1",
        "git switch -q --orphan fresh",
        "git bisect start; git bisect bad; git bisect good HEAD~2",
    ],
)
def test_commits_that_an_agent_has_left_are_kept(nights: Nights, leave: str) -> None:
    branch = nights.ask("symbolic-ref", "--short", "HEAD")
    works = half(["run", f"git add -A; git commit -qm mine; {leave}"])
    answer = nights.night(processes=[done("cart"), works, done("receipt")])

    assert answer.code == 4, answer
    assert "half" in everything(nights)
    assert nights.ask("symbolic-ref", "--short", "HEAD") == branch
    assert nights.subjects() == ["first", "cart", "receipt"]
    assert nights.dirt() == ""


def test_a_rebase_that_is_not_finished(nights: Nights) -> None:
    stops = (
        "git add -A; git commit -qm one; echo two > two.py; git add -A; git commit -qm two; "
        "GIT_SEQUENCE_EDITOR='sed -i.old 1s/pick/edit/' git rebase -i HEAD~2"
    )
    answer = nights.night(processes=[done("cart"), half(["run", stops]), done("receipt")])

    assert answer.code == 4, answer
    assert "+two" in everything(nights)
    assert nights.subjects() == ["first", "cart", "receipt"]
    again = nights.resume(processes=[done("total")])
    assert again.code == 0, again
    assert nights.subjects() == ["first", "cart", "receipt", "total"]


def test_a_rebase_under_way_is_in_no_commit(nights: Nights) -> None:
    nights.commit("branch", "side")
    stops = (
        "git switch -qc mine; git commit -q --allow-empty -m mine; git rebase -q -x false HEAD~1"
    )
    begins: Process = [*done("total"), ["run", f"git add -A; git commit -qm total; {stops}"]]
    ends: Process = [["run", "git rebase --quit; git switch -q mine"], ["say", "It is over."]]
    answer = nights.night(processes=[done("cart"), begins, ends, done("receipt")])

    assert answer.code == 0, answer
    assert "a `git rebase` is not finished" in nights.prompts[2]


@pytest.mark.parametrize("flag", ["--assume-unchanged", "--skip-worktree"])
def test_what_its_user_hides_from_git_stays(nights: Nights, flag: str) -> None:
    nights.world.write("local.ini", "theirs\n")
    nights.commit("add", "-A")
    nights.commit("commit", "-qm", "local")
    nights.commit("update-index", flag, "local.ini")
    mine = nights.world.write("local.ini", "mine\n")
    answer = nights.night(processes=[done("cart"), half(), done("receipt")])

    assert answer.code == 4, answer
    assert mine.read_text() == "mine\n"
    assert not (nights.world.project / "total.py").exists()


@pytest.mark.parametrize(
    "replaces",
    [
        "git rm -q cart.py; mkdir cart.py; echo precious > cart.py/a.log",
        "git rm -rq lib; echo precious > lib",
    ],
)
def test_ignored_files_where_files_of_git_were(nights: Nights, replaces: str) -> None:
    nights.world.write("lib/a.py", "1\n")
    nights.world.write(".gitignore", "*.log\n/lib\n")
    nights.commit("add", "-Af")
    nights.commit("reset", "-q", "--", ".claude")
    nights.commit("commit", "-qm", "lib")
    works = half(["run", replaces])
    answer = nights.night(processes=[done("cart"), works, done("receipt")])

    assert answer.code == 4, answer
    assert "+precious" in everything(nights)
    assert (nights.world.project / "cart.py").is_file()
    assert (nights.world.project / "lib" / "a.py").is_file()


def test_the_users_own_files_of_our_names(nights: Nights) -> None:
    nights.world.write(".claude/progress.txt", "mine\n")
    nights.world.write(".claude/handoffs/old.md", "old\n")
    nights.commit("add", "-Af", ".claude")
    nights.commit("commit", "-qm", "own")
    works = half(
        ["write", [".claude/progress.txt", "mine\nlearned\n"]],
        ["write", [".claude/handoffs/old.md", "newer\n"]],
    )
    answer = nights.night(processes=[done("cart"), works, done("receipt")])

    assert answer.code == 4, answer
    assert "+learned" in everything(nights)
    assert "+newer" in everything(nights)


def test_thousands_of_files_that_git_is_to_forget(nights: Nights) -> None:
    folder = nights.world.project / "modules"
    folder.mkdir()
    for number in range(6_000):
        (folder / f"{number:05d}{'n' * 200}").touch()
    nights.commit("add", "-A")
    nights.commit("commit", "-qm", "modules")
    forgets = (
        "echo /modules/ > .gitignore; git rm -rq --cached modules; "
        "for each in modules/00000*; do echo changed > $each; done"
    )
    answer = nights.night(processes=[done("cart"), half(["run", forgets]), done("receipt")])

    assert answer.code == 4, answer
    assert "+changed" in everything(nights)
    assert nights.dirt() == ""


def test_a_second_try_without_any_work_names_the_branch_of_the_first(nights: Nights) -> None:
    answer = nights.night(processes=[done("cart"), half(), done("receipt")])
    aside = f"sisyphus/{nights.id}-total"
    assert f"`git diff {nights.branch}...{aside}`" in answer.out

    nights.world.write("fix_plan.md", nights.ask("show", "HEAD:fix_plan.md") + "\n- [!] coupon\n")
    nights.commit("commit", "-qam", "of the user")
    again = nights.resume(processes=[[BLOCKED]])
    assert again.code == 4, again
    assert f"`git diff {nights.branch}...{aside}`" in again.out
    assert nights.subjects()[-1] == "of the user"
    assert nights.dirt() == ""


def test_changes_in_a_submodule_are_left_alone(nights: Nights) -> None:
    nights.commit("clone", "-q", ".", str(nights.world.root / "other"))
    allowed = ("-c", "protocol.file.allow=always")
    nights.commit(*allowed, "submodule", "add", "-q", str(nights.world.root / "other"), "sub")
    nights.commit("commit", "-qm", "sub")
    nights.commit("config", "submodule.recurse", "true")
    works = half(["run", "echo more >> sub/fix_plan.md"])
    answer = nights.night(processes=[done("cart"), works, done("receipt")])

    assert answer.code == 4, answer
    assert (nights.world.project / "sub" / "fix_plan.md").read_text().endswith("more\n")


# ---------------------------------------------------------------- the plan


def test_a_plan_that_became_a_link(nights: Nights) -> None:
    links = half(["run", "mv fix_plan.md other.md; ln -s other.md fix_plan.md"])
    answer = nights.night(processes=[done("cart"), links, done("receipt")])

    assert answer.code == 4, answer
    assert nights.subjects() == ["first", "cart", "receipt"]
    assert "- [x] cart\n- [ ] total\n- [x] receipt" in nights.ask("show", "HEAD:fix_plan.md")


@pytest.mark.parametrize("begun", [False, True])
def test_an_item_that_was_opened_again_is_committed_again(nights: Nights, begun: bool) -> None:
    nights.world.write("fix_plan.md", f"- [{'x' if begun else ' '}] cart\n- [ ] total\n")
    nights.commit("commit", "-qam", "plan")
    better: Process = [["write", ["cart.py", "2\n"]], ["tick", "cart"], ["say", "Better."]]
    reopens: Process = [["write", ["total.py", "1\n"]], ["tick", "total"], opened("cart")]
    first = [] if begun else [done("cart")]
    answer = nights.night(processes=[*first, [*reopens, ["say", "Open."]], better])

    assert answer.code == 0, answer
    assert nights.subjects()[-2:] == ["total", "cart"]
    assert nights.ask("show", "HEAD:cart.py") == "2"
    assert nights.dirt() == ""


def test_an_item_that_its_own_agent_opens_again_is_checked_again(nights: Nights) -> None:
    nights.plan("cart (verify: `grep -q 1 cart.py`)", "total")
    reopens: Process = [["run", "true"], ["write", ["total.py", "1\n"]], ["tick", "total"]]
    wrong: Process = [["write", ["cart.py", "0\n"]], ["tick", "cart"], ["say", "Done."]]
    right: Process = [["write", ["cart.py", "1\n"]], ["say", "Done."]]
    answer = nights.night(
        TRUST,
        processes=[done("cart"), [*reopens, opened("cart"), ["say", "x"]], wrong, right],
    )
    assert answer.code == 0, answer
    assert nights.subjects()[-2:] == ["total", "cart"]
    assert "+0" not in everything(nights)


def test_a_plan_that_git_ignores_and_an_item_that_fails(nights: Nights) -> None:
    nights.commit("rm", "-q", "--cached", "fix_plan.md")
    nights.world.write(".gitignore", "fix_plan.md\n")
    nights.commit("add", "-A")
    nights.commit("commit", "-qm", "no plan")
    nights.world.write(
        "fix_plan.md", "- [ ] cart\n- [ ] total (verify: `grep -q 2 total.py`)\n- [ ] receipt\n"
    )
    both: Process = [*done("cart"), *done("total")]
    answer = nights.night(
        TRUST, processes=[both, AGAIN, AGAIN, done("cart", "Again."), done("receipt")]
    )
    assert answer.code == 4, answer
    assert nights.subjects() == ["first", "no plan", "cart", "receipt"]

    mended: Process = [["write", ["total.py", "2\n"]], ["say", "Mended."]]
    again = nights.resume(processes=[mended])
    assert again.code == 0, again
    assert nights.subjects() == ["first", "no plan", "cart", "receipt", "total"]
    assert nights.dirt() == ""


def test_work_after_the_last_item_and_before_the_promise(nights: Nights) -> None:
    last: Process = [["write", ["more.py", "1\n"]], ["say", "<promise>DONE</promise>"]]
    answer = nights.night("--completion-promise", "DONE", "--", "The shop", processes=[*ALL, last])
    assert answer.code == 0, answer
    assert nights.subjects() == ["first", "cart", "total", "receipt", "The shop"]
    assert nights.dirt() == ""


# ---------------------------------------------------------------- git


def test_work_that_cannot_be_set_aside_when_the_run_goes_on(nights: Nights) -> None:
    empty = half(["run", "git init -q sub"])
    first = nights.night(processes=[done("cart"), empty])
    assert first.code == 1, first
    assert "half work could not be set aside" in first.out

    again = nights.resume(processes=[done("total")])
    assert again.code == 1, again
    assert "half work could not be set aside" in again.out
    assert nights.state["status"] == "fatal_error"

    os.rmdir(nights.world.project / "sub" / ".git" / "refs" / "tags")
    os.rename(nights.world.project / "sub" / ".git", nights.world.root / "sub.git")
    last = nights.resume(processes=[done("total"), done("receipt")])
    assert last.code == 0, last
    assert nights.subjects() == ["first", "cart", "total", "receipt"]
    assert "half" in everything(nights)


def test_what_git_says_besides_is_no_answer(nights: Nights) -> None:
    nights.world.setenv("GIT_TRACE", "1")
    nights.world.write(".gitattributes", "*.md filter=noise\n")
    nights.commit("add", "-A")
    nights.commit("commit", "-qm", "noise")
    nights.commit("config", "filter.noise.clean", "cat; echo noise >&2")
    nights.commit("config", "filter.noise.smudge", "cat; echo noise >&2")
    answer = nights.night(processes=[done("cart"), half(), done("receipt")])

    assert answer.code == 4, answer
    assert nights.subjects() == ["first", "noise", "cart", "receipt"]
    assert nights.ask("show", "HEAD:fix_plan.md").startswith("# Shop\n")


def test_a_git_that_is_ended_leaves_no_lock(nights: Nights) -> None:
    began = nights.world.root / "began"
    nights.world.write(".gitattributes", "*.py filter=slow\n")
    nights.commit("add", "-A")
    nights.commit("commit", "-qm", "slow")
    nights.commit("config", "filter.slow.clean", f"touch {began}; sleep 2; cat")
    nights.script(done("cart"))
    run = nights.process("--commit")
    wait_for(began.exists)
    run.send_signal(signal.SIGTERM)

    assert run.wait(PATIENCE) == 130
    assert not (nights.world.project / ".git" / "index.lock").exists()


def test_a_repository_that_is_gone_has_no_tick(nights: Nights) -> None:
    breaks: Process = [*done("total"), ["run", "rm -rf .git/refs"]]
    answer = nights.night(processes=[done("cart"), breaks])
    assert answer.code == 1, answer
    assert "✓ total" not in answer.out


def test_a_message_with_a_line_at_which_git_cuts(nights: Nights) -> None:
    nights.commit("config", "commit.verbose", "true")
    said = "Done.\n# ------------------------ >8 ------------------------\nAll of it."
    answer = nights.night(processes=[done("cart", said), *ALL[1:]])
    assert answer.code == 0, answer
    text = nights.ask("show", "--format=%B", "--no-patch", "HEAD~2")
    assert text.endswith(f"All of it.\n\nSisyphus-Run: {nights.id}")


def test_a_plan_of_another_folder_and_an_odd_name(nights: Nights) -> None:
    name = "docs/plans/a plan [1]*.md"
    nights.commit("rm", "-q", "fix_plan.md")
    plan = nights.world.write(name, "- [ ] cart\n- [ ] total\n- [ ] receipt\n")
    nights.world.write("docs/plans/a plan [1]x.md", "no plan\n")
    nights.commit("add", "-A")
    nights.commit("commit", "-qm", "plans")
    nights.world.start()
    assert nights.world.cli("boulder", "start", name).code == 0
    plan.write_text(plan.read_text() + "- [ ] more\n")

    def does(item: str) -> Process:
        ticks = f"sed -i.old 's/\\[ \\] {item}/[x] {item}/' '{name}' && rm '{name}.old'"
        return [["write", [f"{item}.py", "1\n"]], ["run", ticks], ["say", "Done."]]

    answer = nights.night(processes=[does("cart"), half(), does("receipt"), does("more")])
    assert answer.code == 4, answer
    assert nights.subjects()[2:] == [f"Plan of run {nights.id}", "cart", "receipt", "more"]
    assert nights.dirt() == ""


def test_what_a_hook_stages_itself_is_checked_again(nights: Nights) -> None:
    nights.hook("pre-commit", "grep -q 1 cart.py || exit 0; echo 2 > cart.py; git add cart.py")
    nights.plan("cart (verify: `grep 1 cart.py`)")
    mended: Process = [["run", "rm .git/hooks/pre-commit"], *done("cart")[:1], ["say", "Now."]]
    answer = nights.night(TRUST, processes=[done("cart"), mended])

    assert answer.code == 0, answer
    assert "its check fails: `grep 1 cart.py` exited 1" in nights.prompts[1]
    assert nights.subjects() == ["first", "plan", "cart"]
    assert nights.ask("show", "HEAD:cart.py") == "cart = 1"


def test_conflicts_that_are_left_are_not_committed(nights: Nights) -> None:
    merge = (
        "git switch -qc other && echo 1 > x.py && git add x.py && git commit -qm other"
        " && git switch -q - && echo 2 > x.py && git add x.py && git commit -qm mine"
        " && ! git merge -q other"
    )
    mended: Process = [["run", "echo 3 > x.py && git add x.py"], ["say", "Mended."]]
    answer = nights.night(processes=[[["run", merge], *done("cart")], mended, *ALL[1:]])

    assert answer.code == 0, answer
    assert "conflicts of a `git merge` are left in x.py" in nights.prompts[1]
    assert "<<<<" not in nights.ask("log", "-p", "--first-parent", "-m", "--", "x.py")


# ---------------------------------------------------------------- what counts, and what is said


def test_items_that_went_back_with_another_one_are_done_again(nights: Nights) -> None:
    nights.plan("cart (verify: `false`)", "total")
    both: Process = [*done("cart"), *done("total")]
    answer = nights.night(TRUST, processes=[both, AGAIN, AGAIN, done("total")])

    assert answer.code == 4, answer
    assert nights.items == ["cart", "cart", "cart", "total"]
    assert nights.subjects() == ["first", "plan", "total"]
    assert "1 of 2 items is done" in answer.out


def test_a_commit_names_no_check_that_passed_earlier(nights: Nights) -> None:
    check = "! grep -q broken *.py"
    options = ("--verify", check, "--max-iterations")
    assert nights.night(*options, "1", processes=[done("cart")]).code == 3
    breaks: Process = [["write", ["total.py", "broken\n"]], ["tick", "total"], ["say", "Done."]]
    mends: Process = [["write", ["total.py", "1\n"]], ["say", "Mended."]]
    answer = nights.resume(
        "--verify-at-end", "--max-iterations", "9", processes=[breaks, done("receipt"), mends]
    )

    assert answer.code == 0, answer
    texts = [nights.ask("show", "--no-patch", "--format=%B", f"HEAD~{n}") for n in (3, 2, 1, 0)]
    assert [f"Sisyphus-Check: {check}" in text for text in texts] == [True, False, False, True]
    assert texts[3].startswith("Make the check pass\n")


def test_work_that_went_on_is_checked_again_before_its_commit(nights: Nights) -> None:
    nights.plan("cart (verify: `grep 1 cart.py`)", "total (verify: `grep 2 total.py`)")
    both: Process = [*done("cart"), *done("total")]
    breaks: Process = [["write", ["total.py", "2\n"]], ["write", ["cart.py", "0\n"]], ["say", "2."]]
    mends: Process = [["write", ["cart.py", "1\n"]], ["say", "1."]]
    answer = nights.night(TRUST, processes=[both, breaks, mends])

    assert answer.code == 0, answer
    assert nights.subjects() == ["first", "plan", "cart; total"]
    assert nights.ask("show", "HEAD:cart.py") == "1"


def test_a_list_of_which_all_is_blocked_starts_no_client(nights: Nights) -> None:
    nights.world.write("fix_plan.md", "- [!] cart\n- [ ] total (after: cart)\n")
    nights.commit("commit", "-qam", "plan")
    answer = nights.night(processes=ALL)
    assert answer.code == 4, answer
    assert not nights.calls
    assert "all that is left is blocked: cart; total (after cart)" in answer.out


def test_a_resume_names_the_edits_that_it_will_commit(nights: Nights) -> None:
    assert nights.night("--max-iterations", "1", processes=[done("cart")]).code == 3
    nights.world.write("address.txt", "here\n")
    answer = nights.resume("--max-iterations", "9", processes=ALL[1:])
    assert answer.code == 0, answer
    assert "Not committed, so the next item's commit has it: address.txt." in answer.out


def test_a_run_that_left_its_branch_names_the_way_back(nights: Nights) -> None:
    branch = nights.branch
    assert nights.night("--max-iterations", "1", processes=[done("cart")]).code == 3
    nights.commit("switch", "-q", "--detach")
    answer = nights.resume("--max-iterations", "9", processes=ALL[1:])
    assert answer.code == 1
    assert f"commits on {branch}, and HEAD is on no branch. `git switch {branch}`" in answer.err


def test_a_notice_of_a_stuck_run_names_the_branch(nights: Nights) -> None:
    out = nights.world.root / "notice"
    (nights.world.ours / "config.toml").write_text(
        f'[runner]\nretry_seconds = 0\n[notify]\ncommand = "echo $SISYPHUS_TEXT >> {out}"\n'
    )
    begun: Process = [["write", ["cart.py", "half\n"]], ["say", "Half."]]
    assert nights.night(processes=[begun, *[AGAIN] * 9]).code == 3
    wait_for(out.exists)
    assert f"on the branch sisyphus/{nights.id}-cart" in out.read_text()


def test_a_plan_that_a_hook_refuses_is_not_left_staged(nights: Nights) -> None:
    nights.world.write("fix_plan.md", "- [ ] cart\n- [ ] more\n")
    nights.hook("commit-msg", "echo no; exit 1")
    answer = nights.night(processes=ALL)
    assert answer.code == 1, answer
    assert "git does not commit the open edits of fix_plan.md. Commit them yourself." in answer.err
    assert nights.ask("diff", "--cached", "--name-only") == ""
