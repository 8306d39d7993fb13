from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from making import put

from install.scene import ours as marked
from sisyphus.install.claude import git_exclude

if TYPE_CHECKING:
    from pathlib import Path

    from sisyphus._types import Json

LOCAL = ".claude/settings.local.json"


def _install(project: Path, *names: str, noted: Json | None = None) -> tuple[bytes | None, Json]:
    paths = [str(project / name) for name in names or (LOCAL,)]
    step, row = git_exclude.to_install(str(project), paths, noted or {})
    return (step.after if step else None), row


@pytest.fixture
def exclude(project: Path) -> Path:
    (project / ".git/info").mkdir()
    return project / ".git/info/exclude"


BEFORE = [
    pytest.param(None, b"/.claude/settings.local.json\n", id="no file"),
    pytest.param(b"", b"/.claude/settings.local.json\n", id="an empty file"),
    pytest.param(b"a\n", b"a\n/.claude/settings.local.json\n", id="one line"),
    pytest.param(b"a\r\n\xff", b"a\r\n\xff\n/.claude/settings.local.json\n", id="no line end"),
]


@pytest.mark.parametrize(("before", "after"), BEFORE)
def test_a_new_file_is_hidden_and_the_line_goes_again(
    project: Path, exclude: Path, before: bytes | None, after: bytes
) -> None:
    if before is not None:
        exclude.write_bytes(before)
    found, row = _install(project)
    assert found == after
    exclude.write_bytes(found)
    noted = {"edited": {str(exclude): row}}

    step = git_exclude.to_uninstall(str(project), set(), noted)

    assert step
    assert step.action == ("remove" if before is None else "edit")
    if before != b"a\r\n\xff":
        assert step.after == before


def test_lines_of_others_stay_when_they_came_later(project: Path, exclude: Path) -> None:
    found, row = _install(project)
    assert found
    exclude.write_bytes(b"first\n" + found + b"last\n")
    step = git_exclude.to_uninstall(str(project), set(), {"edited": {str(exclude): row}})
    assert step
    assert step.after == b"first\nlast\n"


def test_a_file_that_stays_stays_hidden(project: Path, exclude: Path) -> None:
    put(project / LOCAL, "{}")
    found, row = _install(project, LOCAL, ".claude/commands/a.md")
    assert found
    exclude.write_bytes(found)
    noted = {"edited": {str(exclude): row}}
    step = git_exclude.to_uninstall(str(project), {str(project / LOCAL)}, noted)
    assert step
    assert step.after == b"/.claude/settings.local.json\n"


def test_a_line_of_the_users_that_says_the_same_stays(project: Path, exclude: Path) -> None:
    exclude.write_bytes(b"a\n")
    found, row = _install(project)
    assert found
    exclude.write_bytes(found + b"/.claude/settings.local.json\n /.claude/settings.local.json\n")
    step = git_exclude.to_uninstall(str(project), set(), {"edited": {str(exclude): row}})
    assert step
    assert step.after == b"a\n/.claude/settings.local.json\n /.claude/settings.local.json\n"


NAMED = [
    pytest.param("/.claude/commands/a.md", True, id="a command"),
    pytest.param("/.claude/commands/mine.md", False, id="one of the user's"),
    pytest.param("/.claude/commands/gone.md", False, id="one that is not there"),
    pytest.param("/.claude/commands/../a.md", False, id="another folder"),
    pytest.param("/.claude/commands/a\0.md", False, id="no name"),
    pytest.param(".claude/commands/a.md", False, id="another spelling"),
]


@pytest.mark.parametrize(("line", "is_ours"), NAMED)
def test_where_nothing_is_noted_the_mark_tells(
    project: Path, exclude: Path, line: str, is_ours: bool
) -> None:
    for name in ("commands/a.md", "a.md"):
        put(project / ".claude" / name, marked())
    put(project / ".claude/commands/mine.md", "mine")
    exclude.write_text(f"{line}\n")
    assert git_exclude.lines_of_ours(str(project), {}) == ([line] if is_ours else [])


IGNORED = [
    ".claude", ".claude/", "/.claude/", "**/.claude", ".claude/*", "settings.local.json",
    "**/.claude/settings.local.json", "/.claude/settings.local.json",
]  # fmt: skip


@pytest.mark.parametrize("line", IGNORED)
@pytest.mark.parametrize("name", [".git/info/exclude", ".gitignore", "config/git/ignore"])
def test_what_is_ignored_needs_no_line(
    project: Path, monkeypatch: pytest.MonkeyPatch, line: str, name: str
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(project / "config"))
    put(project / name, f"a\n{line}\n")
    assert _install(project) == (None, {})


def test_another_line_hides_nothing(project: Path, exclude: Path) -> None:
    exclude.write_text("settings.json\n#.claude\n!.claude\n")
    found, _ = _install(project)
    assert found


def _worktree(project: Path) -> None:
    (project / ".git").rmdir()
    (project / ".git").write_text("gitdir: /elsewhere")


def _no_info(project: Path) -> None:
    assert (project / ".git").is_dir()


def _folder_in_its_place(project: Path) -> None:
    (project / ".git/info/exclude").mkdir(parents=True)


def _link_out(project: Path) -> None:
    (project.parent / "info").mkdir()
    (project / ".git/info").symlink_to(project.parent / "info")


def _link(project: Path) -> None:
    (project / ".git/info").mkdir()
    put(project.parent / "mine", "")
    os.symlink("../../../mine", project / ".git/info/exclude")


NO_USE = [_worktree, _no_info, _folder_in_its_place, _link_out, _link]


@pytest.mark.parametrize("make", NO_USE)
def test_what_is_not_the_usual_file_is_not_touched(project: Path, make: object) -> None:
    assert callable(make)
    make(project)
    assert not git_exclude.can_be_used(str(project))
    assert git_exclude.to_uninstall(str(project), set(), {}) is None
