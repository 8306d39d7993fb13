from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from command_files import put_foreign, put_ours, put_skill
from making import put

from sisyphus import shipped
from sisyphus.bare_commands import NAMES, is_foreign, is_ours, respelled
from sisyphus.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Places = Callable[[str], Path]

LOOP = "ralph-loop"


@pytest.fixture
def places(home: Path, tmp_path: Path) -> Places:
    """The client's folders: of the user, of the project, and of the folder in it where the session
    begins."""
    named = {"user": home, "project": tmp_path / "p", "nearer": tmp_path / "p/a"}
    (tmp_path / "p/.git").mkdir(parents=True)
    (tmp_path / "p/a/b").mkdir(parents=True)
    return lambda name: named[name] / ".claude"


@pytest.fixture
def space(places: Places) -> Workspace:
    return Workspace(str(places("nearer").parent / "b"))


def test_the_names_are_those_of_the_files_that_come_with_us() -> None:
    files = os.listdir(os.path.join(shipped.plugin_folder(), "commands"))
    assert {name.removesuffix(".md") for name in files} == NAMES


@pytest.mark.parametrize("place", ["user", "project", "nearer"])
def test_a_file_with_our_mark_is_ours_where_the_client_looks(
    places: Places, space: Workspace, place: str
) -> None:
    assert not is_ours(LOOP, space)
    put_ours(places(place), LOOP)
    assert is_ours(LOOP, space)
    assert not is_foreign(LOOP, space)
    assert not is_ours("ralph-status", space)


@pytest.mark.parametrize("place", ["user", "project", "nearer"])
def test_one_without_it_is_somebody_elses(places: Places, space: Workspace, place: str) -> None:
    assert not is_foreign(LOOP, space)
    put_foreign(places(place), LOOP)
    assert is_foreign(LOOP, space)
    assert not is_ours(LOOP, space)


ORDER = [
    pytest.param([("foreign", "project"), ("ours", "user")], True, id="the user's first"),
    pytest.param([("ours", "project"), ("foreign", "user")], False, id="foreign, of the user"),
    pytest.param([("ours", "nearer"), ("foreign", "project")], True, id="the nearer one"),
    pytest.param([("foreign", "nearer"), ("ours", "project")], False, id="foreign, nearer"),
    pytest.param([("ours", "user"), ("skill", "user")], False, id="a skill before a command"),
    pytest.param([("ours", "user"), ("skill", "project")], False, id="a project's skill as well"),
]
PUT = {"ours": put_ours, "foreign": put_foreign, "skill": put_skill}


@pytest.mark.parametrize(("files", "ours"), ORDER)
def test_of_two_files_the_one_counts_that_the_client_takes(
    places: Places, space: Workspace, files: list[tuple[str, str]], *, ours: bool
) -> None:
    for kind, place in files:
        PUT[kind](places(place), LOOP)
    assert is_ours(LOOP, space) == ours
    assert is_foreign(LOOP, space) != ours


def test_a_file_above_the_project_is_not_looked_at(places: Places, space: Workspace) -> None:
    put_ours(places("project").parent.parent / ".claude", LOOP)
    assert not is_ours(LOOP, space)


def test_a_file_of_ours_that_was_edited_stays_ours(places: Places, space: Workspace) -> None:
    path = put_ours(places("user"), LOOP)
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n") + b"And be kind.\r\n")
    assert is_ours(LOOP, space)


def test_so_does_one_behind_a_link(places: Places, space: Workspace, tmp_path: Path) -> None:
    path = put_ours(tmp_path / "dotfiles", LOOP)
    link = places("user") / "commands" / f"{LOOP}.md"
    link.parent.mkdir(parents=True)
    link.symlink_to(path)
    assert is_ours(LOOP, space)


NO_MARK = [
    pytest.param(b"", id="an empty file"),
    pytest.param(b"# sisyphus 0.1.0 0123456789abcdef x\n", id="the mark on the first line"),
    pytest.param(b"---\na: b\n# sisyphus 0.1.0 0123456789abcdef x\n---\n", id="on the third"),
    pytest.param(b"---\nabout: # sisyphus \n---\n", id="not at the line's beginning"),
    pytest.param(b"\xff\xfe\0\0" * 100, id="no text"),
]


@pytest.mark.parametrize("content", NO_MARK)
def test_a_mark_elsewhere_is_none(places: Places, space: Workspace, content: bytes) -> None:
    put(places("user") / "commands" / f"{LOOP}.md", content)
    assert is_foreign(LOOP, space)


@pytest.mark.parametrize("kind", ["folder", "fifo", "dangling link"])
def test_what_is_no_file_is_no_command(places: Places, space: Workspace, kind: str) -> None:
    path = places("user") / "commands" / f"{LOOP}.md"
    path.parent.mkdir(parents=True)
    if kind == "folder":
        path.mkdir()
    elif kind == "fifo":
        os.mkfifo(path)
    else:
        path.symlink_to(path.parent / "gone")
    assert not is_ours(LOOP, space)
    assert not is_foreign(LOOP, space)


def test_a_plugins_command_needs_no_file(places: Places, space: Workspace) -> None:
    put_foreign(places("user"), LOOP)
    assert is_ours("sisyphus:ralph-loop", space)
    assert not is_foreign("sisyphus:ralph-loop", space)


def test_other_names_are_nobodys(places: Places, space: Workspace) -> None:
    put_ours(places("user"), "review")
    assert not is_ours("review", space)
    assert not is_ours("../commands/ralph-loop", space)
    assert not is_foreign("review", space)


def test_another_clients_commands_are_not_looked_for_there(
    places: Places, space: Workspace
) -> None:
    put_foreign(places("user"), "ralph-status")
    there = Workspace(space.cwd, client="opencode")
    assert not is_foreign("ralph-status", there)
    assert is_foreign("ralph-status", space)


def test_a_text_for_people_has_the_name_that_is_typed_here(
    places: Places, space: Workspace
) -> None:
    put_ours(places("user"), LOOP)
    put_foreign(places("user"), "enforce")

    told = respelled("/sisyphus:ralph-loop, /sisyphus:enforce on; /sisyphus:checkpoint.", space)

    assert told == "/ralph-loop, /sisyphus:enforce on; /sisyphus:checkpoint."


def test_so_has_it_where_opencode_has_the_commands(home: Path, space: Workspace) -> None:
    put_ours(home / ".config/opencode", LOOP)

    assert respelled("/sisyphus:ralph-loop", space) == "/ralph-loop"


def test_in_opencode_every_command_is_bare(places: Places) -> None:
    space = Workspace(str(places("project")), client="opencode")

    assert respelled("/sisyphus:enforce stop", space) == "/enforce stop"
