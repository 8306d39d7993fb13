from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sisyphus.upkeep.cost import Cost, median, rows
from sisyphus.upkeep.summary import Summary

MEDIANS = [
    pytest.param([], None, id="none"),
    pytest.param([{}], None, id="empty"),
    pytest.param([{"3": 1}], 3, id="one"),
    pytest.param([{"3": 1, "20": 1, "100": 1}], 20, id="three"),
    pytest.param([{"3": 2, "20": 1}, {"1": 4}], 1, id="of two sessions"),
]


@pytest.mark.parametrize(("times", "middle"), MEDIANS)
def test_the_middle_one(times: list[dict[str, int]], middle: float | None) -> None:
    assert median(times) == middle


def test_hooks_are_counted_and_their_times_are_kept_by_two_digits() -> None:
    cost = Cost()
    for ms, blocked in ((20.04, False), (3.14, True), (19.9, False), (0, True)):
        cost.add(ms, blocked=blocked)
    assert (cost.hooks, cost.blocked, round(cost.ms, 2)) == (4, 2, 43.08)
    assert cost.times == {"20": 2, "3.1": 1}


@given(st.lists(st.floats(0, 1e10), max_size=20))
def test_what_was_kept_goes_on_as_if_it_had_never_ended(times: list[float]) -> None:
    whole, first = Cost(), Cost()
    for ms in times:
        whole.add(ms, blocked=False)
    for ms in times[:5]:
        first.add(ms, blocked=False)
    second = Cost(json.loads(json.dumps(first.as_json())))
    for ms in times[5:]:
        second.add(ms, blocked=False)
    assert (second.hooks, second.times) == (whole.hooks, whole.times)


NONSENSE: list[object] = [
    None,
    3,
    [],
    {"times": "x"},
    {"times": {"3": 1}},
    {"times": "3 "},
    {"times": "3 x "},
]


@pytest.mark.parametrize("known", NONSENSE)
def test_whatever_was_kept_can_be_read(known: object) -> None:
    cost = Cost(known)
    assert (cost.hooks, cost.times) == (0, {})
    cost.add(5, blocked=False)
    assert cost.times == {"5": 1}


def _session(name: str, *lines: dict[str, object]) -> Summary:
    one = Summary(name)
    for line in lines:
        one.take({"at": 1, "event": "stop", **line})
    return Summary(name, one.as_json())


def test_what_sessions_cost_together_is_told_by_event() -> None:
    sums = [
        _session("s1", {"ms": 3, "blocked": True}, {"ms": 20, "sent": 7}),
        _session("s2", {"ms": 3}, {"event": "idle", "ms": 9_000}),
    ]
    for _ in range(2):  # to add them up changes none of them
        assert rows(sums) == [
            {"event": "stop", "hooks": 3, "ms": 26, "median_ms": 3, "blocked": 1},
            {"event": "idle", "hooks": 1, "ms": 0, "median_ms": None, "blocked": 0},
        ]
