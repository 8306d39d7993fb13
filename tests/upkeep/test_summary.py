from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sisyphus.upkeep.summary import Summary, median

if TYPE_CHECKING:
    from sisyphus._types import Json

AT = 1_795_186_800.5


def _of(*entries: Json) -> Summary:
    found = Summary("s1")
    for entry in entries:
        found.take(entry)
    return found


def test_hooks_are_counted_and_their_time_is_added() -> None:
    found = _of(
        {"at": AT, "event": "session-start", "ms": 20.04, "sent": 100, "project": "/p", "run": "r"},
        {"at": AT + 60, "event": "stop", "ms": 3.14, "sent": 11, "blocked": True},
        {"at": AT + 30, "event": "stop", "ms": 123.4, "project": "/q"},
    )
    assert (found.began, found.ended) == (AT, AT + 60)
    assert (found.project, found.client, found.run) == ("/p", "", "r")
    assert (found.hooks, found.sent, found.blocked) == (3, 111, 1)
    assert found.as_json()["ms"] == 146.6
    assert found.times == {"20": 1, "3.1": 1, "1.2e+02": 1}


NOT_COUNTED = [
    pytest.param({"event": "command", "ms": 5}, (0, 0, 0), id="what a command line did"),
    pytest.param({"event": "idle", "ms": 5_000_000, "blocked": True}, (1, 0, 1), id="a wait"),
    pytest.param(
        {"event": "user-prompt-submit", "ms": 5, "blocked": True}, (1, 5, 0), id="an answer"
    ),
    pytest.param({"event": "stop", "ms": -1, "sent": True, "blocked": 1}, (1, 0, 0), id="nonsense"),
]


@pytest.mark.parametrize(("entry", "counted"), NOT_COUNTED)
def test_what_costs_nobody_time_is_left_out(entry: Json, counted: tuple[int, ...]) -> None:
    found = _of(entry)
    assert (found.hooks, found.ms, found.blocked) == counted


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


ANY = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text() | st.integers(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=4,
)
NAMES = ("at", "event", "ms", "sent", "blocked", "project", "client", "run", "times", "new")


@given(st.lists(st.dictionaries(st.sampled_from(NAMES), ANY), max_size=4))
def test_any_lines_come_to_something_that_can_be_kept(entries: list[Json]) -> None:
    found = _of(*entries)
    kept = json.loads(json.dumps(found.as_json(), allow_nan=False))
    assert Summary("s1", kept).as_json() == found.as_json()


@given(st.dictionaries(st.sampled_from((*NAMES, "began", "ended", "hooks")), ANY))
def test_whatever_was_kept_can_be_read(known: Json) -> None:
    json.dumps(Summary("s1", known).as_json(), allow_nan=False)
    median([Summary("s1", known).times])
