from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from sisyphus.boulder.kord.notes import Notes

if TYPE_CHECKING:
    from sisyphus._types import Json

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=8,
)
NAMES = [*Notes({}).as_json(), "shelf"]

KNOWN = {
    "checkpoint": {"message": "half way", "timestamp": "2026-01-01T00:00:00Z", "author": "ann"},
    "by": "user",
    "said": "half way",
    "tasks": [7, 9],
    "ticked": 3,
    "todos": [{"id": "t1", "content": "dig", "status": "pending", "due": "May"}],
    "owners": {"t1": "s1"},
    "wave": 2,
    "story": "S07",
    "done": ["S01", "wave 1"],
    "mark": "open 3",
    "crc": 7,
    "size": 9,
    "shelf": [1],
}
WRONG = {
    "checkpoint": {"message": 7},
    "by": 1,
    "todos": ["dig", {"id": "t1"}],
    "owners": {"t1": 7},
    "wave": True,
    "story": ["S07"],
    "done": "S01",
    "mark": None,
    "crc": "7",
    "size": 1.5,
    "said": 7,
    "tasks": ["7"],
    "ticked": "3",
}


def test_notes_are_kept_as_they_are_with_what_they_do_not_know() -> None:
    assert Notes(KNOWN).as_json() == KNOWN


def test_nothing_is_known_of_a_new_plan() -> None:
    notes = Notes({})
    assert (notes.checkpoint, notes.todos, notes.done, notes.wave) == (None, [], None, None)


def test_fields_of_a_wrong_type_are_as_if_they_were_not_there() -> None:
    assert Notes(WRONG).as_json() == {**Notes({}).as_json(), "todos": [{"id": "t1"}]}


@given(st.dictionaries(st.sampled_from(NAMES), JSON))
def test_whatever_is_found_becomes_notes_that_are_read_again_as_they_are(found: Json) -> None:
    once = Notes(found).as_json()
    assert Notes(once).as_json() == once
    assert once.get("shelf") == found.get("shelf")
