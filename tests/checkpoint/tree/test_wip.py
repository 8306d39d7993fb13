from __future__ import annotations

import os
from contextlib import suppress
from subprocess import CalledProcessError
from typing import TYPE_CHECKING

import pytest
from making import HANG_SECONDS, debug_log, put
from ralph.repositories import ENVIRONMENT, a_repository, git
from ralph.repositories import commit as commit_all

from sisyphus.checkpoint.tree import wip

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return a_repository(tmp_path / "project")


def _commit(root: Path, *edited: str) -> wip.Commit:
    return wip.commit(str(root), 5, "L2", 85, [str(root / name) for name in edited])


def _in_last(root: Path) -> list[str]:
    return git(root, "show", "--name-only", "--format=", "HEAD").split("\n")


def test_what_is_tracked_and_changed_is_committed(root: Path) -> None:
    put(root / "a.txt", "changed\n")
    (root / "src" / "b.py").unlink()
    put(root / "new.txt", "not edited by a tool")
    done = _commit(root)
    assert (done.name, done.why) == (git(root, "rev-parse", "--short", "HEAD"), "")
    assert git(root, "log", "-1", "--format=%B") == "ralph: checkpoint iter 5 (L2 at 85%)"
    assert _in_last(root) == ["a.txt", "src/b.py"]
    assert git(root, "status", "--porcelain") == "?? new.txt"


def test_a_checkpoint_may_have_no_level(root: Path) -> None:
    put(root / "a.txt", "x")
    assert wip.commit(str(root), 2, "", 40, []).name
    assert git(root, "log", "-1", "--format=%s") == "ralph: checkpoint iter 2 (40%)"


def test_and_what_a_tool_has_made(root: Path, tmp_path: Path) -> None:
    put(root / "src" / "new *.py", "x")
    put(root / "x.log", "ignored")
    put(tmp_path / "outside", "x")
    put(root / ".claude" / "handoffs" / "a.md", "x")
    put(root / ".claude" / "PROMPT.md", "x")
    edited = ["src/new *.py", "x.log", "../outside", "gone", ".claude/handoffs/a.md", ".git/config"]
    assert _commit(root, *edited, ".claude/PROMPT.md", "").name
    assert _in_last(root) == ["src/new *.py"]


def test_files_of_ours_stay_out_even_where_they_are_tracked(root: Path) -> None:
    put(root / ".claude" / "PROMPT.md", "x")
    commit_all(root)
    put(root / ".claude" / "PROMPT.md", "y")
    assert _commit(root).why == "nothing changed"
    put(root / "a.txt", "y")
    _commit(root)
    assert _in_last(root) == ["a.txt"]
    assert git(root, "status", "--porcelain") == " M .claude/PROMPT.md"


def test_a_tracked_file_that_is_ignored_is_committed(root: Path) -> None:
    put(root / "x.log", "x")
    git(root, "add", "-f", "x.log")
    git(root, "commit", "-q", "-m", "x")
    put(root / "x.log", "y")
    _commit(root)
    assert _in_last(root) == ["x.log"]


def test_many_files_are_committed(root: Path) -> None:
    names = [f"many/{number}.txt" for number in range(600)]
    for name in names:
        put(root / name, "a")
    commit_all(root)
    for name in names:
        put(root / name, "b")
    assert _commit(root).name
    assert len(_in_last(root)) == 600


def _left_alone(root: Path, why: str) -> None:
    """Nothing of the repository has changed, and the reason is told."""
    before = git(root, "status", "--porcelain"), git(root, "rev-list", "--all", "--count")
    done = _commit(root, "a.txt")
    assert done.name == ""
    assert why in done.why
    assert (git(root, "status", "--porcelain"), git(root, "rev-list", "--all", "--count")) == before


def test_what_the_user_has_staged_is_left_alone(root: Path, home: Path) -> None:
    put(root / "a.txt", "staged")
    git(root, "add", "a.txt")
    put(root / "src" / "b.py", "changed")
    _left_alone(root, "something is staged")
    assert "something is staged" in debug_log(home)


def test_a_file_that_was_removed_from_the_index_is_staged_too(root: Path) -> None:
    git(root, "rm", "-q", "--cached", "a.txt")
    _left_alone(root, "something is staged")


def _conflict(root: Path) -> None:
    git(root, "checkout", "-q", "-b", "side")
    put(root / "a.txt", "side")
    commit_all(root)
    git(root, "checkout", "-q", "main")
    put(root / "a.txt", "main")
    commit_all(root)


UNDER_WAY = [
    pytest.param(["merge", "side"], "MERGE_HEAD", id="a merge"),
    pytest.param(["cherry-pick", "side"], "CHERRY_PICK_HEAD", id="a cherry-pick"),
    pytest.param(["rebase", "side"], "no branch", id="a rebase"),
    pytest.param(["bisect", "start"], "BISECT_LOG", id="a bisection"),
]


@pytest.mark.parametrize(("words", "why"), UNDER_WAY)
def test_in_the_middle_of_something_nothing_is_committed(
    root: Path, words: list[str], why: str
) -> None:
    _conflict(root)
    with suppress(CalledProcessError):
        git(root, *words)
    _left_alone(root, why)


def test_a_detached_head_is_left_alone(root: Path) -> None:
    git(root, "checkout", "-q", "--detach")
    put(root / "a.txt", "x")
    _left_alone(root, "no branch is checked out")


def test_a_repository_without_a_commit_is_left_alone(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "-b", "main")
    put(tmp_path / "a.txt", "x")
    done = _commit(tmp_path, "a.txt")
    assert done.name == ""
    assert "ended with 128" in done.why


def test_where_nothing_changed_nothing_is_committed(root: Path) -> None:
    _left_alone(root, "nothing changed")


def test_no_hook_of_the_repository_is_run(root: Path) -> None:
    ran = root / "ran"
    for folder in (".git/hooks", ".husky"):
        for name in ("pre-commit", "commit-msg", "post-commit", "post-index-change"):
            put(root / folder / name, f"#!/bin/sh\ntouch '{ran}'\nexit 1\n").chmod(0o755)
    put(root / "a.txt", "x")
    assert _commit(root).name
    git(root, "config", "core.hooksPath", ".husky")
    put(root / "a.txt", "y")
    assert _commit(root).name
    assert not ran.exists()


def test_nothing_is_signed(root: Path) -> None:
    git(root, "config", "commit.gpgSign", "true")
    put(root / "a.txt", "x")
    assert _commit(root).name


@pytest.mark.parametrize("setting", ["filter.x.clean", "core.fsmonitor", "core.sshCommand"])
def test_a_repository_that_names_programs_is_left_alone(root: Path, setting: str) -> None:
    ran = root.parent / "ran"
    put(root / ".gitattributes", "*.txt filter=x\n")
    commit_all(root)
    put(root / "a.txt", "x")
    git(root, "config", setting, f"touch '{ran}'; cat")
    done = _commit(root)
    assert "configuration" in done.why
    assert not ran.exists()


def test_so_is_one_that_takes_in_other_files(root: Path) -> None:
    put(root / "more", "[core]\n\tfsmonitor = x\n")
    git(root, "config", "include.path", "../more")
    put(root / "a.txt", "x")
    assert "section [include]" in _commit(root).why


def test_the_configuration_of_one_worktree_counts_too(root: Path, tmp_path: Path) -> None:
    side = tmp_path / "side"
    git(root, "worktree", "add", "-q", "-b", "side", str(side))
    put(side / "a.txt", "x")
    assert _commit(side).name
    git(root, "config", "extensions.worktreeConfig", "true")
    git(side, "config", "--worktree", "core.fsmonitor", "x")
    put(side / "a.txt", "y")
    assert "core.fsmonitor" in _commit(side).why


def test_a_repository_with_submodules_is_left_alone(root: Path, tmp_path: Path) -> None:
    inner = a_repository(tmp_path / "inner")
    git(root, "-c", "core.hooksPath=/dev/null", "clone", "-q", str(inner), "sub")
    git(root, "add", "sub")
    git(root, "commit", "-q", "-m", "sub")
    put(root / "a.txt", "x")
    _left_alone(root, "submodules")


def test_a_git_folder_elsewhere_is_not_trusted(root: Path, tmp_path: Path) -> None:
    claimed = tmp_path / "claimed"
    put(claimed / ".git", f"gitdir: {root / '.git'}\n")
    assert _commit(claimed).why == "it is no repository of its own"
    (claimed / ".git").unlink()
    (claimed / ".git").symlink_to(root / ".git")
    assert _commit(claimed).why == "it is no repository of its own"


def test_no_repository_no_commit(tmp_path: Path) -> None:
    assert _commit(tmp_path).why == "it is no repository of its own"


def test_nor_without_git(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(root / "a.txt", "x")
    monkeypatch.setenv("PATH", "")
    assert _commit(root).why == "there is no git"


def test_a_commit_that_git_refuses_leaves_nothing_staged(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in ENVIRONMENT if "AUTHOR" in name or "COMMITTER" in name]:
        monkeypatch.delenv(name)
    git(root, "config", "user.useConfigOnly", "true")
    put(root / "a.txt", "x")
    put(root / "new.py", "x")
    done = _commit(root, "new.py")
    assert "ended with" in done.why
    assert git(root, "status", "--porcelain") == " M a.txt\n?? new.py"


@pytest.mark.parametrize("seconds", [0.0, 1.0])
def test_a_git_that_takes_too_long_leaves_no_lock(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seconds: float
) -> None:
    config = put(tmp_path / "gitconfig", f'[filter "slow"]\n\tclean = sleep {HANG_SECONDS}\n')
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))
    put(root / ".gitattributes", "*.txt filter=slow\n")
    put(root / "a.txt", "x")
    done = wip.commit(str(root), 1, "L2", 85, [str(root / ".gitattributes")], seconds)
    assert "took longer" in done.why or "did not end" in done.why
    assert not (root / ".git" / "index.lock").exists()


def test_where_the_index_is_in_use_git_refuses(root: Path) -> None:
    put(root / "a.txt", "x")
    put(root / ".git" / "index.lock", "")
    assert "ended with 128" in _commit(root).why
    os.unlink(root / ".git" / "index.lock")
    assert _commit(root).name
