from __future__ import annotations

import stat
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from making import at_once, put, stored

from ralph.checklists.scene import AT, NOW, a_loop, save
from sisyphus.errors import NewerVersionError
from sisyphus.ralph.checklists import checklist_actions
from sisyphus.ralph.checklists.checklist_actions import Which
from sisyphus.ralph.checklists.checklist_store import checklist_path, read, update
from sisyphus.ralph.checklists.criteria import COMPLETED, added, listed

if TYPE_CHECKING:
    from sisyphus._types import Json

LATER = "2001-09-09T02:00:00.000Z"
LOOP = {"loop_id": "abcde", "session_id": "s1", "project": "/home/me/shop"}


@pytest.fixture
def ours(tmp_path: Path) -> str:
    return str(tmp_path / ".sisyphus")


def _add(ours: str, text: str, at: str = AT) -> Json:
    return update(ours, LOOP, at, lambda found: added(found, [text], at))


def test_a_checklist_says_whose_it_is(ours: str) -> None:
    _add(ours, "one")

    path = Path(checklist_path(ours, "abcde"))
    assert path == Path(ours, "ralph/checklists/abcde-checklist.json")
    found = stored(path)
    assert len(found.pop("completion_criteria")) == 1
    assert found == {
        "version": 1,
        "loop_id": "abcde",
        "session_id": "s1",
        "project": "/home/me/shop",
        "project_name": "shop",
        "created_at": AT,
        "updated_at": AT,
        "last_id": 1,
    }
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_change_is_dated(ours: str) -> None:
    _add(ours, "one")
    changed = _add(ours, "two", LATER)

    assert (changed["created_at"], changed["updated_at"]) == (AT, LATER)
    assert read(ours, "abcde") == changed


def test_what_changes_nothing_writes_nothing(ours: str) -> None:
    _add(ours, "one")

    assert _add(ours, "one", LATER)["updated_at"] == AT


def test_unknown_fields_stay(ours: str) -> None:
    put(Path(checklist_path(ours, "abcde")), '{"version": 1, "colour": "red"}')

    assert _add(ours, "one")["colour"] == "red"


def test_a_newer_version_is_read_and_not_written(ours: str) -> None:
    put(Path(checklist_path(ours, "abcde")), '{"version": 2, "colour": "red"}')

    with pytest.raises(NewerVersionError):
        _add(ours, "one")
    assert read(ours, "abcde") == {"version": 2, "colour": "red"}


def test_an_unreadable_file_is_set_aside(ours: str) -> None:
    path = put(Path(checklist_path(ours, "abcde")), "garbage")
    assert read(ours, "abcde") is None

    assert len(listed(_add(ours, "one"))) == 1
    assert [found.read_text() for found in path.parent.glob("*.corrupt-*")] == ["garbage"]


@pytest.mark.parametrize("loop_id", ["", "../x", "a/b"])
def test_an_unsafe_id_names_no_file(ours: str, loop_id: str) -> None:
    put(Path(ours, "ralph/x-checklist.json"), "{}")

    assert read(ours, loop_id) is None


def _tick(given: tuple[str, str]) -> int:
    ours, named = given
    found = checklist_actions.mark(Which(ours, NOW), [named], COMPLETED)
    return len(listed(found))


def test_twenty_at_once_lose_nothing(ours: str) -> None:
    save(ours, a_loop())
    checklist_actions.add(Which(ours, NOW), [f"criterion {number}" for number in range(20)])

    assert at_once(_tick, [(ours, str(number)) for number in range(1, 21)]) == [20] * 20

    found = read(ours, "abcde")
    assert found
    assert all(criterion.is_done for criterion in listed(found))
