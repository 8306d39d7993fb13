from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph.checklists.scene import AT
from sisyphus.errors import SisyphusError
from sisyphus.ralph.checklists.criteria import (
    COMPLETED,
    IN_PROGRESS,
    MOST,
    PENDING,
    TEXT_CHARACTERS,
    added,
    listed,
    marked,
    removed,
)

if TYPE_CHECKING:
    from sisyphus._types import Json

LATER = "2001-09-09T02:00:00.000Z"


def _three() -> Json:
    return added({}, ["one", "two", "three"], AT)


def _shown(found: Json) -> list[tuple[str, str, str]]:
    return [(c.id, c.text, c.status) for c in listed(found)]


def test_a_new_criterion_waits() -> None:
    assert added({}, ["tests pass"], AT)["completion_criteria"] == [
        {
            "id": "1",
            "text": "tests pass",
            "status": "pending",
            "created_at": AT,
            "completed_at": None,
            "completed_iteration": None,
        }
    ]


def test_criteria_are_numbered_in_the_order_in_which_they_came() -> None:
    found = added(_three(), ["four"], LATER)

    assert [(c.id, c.text) for c in listed(found)][2:] == [("3", "three"), ("4", "four")]


TEXTS = [
    pytest.param("a\n  b\tc", "a b c", id="one line"),
    pytest.param("\x1b[31mred\u202e", "[31mred", id="nothing that does something"),
    pytest.param("é🎉", "é🎉", id="any script"),
    pytest.param("x" * TEXT_CHARACTERS, "x" * TEXT_CHARACTERS, id="as long as it may be"),
    pytest.param("x" * 5_000, "x" * (TEXT_CHARACTERS - 3) + "...", id="too long"),
]


@pytest.mark.parametrize(("text", "expected"), TEXTS)
def test_a_text_is_one_line_of_bounded_length(text: str, expected: str) -> None:
    assert [c.text for c in listed(added({}, [text], AT))] == [expected]


def test_a_text_that_is_there_is_not_added_again() -> None:
    found = added(_three(), ["two", "four", "four", " one "], LATER)

    assert [c.text for c in listed(found)] == ["one", "two", "three", "four"]
    assert added(found, ["four"], LATER) == found


@pytest.mark.parametrize("text", ["", "  ", "\n", "\0"], ids=repr)
def test_an_empty_text_says_nothing(text: str) -> None:
    with pytest.raises(SisyphusError, match="is empty"):
        added({}, ["good", text], AT)


def test_a_checklist_has_an_end() -> None:
    full = added({}, [f"n{number}" for number in range(MOST)], AT)

    with pytest.raises(SisyphusError, match="at most 100"):
        added(full, ["one more"], AT)
    assert added(full, ["n1"], AT) == full


def test_a_ticked_criterion_knows_when_and_in_which_iteration() -> None:
    found = marked(_three(), ["2"], COMPLETED, LATER, 7)

    assert [c.is_done for c in listed(found)] == [False, True, False]
    raw = found["completion_criteria"][1]
    assert (raw["completed_at"], raw["completed_iteration"]) == (LATER, 7)


def test_what_is_done_stays_done_since_then() -> None:
    found = marked(_three(), ["2"], COMPLETED, AT, 7)

    assert marked(found, ["2"], COMPLETED, LATER, 8) == found


@pytest.mark.parametrize("status", [PENDING, IN_PROGRESS])
def test_what_is_not_done_after_all_was_never_completed(status: str) -> None:
    found = marked(marked(_three(), ["2"], COMPLETED, AT, 7), ["2"], status, LATER, 8)

    assert _shown(found)[1] == ("2", "two", status)
    raw = found["completion_criteria"][1]
    assert (raw["completed_at"], raw["completed_iteration"]) == (None, None)


def test_of_several_unknown_numbers_nothing_is_changed() -> None:
    with pytest.raises(SisyphusError, match=r"called '9'; there are 1, 2, 3\."):
        marked(_three(), ["1", "9"], COMPLETED, AT, 1)
    with pytest.raises(SisyphusError, match="called 'two'; the checklist is empty"):
        removed({}, ["two"])


def test_a_number_is_never_given_again() -> None:
    found = removed(_three(), ["3", "1"])
    assert _shown(found) == [("2", "two", PENDING)]

    assert _shown(added(removed(found, ["2"]), ["new"], LATER)) == [("4", "new", PENDING)]


STRANGE = [
    pytest.param("text", id="text"),
    pytest.param({}, id="nothing"),
    pytest.param({"id": "1"}, id="no text"),
    pytest.param({"id": "x", "text": "t"}, id="no number"),
    pytest.param({"id": "٣", "text": "t"}, id="digits of another script"),
    pytest.param({"id": "1" * 10, "text": "t"}, id="a long number"),
    pytest.param({"id": None, "text": "t"}, id="no id"),
]


@pytest.mark.parametrize("strange", STRANGE)
def test_what_is_no_criterion_is_passed_over_and_stays(strange: Any) -> None:
    found = {"completion_criteria": [strange], "ours": "?", "last_id": 3}
    assert listed(found) == []

    changed = marked(added(found, ["new"], AT), ["4"], IN_PROGRESS, AT, 1)

    assert _shown(changed) == [("4", "new", IN_PROGRESS)]
    assert (changed["completion_criteria"][0], changed["ours"]) == (strange, "?")


def test_unknown_fields_and_strange_values_of_a_criterion_are_put_up_with() -> None:
    raw = {"id": 7, "text": "a\nb", "status": ["?"], "by": "me"}
    found = {"completion_criteria": [raw], "last_id": "x"}

    assert _shown(found) == [("7", "a b", PENDING)]
    assert marked(found, ["7"], COMPLETED, AT, 1)["completion_criteria"][0]["by"] == "me"
    assert _shown(added(found, ["new"], AT))[1][0] == "8"


@pytest.mark.parametrize("last", [-5, 10**30, True, None, "9"], ids=repr)
def test_a_strange_last_number_is_none(last: object) -> None:
    assert _shown(added({"last_id": last}, ["new"], AT)) == [("1", "new", PENDING)]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@given(st.fixed_dictionaries({}, optional={"completion_criteria": JSON, "last_id": JSON}))
def test_whatever_the_file_holds_a_criterion_can_be_added_and_ticked(found: Json) -> None:
    changed = added(found, ["a text of ours"], AT)
    new = listed(changed)[-1]

    assert len(listed(changed)) == len(listed(found)) + 1
    assert listed(marked(changed, [new.id], COMPLETED, AT, 1))[-1].is_done
