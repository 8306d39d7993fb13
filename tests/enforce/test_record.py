from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sisyphus.enforce.record import SESSIONS, Entry, Record

if TYPE_CHECKING:
    from sisyphus._types import Json

SIX = ["iteration", "lastActivity", "lastEnforcement", "failureCount", "stopRequested", "status"]
ENTRY: Json = {
    "iteration": 2,
    "lastActivity": 1771559262783,
    "lastEnforcement": 1771559262484,
    "failureCount": 1,
    "stopRequested": True,
    "status": "x",
    "pending": True,
    "lastPrompt": 5,
    "lastStop": 6,
    "said": 7,
    "held": "a question",
    "ended": True,
    "tasks": {"t": 1.5},
    "from_a_friend": 7,
}


def _status(entry: Entry) -> str:
    return f"{entry.iteration} times"


def test_what_is_known_of_a_session_comes_back() -> None:
    assert Entry(ENTRY).as_json("x") == ENTRY


def test_what_is_known_of_a_project_comes_back() -> None:
    raw = Record({"on": True, "since": "now", "iteration": 3, "sessions": {"s1": ENTRY}, "z": 1})

    again = Record(raw.as_json(_status))

    assert again.as_json(_status) == raw.as_json(_status)
    assert (again.is_on, again.since, again.iteration, list(again.sessions)) == (
        True, "now", 3, ["s1"],
    )  # fmt: skip
    assert again.as_json(_status)["z"] == 1


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=5,
)
entries = st.dictionaries(st.sampled_from(sorted(ENTRY)), json_values)
records = st.fixed_dictionaries(
    {},
    optional={
        **dict.fromkeys(("on", "since", "iteration", "stopsAll", *SIX), json_values),
        "sessions": json_values | st.dictionaries(st.text(max_size=5), json_values | entries),
    },
)


@given(records)
def test_whatever_the_file_holds_can_be_used(raw: Json) -> None:
    record = Record(raw)
    for entry in record.sessions.values():
        assert isinstance(entry.held, str)
        for name in ("iteration", "last_activity", "last_enforcement", "failure_count"):
            assert type(getattr(entry, name)) is int
            assert getattr(entry, name) >= 0
    written = record.as_json(_status)
    assert Record(written).as_json(_status) == written


NAMES = ["../s", "", ".", "a/b", "x" * 129]


@pytest.mark.parametrize("name", NAMES)
def test_what_names_no_session_is_none(name: str) -> None:
    assert Record({"sessions": {name: {}, "s1": {}}}).sessions.keys() == {"s1"}


def test_a_session_that_is_met_is_free() -> None:
    assert not Record({}).entry("s1").stop_requested
    assert Record({"stopsAll": True}).entry("s1").stop_requested


def test_to_switch_it_on_begins_anew_and_ends_no_cooldown() -> None:
    record = Record({"iteration": 9, "stopsAll": True, "sessions": {"s1": ENTRY}})

    record.begin("2026")

    entry = record.entry("s1")
    assert (record.is_on, record.since, record.iteration, record.stops_all) == (
        True, "2026", 0, False,
    )  # fmt: skip
    assert (entry.iteration, entry.failure_count, entry.stop_requested, entry.pending) == (
        0, 0, False, False,
    )  # fmt: skip
    assert entry.last_enforcement == ENTRY["lastEnforcement"]


def _record(**sessions: Json) -> Record:
    return Record({"on": True, "iteration": 7, "sessions": sessions})


def test_the_projects_keys_sum_up_its_sessions() -> None:
    record = _record(
        a={"lastActivity": 10, "lastEnforcement": 9, "failureCount": 4, "iteration": 3},
        b={"lastActivity": 20, "lastEnforcement": 5, "failureCount": 1, "iteration": 4},
    )

    assert record.keys(_status) == {
        "iteration": 7,
        "lastActivity": 20,
        "lastEnforcement": 9,
        "failureCount": 4,
        "stopRequested": False,
        "status": "4 times",
    }


STOPPED: Json = {"stopRequested": True, "lastActivity": 9}
WORDS = [
    pytest.param({}, "CONTINUOUS", False, id="nobody is known"),
    pytest.param({"a": STOPPED}, "STOPPED", True, id="all are stopped"),
    pytest.param({"a": STOPPED, "b": {}}, "0 times", False, id="one is not"),
    pytest.param({"a": STOPPED, "b": {"ended": True}}, "STOPPED", True, id="the other has ended"),
    pytest.param({"b": {"ended": True}}, "0 times", False, id="all have ended"),
]


@pytest.mark.parametrize(("sessions", "word", "is_stopped"), WORDS)
def test_one_word_for_the_project(sessions: Json, word: str, is_stopped: bool) -> None:
    keys = _record(**sessions).keys(_status)

    assert (keys["status"], keys["stopRequested"]) == (word, is_stopped)
    off = Record({"sessions": sessions}).keys(_status)
    assert off["status"] == "OFF"


def test_the_sessions_that_were_last_at_work_are_remembered() -> None:
    record = Record({"sessions": {f"s{n}": {"lastActivity": n} for n in range(SESSIONS + 5)}})

    kept = record.as_json(_status)["sessions"]

    assert list(kept) == [f"s{n}" for n in range(SESSIONS + 4, 4, -1)]
