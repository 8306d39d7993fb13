from __future__ import annotations

import json
import os
import stat
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from making import put

from boulder.kord.test_notes import JSON
from sisyphus.boulder.kord.file import RECORD_BYTES, RecordFile, Text, read_boulder_state
from sisyphus.boulder.kord.record import problem, render
from sisyphus.boulder.store import own_record_path, record_in_project

if TYPE_CHECKING:
    from collections.abc import Callable

RECORD = {"activePlan": "PLAN.md", "squad": "red"}


def place(project: Path) -> Path:
    return Path(record_in_project(str(project)))


def look(project: Path) -> RecordFile:
    return RecordFile(str(place(project)), str(project))


def test_the_state_of_a_project_without_a_file_is_empty(project: Path) -> None:
    assert read_boulder_state(str(project)) == {}
    assert not (project / "docs").exists()


def test_the_state_of_a_project_is_what_its_file_says(project: Path) -> None:
    put(place(project), json.dumps(RECORD))
    assert read_boulder_state(str(project)) == RECORD


SPOILT = [
    pytest.param(b"", "no JSON", id="empty"),
    pytest.param(b'{"activePlan": ', "no JSON", id="half written"),
    pytest.param(b'<<<<<<< HEAD\n{}\n=======\n{"a": 1}\n>>>>>>> b\n', "no JSON", id="conflict"),
    pytest.param(b"[" * 100_000, "no JSON", id="deep"),
    pytest.param(b"[1]", "no object", id="a list"),
    pytest.param(b"\xff", "not UTF-8", id="not UTF-8"),
    pytest.param(b"{}\0", "binary", id="binary"),
    pytest.param(b'{"version": 2, "todos": 7}', "todos is not a list", id="newer, and unknown"),
    pytest.param(b'{"todos": 7}', "todos is not a list", id="wrong type"),
    pytest.param(b" " * (RECORD_BYTES + 1), "too large", id="large"),
]


@pytest.mark.parametrize(("data", "why"), SPOILT)
def test_a_file_that_cannot_be_understood_is_not_used_nor_written(
    project: Path, data: bytes, why: str
) -> None:
    path = put(place(project), data)

    found = look(project)

    assert why in found.problem
    assert "\n" not in found.problem
    assert not found.write(Text({"squad": "blue"}))
    assert path.read_bytes() == data
    assert read_boulder_state(str(project)) == {}


@pytest.mark.parametrize("make", [os.mkdir, os.mkfifo], ids=["folder", "pipe"])
def test_what_is_no_file_is_not_used_nor_waited_for(
    project: Path, make: Callable[[Path], None]
) -> None:
    place(project).parent.mkdir(parents=True)
    make(place(project))
    assert look(project).problem
    assert not look(project).write(Text(RECORD))


@pytest.mark.parametrize("target", ["outside", "nowhere", "inside"])
def test_a_link_is_neither_followed_nor_replaced(
    project: Path, tmp_path: Path, target: str
) -> None:
    real = (project if target == "inside" else tmp_path) / "package.json"
    if target != "nowhere":
        put(real, '{"name": "shop", "todos": []}')
    place(project).parent.mkdir(parents=True)
    place(project).symlink_to(real)

    found = look(project)

    assert "reached by a link" in found.problem
    assert not found.write(Text(RECORD))
    assert place(project).is_symlink()
    assert target == "nowhere" or json.loads(real.read_text()) == {"name": "shop", "todos": []}


def test_a_folder_that_is_a_link_is_not_written_into(project: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (project / "docs").symlink_to(tmp_path / "elsewhere")
    assert not look(project).write(Text(RECORD))
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_a_record_is_written_for_people_to_read(project: Path) -> None:
    assert look(project).write(Text({"activePlan": "PLAN.md", "by": "Zoë"}))
    assert place(project).read_text() == '{\n  "activePlan": "PLAN.md",\n  "by": "Zoë"\n}\n'
    assert [path.name for path in place(project).parent.iterdir()] == ["boulder.json"]


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o664])
def test_the_mode_of_a_file_in_the_project_stays(project: Path, mode: int) -> None:
    put(place(project), "{}").chmod(mode)
    look(project).write(Text(RECORD))
    assert stat.S_IMODE(place(project).stat().st_mode) == mode


def test_a_new_file_in_the_project_is_for_everybody_and_ours_for_its_user(
    project: Path, home: Path
) -> None:
    look(project).write(Text(RECORD))
    assert stat.S_IMODE(place(project).stat().st_mode) == 0o644
    own = own_record_path(str(home / ".claude"), str(project))
    assert RecordFile(own, str(project)).write(Text(RECORD))
    assert stat.S_IMODE(os.stat(own).st_mode) == 0o600


def test_what_somebody_wrote_since_it_was_read_is_not_overwritten(project: Path) -> None:
    path = put(place(project), json.dumps(RECORD))
    found = look(project)
    put(path, '{"squad": "blue"}')
    assert not found.write(Text({"squad": "green"}))
    assert path.read_text() == '{"squad": "blue"}'


def test_a_file_that_came_or_went_since_it_was_read_is_somebody_elses_doing(project: Path) -> None:
    found = look(project)
    path = put(place(project), "{}")
    assert not found.write(Text(RECORD))
    found = look(project)
    path.unlink()
    assert not found.write(Text(RECORD))
    assert not path.exists()


def test_a_file_may_be_written_twice_after_one_look(project: Path) -> None:
    found = look(project)
    assert [found.write(Text({"squad": name})) for name in ("red", "blue")] == [True, True]
    assert read_boulder_state(str(project)) == {"squad": "blue"}
    assert look(project).crc == found.crc


HALF = st.sampled_from(["\ud800", "a\udfff"])


@given(st.dictionaries(st.text(max_size=5) | HALF, JSON | HALF, max_size=5))
def test_what_was_loaded_is_saved_with_all_it_does_not_know(found: dict[str, object]) -> None:
    if problem(found):
        return
    with tempfile.TemporaryDirectory() as folder:
        path = put(place(Path(folder)), json.dumps(found))
        here = RecordFile(str(path), folder)
        assert here.write(Text(render(here.found, {"activePlan": "PLAN.md"})))
        saved = json.loads(path.read_text())
    ours = {"activePlan", "currentWave", "currentStory", "checkpoint", "progress", "todos"}
    assert {n: v for n, v in saved.items() if n not in ours} == {
        n: v for n, v in found.items() if n not in ours
    }


def test_what_a_newer_program_wrote_is_read_and_not_written(project: Path) -> None:
    path = put(place(project), '{"version": 2, "activePlan": "PLAN.md"}')

    found = look(project)

    assert "written by a newer program" in found.problem
    assert found.is_usable
    assert not found.write(Text({"squad": "blue"}))
    assert path.read_text() == '{"version": 2, "activePlan": "PLAN.md"}'
    assert read_boulder_state(str(project)) == {"version": 2, "activePlan": "PLAN.md"}
