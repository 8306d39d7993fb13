from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sisyphus.ralph.memory import REMEMBERED_STARTS, Memory

FULL = {
    "version": 1,
    "transcript": "/t",
    "offset": 5,
    "starts": ["a", "b"],
    "blocks": 2,
    "blocked_at": 7.5,
    "tasks": {"t": 1.5},
    "forked_at": "2026",
    "met_at": "",
    "cancelled_at": "2027",
    "agents": {"agent-1.jsonl": 9},
    "spent": {"msg_1": 12},
    "news": ["the loop was paused"],
    "heard": "p1",
    "from_a_friend": 7,
}


def test_what_was_remembered_comes_back() -> None:
    memory = Memory(FULL)

    assert (memory.offset, memory.starts, memory.blocks) == (5, ["a", "b"], 2)
    assert memory.blocked_at == 7.5
    assert (memory.tasks, memory.forked_at) == ({"t": 1.5}, "2026")
    assert memory.as_json() == FULL
    assert not memory.has_changed()
    assert not memory.is_new


def test_nothing_remembered_is_not_worth_a_file() -> None:
    memory = Memory({})

    assert memory.is_new
    assert not memory.has_changed()

    memory.blocks = 1
    assert memory.has_changed()


@pytest.mark.parametrize("value", [None, 7.5, "x", [], {}, True, -1], ids=repr)
def test_fields_of_a_wrong_type_count_as_missing(value: object) -> None:
    memory = Memory(dict.fromkeys(FULL, value))

    assert memory.offset >= 0
    assert memory.blocks >= 0
    assert isinstance(memory.transcript, str)
    assert isinstance(memory.cancelled_at, str)
    assert all(isinstance(name, str) for name in memory.starts)
    assert (memory.tasks, memory.agents, memory.spent) == ({}, {}, {})


def test_strange_items_are_passed_over() -> None:
    memory = Memory({"starts": ["a", 7, None], "tasks": {"a": 1, "b": "x", "c": -1, "d": 10**400}})

    assert (memory.starts, memory.tasks) == (["a"], {"a": 1.0})


@pytest.mark.parametrize("name", ["agents", "spent"])
def test_counts_that_cannot_be_are_passed_over(name: str) -> None:
    memory = Memory({name: {"a": 5, "b": -1, "c": "5", "d": 1.5, "e": True, "f": None, "g": 0}})

    assert getattr(memory, name) == {"a": 5, "g": 0}


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=5,
)


@given(st.dictionaries(st.sampled_from(sorted(FULL)), json_values))
def test_whatever_the_file_holds_can_be_remembered(raw: dict[str, object]) -> None:
    memory = Memory(raw)
    memory.begin_anew("/t", 5, {})
    memory.count({"a": 1}, {"a": 1})
    memory.learn({"a"})

    again = Memory(memory.as_json())
    assert again.as_json() == memory.as_json()
    assert (again.transcript, again.offset, again.spent, again.starts) == ("/t", 5, {"a": 1}, ["a"])


def test_an_answer_that_has_grown_counts_by_what_it_grew() -> None:
    memory = Memory({})

    assert memory.count({"m1": 5, "m2": 3}, {"m2": 3}) == 8
    assert memory.count({"m2": 7, "m3": 1}, {"m3": 1}) == 5
    assert memory.spent == {"m3": 1}


def test_an_answer_that_shrank_costs_nothing() -> None:
    memory = Memory({"spent": {"m1": 9}})

    assert memory.count({"m1": 5}, {"m1": 5}) == 0


def test_while_nothing_is_answered_the_last_answer_stays() -> None:
    memory = Memory({"spent": {"m1": 9}})

    assert memory.count({}, {}) == 0
    assert memory.spent == {"m1": 9}


def test_the_offset_is_that_of_one_transcript() -> None:
    memory = Memory(FULL)

    assert (memory.offset_in("/t"), memory.offset_in("/other")) == (5, 0)


def test_a_new_loop_begins_with_a_clean_sheet() -> None:
    memory = Memory(FULL)
    memory.begin_anew("/u", 9, {"agent-1.jsonl": 7})

    assert (memory.transcript, memory.offset, memory.blocks) == ("/u", 9, 0)
    assert memory.agents == {"agent-1.jsonl": 7}
    assert memory.tasks == {"t": 0.0}
    assert memory.starts == ["a", "b"]


def test_new_names_come_last_and_forgotten_ones_go() -> None:
    memory = Memory({"starts": ["b", "a"]})
    memory.learn({"a", "d", "c", ""})

    assert memory.starts == ["a", "c", "d"]


def test_of_very_many_starts_the_latest_are_remembered() -> None:
    memory = Memory({})
    memory.starts = [str(number) for number in range(REMEMBERED_STARTS + 5)]

    assert memory.as_json()["starts"][0] == "5"
