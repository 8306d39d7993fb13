"""`sisyphus ralph run --worktree` where somebody does with the worktree what nobody expects:
nothing of theirs is lost."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from patience import PATIENCE
from test_run import ALL, PLAN, Process, done, runs
from test_run_commits import Nights, nights
from test_run_worktree import BLOCKED, branch, checkout, night, run_id, tree

from sisyphus.runner import worktrees

__all__ = ["nights", "runs"]


def settle(nights: Nights, setup: str = "") -> None:
    """Writes the user's own config."""
    line = f"setup = '''{setup}'''\n" if setup else ""
    (nights.world.ours / "config.toml").write_text(f"[runner]\nretry_seconds = 0\n{line}")


def stopped(nights: Nights) -> Path:
    """A night that waits for its user; returns its worktree."""
    assert night(nights, processes=[done("cart"), BLOCKED, done("receipt")]).code == 4
    return tree(nights)


def in_(folder: Path, *words: str) -> str:
    return subprocess.run(
        ["git", *words], cwd=folder, capture_output=True, text=True, check=True
    ).stdout.strip()


def test_another_repository_in_its_place(nights: Nights) -> None:
    folder = stopped(nights)
    nights.commit("worktree", "remove", "--force", str(folder))
    nights.commit("clone", "-q", ".", str(folder))
    (folder / "fix_plan.md").write_text("mine\n")
    answer = nights.resume(processes=[done("total")])
    assert (folder / "fix_plan.md").read_text() == "mine\n"
    assert answer.code == 1
    assert "Move that away" in answer.err
    shutil.rmtree(folder)
    assert nights.resume(processes=[done("total")]).code == 0


def test_a_worktree_that_its_user_made_again(nights: Nights) -> None:
    folder = stopped(nights)
    nights.commit("worktree", "remove", "--force", str(folder))
    nights.commit("worktree", "add", "-q", str(folder), branch(nights))
    (folder / "cart.py").write_text("mine\n")
    answer = nights.resume(processes=[done("total")])
    assert nights.ask("show", f"{branch(nights)}:cart.py") == "mine"
    assert answer.code == 0


def test_what_its_user_mended_before_the_set_up_passed(nights: Nights) -> None:
    nights.world.write("setup.sh", "exit 3\n")
    nights.commit("add", "-A")
    nights.commit("commit", "-qm", "set up")
    settle(nights, "sh setup.sh")
    assert night(nights, processes=ALL).code == 1
    (tree(nights) / "setup.sh").write_text("exit 0\n")
    answer = nights.resume(processes=ALL)
    assert answer.code == 0, answer
    assert nights.ask("show", f"{branch(nights)}:setup.sh") == "exit 0"


def test_what_cannot_be_copied(nights: Nights) -> None:
    nights.world.write(".gitignore", ".env\n")
    nights.world.write(".worktreeinclude", ".env\n")
    nights.world.write("secret", "a file\n")
    nights.commit("add", "-A")
    nights.commit("commit", "-qm", "ignore")
    (nights.world.project / "secret").unlink()
    nights.world.write("secret/.env", "1\n")
    nights.world.write(".env", "1\n")
    answer = night(nights, processes=ALL)
    assert answer.code == 1
    assert "secret" in answer.err
    assert nights.world.cli("ralph", "list").out == "No loop is running.\n"
    (nights.world.project / "secret" / ".env").unlink()
    assert nights.resume(processes=ALL).code == 0


@pytest.mark.parametrize("script", ["exit 1", "echo bad >&2; exit 3", "echo x > hooked.txt"])
def test_a_hook_after_the_checkout_that_fails(nights: Nights, script: str) -> None:
    nights.hook("post-checkout", script)
    answer = night(nights, processes=ALL)
    assert answer.code == 0, answer


def test_a_plan_that_a_hook_refuses(nights: Nights) -> None:
    nights.world.write("fix_plan.md", PLAN + "- [ ] coupon\n")
    nights.hook("pre-commit", "echo no plan; exit 1")
    answer = night(nights, processes=ALL)
    assert answer.code == 1
    folder = tree(nights)
    nights.hook("pre-commit", "exit 0")
    nights.commit("worktree", "remove", "--force", str(folder))
    again = nights.resume(processes=[*ALL, done("coupon")])
    assert again.code == 0


def test_a_plan_that_a_hook_refuses_is_committed_in_main(nights: Nights) -> None:
    nights.world.write("fix_plan.md", PLAN + "- [ ] coupon\n")
    nights.hook("pre-commit", "echo no plan; exit 1")
    night(nights, processes=ALL)
    nights.commit("commit", "--no-verify", "-qam", "mine")
    again = nights.resume(processes=[*ALL, done("coupon")])
    assert again.code == 0 or str(tree(nights)) in again.err


def test_a_branch_that_was_renamed(nights: Nights) -> None:
    folder = stopped(nights)
    name = branch(nights)
    nights.commit("branch", "-m", name, "mine")
    answer = nights.resume(processes=[done("total")])
    command = answer.err.split("`")[1]
    subprocess.run(command, shell=True, cwd=folder, check=True)
    again = nights.resume(processes=[done("total")])
    assert again.code == 0, again


@pytest.mark.parametrize("kind", ["file", "link", "full"])
def test_something_else_in_its_place(nights: Nights, kind: str) -> None:
    folder = stopped(nights)
    shutil.rmtree(folder)
    if kind == "file":
        folder.write_text("mine\n")
    elif kind == "link":
        folder.symlink_to("nowhere")
    else:
        folder.mkdir()
        (folder / "mine.py").write_text("mine\n")
    answer = nights.resume(processes=[done("total")])
    assert answer.code == 1
    assert "Move that away" in answer.err


def test_the_agent_removes_it_in_the_last_iteration(nights: Nights) -> None:
    removes: Process = [["run", "cd / && git -C $OLDPWD worktree remove --force $OLDPWD"]]
    night(nights, "--max-iterations", "2", processes=[done("cart"), removes])
    again = nights.resume("--max-iterations", "9", processes=ALL[1:])
    assert again.code == 0


def test_an_agent_that_makes_a_repository_there(nights: Nights) -> None:
    inits: Process = [
        ["write", ["total.py", "half\n"]],
        ["run", "rm .git; git init -q ."],
        ["say", "Fresh."],
    ]
    night(nights, processes=[done("cart"), inits, done("total"), done("receipt")])
    nights.resume(processes=[done("total"), done("receipt")])
    assert (tree(nights) / "total.py").read_text() == "half\n"


def test_an_agent_that_deletes_the_folder_of_git(nights: Nights) -> None:
    prunes: Process = [
        ["write", ["total.py", "half\n"]],
        ["run", "rm -rf $(git rev-parse --git-dir)"],
        ["say", "Fresh."],
    ]
    night(nights, processes=[done("cart"), prunes, done("total"), done("receipt")])
    nights.resume(processes=[done("total"), done("receipt")])
    assert (tree(nights) / "total.py").read_text() == "half\n"


def test_a_set_up_that_leaves_the_branch(nights: Nights) -> None:
    settle(nights, "git switch -qc other; echo 1 > a.txt; git add a.txt; git commit -qm mine")
    answer = night(nights, processes=ALL)
    assert answer.code == 0, answer
    assert nights.subjects(f"sisyphus/{nights.ask('branch', '--list', 'sisyphus/*')[-5:]}") == [
        "first", "mine", "cart", "total", "receipt",
    ]  # fmt: skip


def test_new_files_that_git_hides_are_not_removed(nights: Nights) -> None:
    nights.commit("config", "status.showUntrackedFiles", "no")
    nights.hook("post-commit", "echo mine > $(git rev-list --count HEAD).txt")
    assert night(nights, processes=ALL).code == 0
    assert (tree(nights) / "4.txt").read_text() == "mine\n"


def test_an_index_that_is_not_fresh(nights: Nights) -> None:
    nights.world.write("a.py", "a\n")
    nights.commit("add", "-A")
    nights.commit("commit", "-qm", "a")
    os.utime(nights.world.project / "a.py", (1, 1))
    before = checkout(nights)
    assert night(nights, processes=ALL).code == 0
    assert checkout(nights) == before


@pytest.mark.parametrize("is_absolute", [False, True])
def test_a_plan_that_is_a_link(nights: Nights, *, is_absolute: bool) -> None:
    project = nights.world.project
    file = nights.world.write("docs/plan.md", PLAN)
    (project / "fix_plan.md").unlink()
    (project / "fix_plan.md").symlink_to(file if is_absolute else "docs/plan.md")
    nights.commit("add", "-A")
    nights.commit("commit", "-qm", "link")
    before = checkout(nights)
    mark = r"""x=$(sed 's/\[ \]/[x]/' fix_plan.md) && echo "$x" > fix_plan.md"""
    tick = ["run", f"{mark}; echo 1 > all.py"]
    answer = night(nights, processes=[[tick, ["say", "Done."]]])
    assert checkout(nights) == before
    if is_absolute:
        assert "is a link into your checkout" in answer.err
        return
    assert answer.code == 0, answer
    assert nights.ask("ls-tree", branch(nights), "fix_plan.md").startswith("120000")
    assert "- [x] cart" in nights.ask("show", f"{branch(nights)}:docs/plan.md")


@pytest.mark.parametrize("option", ["--resume", "--commit"])
def test_a_run_in_the_worktree_of_another_one(nights: Nights, option: str) -> None:
    folder = stopped(nights)
    answer = nights.run(option, "--project", str(folder), processes=[done("total")])
    assert answer.code == 1
    way = f"`sisyphus ralph run --resume` in {nights.world.project} goes on with it"
    assert way in answer.err
    nights.world.cli("ralph", "cancel", run_id(nights))
    if option == "--commit":
        again = nights.run(option, "--project", str(folder), processes=[done("total")])
        assert again.code == 0, again


def test_two_that_resume_at_once(nights: Nights) -> None:
    shutil.rmtree(stopped(nights))
    settle(nights, "echo x >> set-up.txt; sleep 4")
    nights.script(done("total"))
    processes = [nights.process("--resume") for _ in range(2)]
    assert sorted(each.wait(PATIENCE) for each in processes) == [0, 1]
    assert nights.ask("show", f"{branch(nights)}:set-up.txt") == "x"


def test_a_place_that_cannot_be_made(nights: Nights, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worktrees, "place", lambda *_: str(nights.world.write("file") / "tree"))
    answer = night(nights, processes=ALL)
    assert answer.code == 1
    assert "error: The run has no worktree: " in answer.err
    assert nights.world.cli("ralph", "list").out == "No loop is running.\n"


def test_a_checkout_that_was_cut_off(nights: Nights) -> None:
    settle(nights, "exit 3")
    assert night(nights, processes=ALL).code == 1
    folder = tree(nights)
    (Path(in_(folder, "rev-parse", "--absolute-git-dir")) / "index").unlink()
    (folder / "fix_plan.md").unlink()
    settle(nights)
    assert nights.resume(processes=ALL).code == 0
    assert nights.subjects(branch(nights)) == ["first", "cart", "total", "receipt"]


def test_a_list_that_its_user_mended_before_the_set_up_passed(nights: Nights) -> None:
    nights.world.write("fix_plan.md", PLAN + "- [ ] coupon\n")
    settle(nights, "exit 3")
    assert night(nights, processes=ALL).code == 1
    mended = PLAN.replace("- [ ] total\n", "")
    (tree(nights) / "fix_plan.md").write_text(mended)
    settle(nights)
    assert nights.resume(processes=[ALL[0], ALL[2]]).code == 0
    assert nights.subjects(branch(nights))[2:] == ["cart", "receipt"]
