from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from making import HANG_SECONDS, debug_log, ours, put
from ralph.repositories import ENVIRONMENT, a_repository, change, commit, git, latest

from sisyphus.work_tree import OWN_FILES, Look, look

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Change = Callable[[Path, float], object]

LONG = float(HANG_SECONDS)


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)


@pytest.fixture(params=["git", "walk"])
def root(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A project of three files, with git and without."""
    project = a_repository(tmp_path / "project")
    if request.param == "walk":
        (project / ".git").rename(tmp_path / "git")
    return project


def _look(root: Path, since: float, known: str = "", *skip: str) -> Look:
    return look(str(root), since, known, skip, LONG)


def _changed(root: Path, make: Change, *skip: str) -> bool | None:
    """What the second look says when `make` came between the two."""
    since = latest(root)
    known = _look(root, since).names
    make(root, since)
    return _look(root, since, known, *skip).changed


def _set_back(root: Path, since: float) -> None:
    change(root / "a.txt", since)
    os.utime(root / "a.txt", (0, 0))


CHANGES = [
    pytest.param(lambda root, t: change(root / "a.txt", t), True, id="a file is written"),
    pytest.param(lambda root, t: change(root / "new", t), True, id="a file is new"),
    pytest.param(lambda root, t: change(root / "a b\n\u00e9", t), True, id="with an odd name"),
    pytest.param(lambda root, t: change(root / "src" / "deep" / "x", t), True, id="further below"),
    pytest.param(_set_back, True, id="its time is set back"),
    pytest.param(lambda root, _: (root / "a.txt").unlink(), True, id="a file is removed"),
    pytest.param(
        lambda root, _: (root / "src").rename(root / "lib"), True, id="a folder is renamed"
    ),
    pytest.param(lambda root, _: (root / "link").symlink_to("gone"), True, id="a link is new"),
    pytest.param(lambda root, _: (root / "empty").mkdir(), False, id="an empty folder is new"),
    pytest.param(lambda root, t: change(root / "build" / "x", t), None, id="a build"),
    pytest.param(lambda *_: None, False, id="nothing happens"),
    *(
        pytest.param(lambda root, t, name=name: change(root / f"{name}x", t), False, id=name)
        for name in OWN_FILES
    ),
    *(
        pytest.param(
            lambda root, t, end=end: change(root / f"{OWN_FILES[1]}{end}", t), False, id=end
        )
        for end in ("", ".tmp", ".lock")
    ),
]


@pytest.mark.parametrize(("make", "changed"), CHANGES)
def test_changes_are_seen(root: Path, make: Change, changed: bool | None) -> None:
    if changed is None:  # git counts what is not ignored, a walk passes it over
        changed = (root / ".git").exists()
    assert _changed(root, make) is changed


def _as(name: str) -> Change:
    return lambda root, since: change(root / name, since)


BY_GIT = [
    pytest.param(_as("x.log"), False, id="an ignored file"),
    pytest.param(_as(".git/x"), False, id="git's own"),
    pytest.param(lambda root, _: git(root, "rm", "-q", "--cached", "a.txt"), False, id="the index"),
    pytest.param(
        lambda root, _: git(root, "commit", "--allow-empty", "-qm", "x"), False, id="a commit"
    ),
]


@pytest.mark.parametrize(("make", "changed"), BY_GIT)
def test_with_git_what_is_work_is_told_apart(tmp_path: Path, make: Change, changed: bool) -> None:
    assert _changed(a_repository(tmp_path / "project"), make) is changed


def test_where_a_repository_lies_inside_it_is_not_known_that_nothing_changed(
    tmp_path: Path,
) -> None:
    root = a_repository(tmp_path / "project")
    a_repository(root / "nested")
    assert _changed(root, _as("nested/src/b.py")) is None
    assert _changed(root, _as("a.txt")) is True


@pytest.mark.parametrize("known", ["", "git 3 00000000", "walk 3 00000000", "what"])
def test_without_a_look_before_changes_of_files_count(root: Path, known: str) -> None:
    since = latest(root)
    change(root / "a.txt", since)
    assert _look(root, since, known).changed is True


def test_and_nothing_else_does(root: Path) -> None:
    (root / "a.txt").unlink()
    assert _look(root, latest(root)).changed is False


def test_what_was_found_in_another_way_cannot_be_compared(root: Path) -> None:
    found = _look(root, latest(root), "otherwise 3 00000000")
    assert found.changed is None
    assert found.names == _look(root, latest(root)).names


def test_a_commit_that_takes_up_what_was_new_is_no_change(tmp_path: Path) -> None:
    root = a_repository(tmp_path / "project")
    put(root / "new", "")
    since = latest(root)
    known = _look(root, since).names
    commit(root)
    assert _look(root, since, known).changed is False


SKIPPED = [
    pytest.param("{root}/notes", "notes/x", False, id="a folder"),
    pytest.param("{root}/notes/", "notes/x", False, id="a folder with a slash"),
    pytest.param("{root}/notes/x", "notes/x", False, id="a file"),
    pytest.param("{root}/notes", "notes-2/x", True, id="a neighbour with the same beginning"),
    pytest.param("{link}/notes", "notes/x", False, id="a folder by way of a link"),
    pytest.param("{root}/../other", "notes/x", True, id="a folder elsewhere"),
    pytest.param("{root}", "notes/x", True, id="the project itself"),
    pytest.param("{root}/..", "notes/x", True, id="a folder that holds it"),
]


@pytest.mark.parametrize(("skip", "name", "changed"), SKIPPED)
def test_what_is_left_aside_does_not_count(
    root: Path, tmp_path: Path, skip: str, name: str, changed: bool
) -> None:
    link = tmp_path / "link"
    link.symlink_to(root)
    make = _as(name)
    assert _changed(root, make, skip.format(root=root, link=link)) is changed


def test_our_own_folder_does_not_count(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(root / "config"))
    assert _changed(root, _as("config/.sisyphus/logs/debug.log")) is False
    assert _changed(root, _as("config/settings.json")) is True


def test_links_to_the_project_are_resolved(root: Path, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(root)
    assert _look(link, 0).names == _look(root, 0).names


def test_a_project_may_have_a_name_that_is_no_unicode(tmp_path: Path) -> None:
    root = a_repository(tmp_path / os.fsdecode(b"\xff\n"))
    assert _changed(root, _as(os.fsdecode(b"\xfe"))) is True


def test_files_beyond_a_link_are_none_of_the_projects(tmp_path: Path) -> None:
    root = a_repository(tmp_path / "project")
    outside = tmp_path / "outside"
    put(outside / "b.py", "b = 1\n")
    (root / "src" / "b.py").unlink()
    (root / "src").rmdir()
    (root / "src").symlink_to(outside)
    since = latest(root)
    known = _look(root, since).names
    change(outside / "b.py", since)
    assert _look(root, since, known).changed is False


def test_it_says_what_it_saw(root: Path) -> None:
    since = latest(root)
    known = _look(root, since).names
    assert _look(root, since, known).why == "none of 3 files changed"
    (root / "a.txt").unlink()
    assert _look(root, since, known).why == "files came or went"
    change(root / "a\x1b[31m\nb", since)
    assert _look(root, since, known).why == "a [31m b changed"


CANNOT_TELL = [
    pytest.param("gone", LONG, "it is no folder", id="no project"),
    pytest.param("", LONG, "it is no folder", id="no name"),
    pytest.param("a\0b", LONG, "null", id="no name of a folder"),
    pytest.param("project", 0, "longer than 0 s", id="too long"),
    pytest.param("plain", 0, "too many files", id="too many files"),
]


@pytest.mark.parametrize(("name", "seconds", "why"), CANNOT_TELL)
def test_it_may_be_unable_to_tell(
    tmp_path: Path, home: Path, name: str, seconds: float, why: str
) -> None:
    a_repository(tmp_path / "project")
    put(tmp_path / "plain" / "a", "")
    put(tmp_path / "plain" / "b", "")
    found = look(str(tmp_path / name) if name else "", 1e12, "git 3 00000000", (), seconds)
    assert (found.changed, found.names) == (None, "")
    assert why in found.why
    assert why in debug_log(home)


@pytest.mark.parametrize("since", [float("nan"), float("inf"), 1e300])
def test_no_moment_is_too_odd(root: Path, since: float) -> None:
    assert _look(root, since).changed is False


def test_nothing_of_it_shows_in_the_project(tmp_path: Path, home: Path) -> None:
    root = a_repository(tmp_path / "project")
    before = latest(root)
    _look(root, 0)
    assert latest(root) == before
    assert git(root, "status", "--porcelain", "--ignored") == ""
    assert ours(home, "cache").is_dir()
