from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from making import HANG_SECONDS, debug_log, put

from ralph.repositories import ENVIRONMENT, a_repository, git
from sisyphus.ralph.tree.bounds import Bounds, TooMuchError
from sisyphus.ralph.tree.files import BY_GIT, BY_WALK, find

if TYPE_CHECKING:
    from pathlib import Path

COMMITTED = [b".gitignore", b"a.txt", b"src/b.py"]
LONG = Bounds(HANG_SECONDS, HANG_SECONDS)


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)


def _found(root: Path, bounds: Bounds = LONG) -> tuple[str, list[bytes]]:
    how, entries = find(str(root), bounds)
    return how, sorted(name for name, _ in entries)


def test_git_names_the_files_of_its_work_trees(tmp_path: Path) -> None:
    root = a_repository(tmp_path / "project")
    put(root / "x.log", "ignored")
    (root / "a.txt").unlink()
    assert _found(root) == (BY_GIT, [b".gitignore", b"src/b.py"])


def test_each_with_the_time_of_its_last_change(tmp_path: Path) -> None:
    root = a_repository(tmp_path / "project")
    os.utime(root / "a.txt", (0, 0))
    _, entries = find(str(root), LONG)
    assert dict(entries)[b"a.txt"] == (root / "a.txt").stat().st_ctime_ns


def test_other_folders_are_walked(tmp_path: Path) -> None:
    put(tmp_path / "a.txt", "")
    put(tmp_path / "sub" / "x.log", "")
    assert _found(tmp_path) == (BY_WALK, [b"a.txt", b"sub/x.log"])


def test_so_are_work_trees_where_there_is_no_git(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = a_repository(tmp_path / "project")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert _found(root) == (BY_WALK, COMMITTED)


def test_and_those_that_git_refuses(tmp_path: Path, home: Path) -> None:
    root = a_repository(tmp_path / "project")
    put(root / ".git" / "index", "spoilt")
    assert _found(root) == (BY_WALK, COMMITTED)
    assert "git ended with 128" in debug_log(home)


def test_a_repository_of_somebody_else_is_no_obstacle(tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give files away")
    root = a_repository(tmp_path / "project")
    for path in (root, root / ".git"):
        os.chown(path, 65534, 65534)
    assert _found(root) == (BY_GIT, COMMITTED)


def test_a_repository_within_is_walked_and_named_with_its_commit(tmp_path: Path) -> None:
    root = a_repository(tmp_path / "project")
    part = a_repository(tmp_path / "part")
    git(root, "submodule", "--quiet", "add", str(part), "part")
    commit = git(part, "rev-parse", "HEAD").encode()
    (root / "new").mkdir()
    git(root / "new", "init", "-q")
    put(root / "new" / "x", "")
    inner = [b"new\0", b"new/x", b"part\0" + commit]
    inner += [b"part/" + name for name in [b".git", *COMMITTED]]
    assert _found(root)[1] == sorted([*COMMITTED, b".gitmodules", *inner])


def test_a_folder_that_became_a_link_out_of_the_project_is_not_entered(tmp_path: Path) -> None:
    part = a_repository(tmp_path / "part")
    root = a_repository(tmp_path / "project")
    git(root, "submodule", "--quiet", "add", str(part), "sub/part")
    put(tmp_path / "outside" / "part" / "secret", "")
    (root / "sub").rename(tmp_path / "moved")
    (root / "sub").symlink_to(tmp_path / "outside")
    assert b"sub/part/secret" not in _found(root)[1]


def test_all_repositories_within_share_one_budget(tmp_path: Path) -> None:
    root = a_repository(tmp_path / "project")
    for name in "abc":
        a_repository(root / name)
    with pytest.raises(TooMuchError):
        _found(root, Bounds(HANG_SECONDS, HANG_SECONDS, walk_entries=10))


NOT_LOOKED_AT = [
    pytest.param(Bounds(git_seconds=0), True, id="git takes too long"),
    pytest.param(Bounds(walk_seconds=0), False, id="a walk takes too long"),
    pytest.param(Bounds(HANG_SECONDS, HANG_SECONDS, 2), False, id="there are too many files"),
]


@pytest.mark.parametrize(("bounds", "by_git"), NOT_LOOKED_AT)
def test_more_than_it_may_cost_is_too_much(tmp_path: Path, bounds: Bounds, by_git: bool) -> None:
    root = a_repository(tmp_path / "project")
    if not by_git:
        (root / ".git").rename(tmp_path / "git")
    with pytest.raises(TooMuchError):
        _found(root, bounds)


@pytest.mark.parametrize("name", ["gone", "file", ""])
def test_what_is_no_folder_has_no_files(tmp_path: Path, name: str) -> None:
    put(tmp_path / "file", "")
    with pytest.raises(NotADirectoryError):
        find(str(tmp_path / name) if name else "", LONG)
