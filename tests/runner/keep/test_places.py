from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from making import put
from ralph.repositories import a_repository, git

from sisyphus.errors import SisyphusError
from sisyphus.runner.keep.places import IGNORED, Places
from sisyphus.workspace import Workspace

if TYPE_CHECKING:
    from pathlib import Path

OURS = ["", "ralph-state.json", "PROMPT.md", "progress.txt"]


def test_the_files_lie_in_the_project_and_the_record_at_home(project: Path, home: Path) -> None:
    places = Places(Workspace(str(project)))

    assert places.state == str(project / ".claude" / "ralph-state.json")
    assert places.prompt == str(project / ".claude" / "PROMPT.md")
    assert places.record.startswith(str(home / ".claude" / ".sisyphus" / "ralph" / "runs"))


@pytest.mark.parametrize("name", OURS)
@pytest.mark.parametrize("is_there", [True, False], ids=["it is there", "it leads nowhere yet"])
def test_a_link_that_leaves_the_project_is_refused(
    project: Path, tmp_path: Path, name: str, *, is_there: bool
) -> None:
    outside = tmp_path / "outside"
    path = project / ".claude" / name if name else project / ".claude"
    path.parent.mkdir(exist_ok=True)
    path.symlink_to(outside)
    if is_there:
        outside.mkdir() if not name else outside.write_text("{}")

    with pytest.raises(SisyphusError, match="is a link that leaves the project"):
        Places(Workspace(str(project)))


def test_a_link_that_comes_later_is_refused_too(project: Path, tmp_path: Path) -> None:
    places = Places(Workspace(str(project)))
    places.prepare(places.progress)
    (project / ".claude" / "progress.txt").symlink_to(tmp_path / "x")

    with pytest.raises(SisyphusError, match="is a link that leaves"):
        places.prepare(places.progress)
    places.prepare(places.state)


def test_a_link_within_the_project_is_fine(project: Path) -> None:
    (project / "agent").mkdir()
    (project / ".claude").symlink_to(project / "agent")

    places = Places(Workspace(str(project)))
    places.prepare(places.prompt)
    assert os.listdir(project / "agent") == []


def test_the_user_may_name_the_state_file(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RALPH_STATE_FILE", str(tmp_path / "other" / "state.json"))
    places = Places(Workspace(str(project)))
    places.prepare(places.state)

    assert places.state == str(tmp_path / "other" / "state.json")
    assert (tmp_path / "other").is_dir()
    assert places.prompt == str(project / ".claude" / "PROMPT.md")


# --- room ---------------------------------------------------------------------------------------


def test_a_file_in_the_way_is_said(project: Path) -> None:
    put(project / ".claude", "a file in the way of the folder")

    with pytest.raises(SisyphusError, match=r"\.claude, and nothing can be written there: .*Make"):
        Places(Workspace(str(project))).check_room()


def test_a_folder_that_takes_no_file_is_said(project: Path) -> None:
    put(project / ".claude" / "PROMPT.md.tmp" / "x", "in the way")

    with pytest.raises(SisyphusError, match="nothing can be written there"):
        Places(Workspace(str(project))).check_room()


def test_where_there_is_room_nothing_is_left_of_the_question(project: Path) -> None:
    put(project / ".claude" / "PROMPT.md.tmp", "of a writer that was killed")
    Places(Workspace(str(project))).check_room()

    assert os.listdir(project / ".claude") == [".gitignore"]


# --- git ----------------------------------------------------------------------------------------


def test_a_run_does_not_show_up_in_git(tmp_path: Path) -> None:
    root = a_repository(tmp_path / "shop")
    places = Places(Workspace(str(root)))
    places.prepare(places.prompt)
    for name in ("PROMPT.md", "progress.txt", "ralph-state.json", "ralph-state.json.corrupt-1"):
        put(root / ".claude" / name, "x")
    put(root / ".claude" / "handoffs" / "a.md", "x")
    put(root / ".claude" / "settings.json", "{}")

    assert git(root, "status", "--porcelain", "-uall").split() == ["??", ".claude/settings.json"]


def test_what_the_user_has_git_ignore_is_left_alone(project: Path) -> None:
    path = put(project / ".claude" / ".gitignore", "theirs\n")
    places = Places(Workspace(str(project)))
    places.prepare(places.prompt)

    assert path.read_text() == "theirs\n"


def test_a_link_in_its_place_is_not_followed(project: Path, tmp_path: Path) -> None:
    (project / ".claude").mkdir()
    (project / ".claude" / ".gitignore").symlink_to(tmp_path / "outside")
    places = Places(Workspace(str(project)))
    places.prepare(places.prompt)

    assert not (tmp_path / "outside").exists()
    assert IGNORED.startswith("/.gitignore\n")


# --- ids ----------------------------------------------------------------------------------------

UNSAFE = ["", "../x", "/abs", "a/b", "a\0", "..", "x" * 200]


@pytest.mark.parametrize("loop_id", UNSAFE)
def test_an_unsafe_id_names_no_file(project: Path, loop_id: str) -> None:
    with pytest.raises(SisyphusError, match="is no id of a loop"):
        Places(Workspace(str(project))).stem(loop_id, 1)
