from __future__ import annotations

import pytest

from sisyphus.ralph.memory import REMEMBERED_STARTS, Memory

FULL = {
    "version": 1,
    "transcript": "/t",
    "offset": 5,
    "starts": ["a", "b"],
    "blocks": 2,
    "tasks": {"t": 1.5},
    "forked_at": "2026",
    "met_at": "",
    "from_a_friend": 7,
}


def test_what_was_remembered_comes_back() -> None:
    memory = Memory(FULL)

    assert (memory.offset, memory.starts, memory.blocks) == (5, ["a", "b"], 2)
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
    assert all(isinstance(name, str) for name in memory.starts)
    assert memory.tasks == {}


def test_strange_items_are_passed_over() -> None:
    memory = Memory({"starts": ["a", 7, None], "tasks": {"a": 1, "b": "x"}})

    assert (memory.starts, memory.tasks) == (["a"], {"a": 1.0})


def test_the_offset_is_that_of_one_transcript() -> None:
    memory = Memory(FULL)

    assert (memory.offset_in("/t"), memory.offset_in("/other")) == (5, 0)


def test_a_new_loop_begins_with_a_clean_sheet() -> None:
    memory = Memory(FULL)
    memory.begin_anew("/u", 9)

    assert (memory.transcript, memory.offset, memory.blocks) == ("/u", 9, 0)
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
