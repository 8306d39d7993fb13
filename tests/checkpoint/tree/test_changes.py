from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from making import debug_log, put
from ralph.repositories import ENVIRONMENT, a_repository, change, commit, git, latest

from sisyphus.checkpoint.tree.changes import changed
from sisyphus.git import branch

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return a_repository(tmp_path / "project")


def _changed(root: Path, since: float, *edited: str) -> list[str]:
    return changed(str(root), since, [str(root / name) for name in edited])


def test_what_changed_since_then_is_named(root: Path) -> None:
    since = latest(root)
    change(root / "src" / "b.py", since)
    change(root / "new.txt", since)
    change(root / "x.log", since)
    assert _changed(root, since) == ["new.txt", "src/b.py"]


def test_what_is_made_from_the_work_is_none_of_it(root: Path) -> None:
    since = latest(root)
    change(root / "src" / "__pycache__" / "b.pyc", since)
    change(root / "build.py", since)
    assert _changed(root, since) == ["build.py"]
    assert _changed(root, since, "build/a.sh") == ["build/a.sh", "build.py"]


def test_a_folder_that_became_a_link_is_none_of_it(root: Path, tmp_path: Path) -> None:
    put(tmp_path / "other" / "b.py", "x")
    (root / "src").rename(tmp_path / "gone")
    (root / "src").symlink_to(tmp_path / "other")
    assert "src/b.py" not in _changed(root, 1.0)


def test_commits_hide_nothing(root: Path) -> None:
    since = latest(root)
    change(root / "a.txt", since)
    commit(root)
    assert _changed(root, since) == ["a.txt"]


def test_edited_files_come_first_and_may_be_gone(root: Path) -> None:
    since = latest(root)
    change(root / "a.txt", since)
    (root / "src" / "b.py").unlink()
    assert _changed(root, since, "src/b.py", "gone.py") == ["gone.py", "src/b.py", "a.txt"]


def test_where_nobody_knows_since_when_they_are_all_there_is(root: Path) -> None:
    assert _changed(root, 0, "src/b.py") == ["src/b.py"]


def test_files_of_ours_do_not_count(root: Path) -> None:
    since = latest(root)
    for name in (".claude/handoffs/a.md", ".claude/PROMPT.md", "docs/kord/boulder.json"):
        change(root / name, since)
    assert _changed(root, since, ".claude/handoffs/a.md") == []


def test_nor_does_our_folder_where_it_lies_in_the_project(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(root / "config"))
    since = latest(root)
    change(root / "config" / ".sisyphus" / "a", since)
    change(root / "config" / "b", since)
    assert _changed(root, since) == ["config/b"]


def test_nor_what_lies_outside(root: Path, tmp_path: Path) -> None:
    outside = put(tmp_path / "other" / "a.py", "x")
    (root / "link").symlink_to(tmp_path / "other")
    paths = [str(outside), str(root / "link" / "a.py"), str(root), str(root / ".." / "b")]
    assert changed(str(root), 0, paths) == []


def test_a_project_may_be_known_by_a_link(root: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(root)
    paths = [str(tmp_path / "link" / "src" / "b.py")]
    assert changed(str(root), 0, paths) == ["src/b.py"]
    assert changed(str(tmp_path / "link"), 0, [str(root / "a.txt")]) == ["a.txt"]


def test_a_folder_without_git_is_walked(tmp_path: Path) -> None:
    root = tmp_path / "plain"
    put(root / "a.txt", "a")
    since = latest(root)
    change(root / "b.txt", since)
    assert _changed(root, since) == ["b.txt"]


def test_what_cannot_be_told_is_logged(root: Path, home: Path) -> None:
    assert changed(str(root / "nowhere"), 1.0, []) == []
    assert "not all changes of" in debug_log(home)


def test_a_path_that_is_none_has_no_changes() -> None:
    assert changed("", 0, ["", "/a\0/b", "a"]) == []


def test_the_branch_is_told(root: Path) -> None:
    assert branch(str(root)) == "main"
    git(root, "checkout", "-q", "-b", "fix/umlaut-ä")
    assert branch(str(root)) == "fix/umlaut-ä"


def test_the_branch_of_a_linked_worktree_is_its_own(root: Path, tmp_path: Path) -> None:
    git(root, "worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
    assert branch(str(tmp_path / "side")) == "side"


def test_where_no_branch_is_checked_out_there_is_none(root: Path, tmp_path: Path) -> None:
    git(root, "checkout", "-q", "--detach")
    assert branch(str(root)) == ""
    assert branch(str(tmp_path)) == ""


HEADS = ["", "ref: refs/heads/.invalid\n", "ref: refs/tags/x\n", "x" * 2_000, "x" * 9_999]


@pytest.mark.parametrize("content", HEADS)
def test_nor_where_its_file_tells_none(project: Path, content: str) -> None:
    put(project / ".git" / "HEAD", content)
    assert branch(str(project)) == ""
    os.unlink(project / ".git" / "HEAD")
    assert branch(str(project)) == ""
