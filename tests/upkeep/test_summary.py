from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sisyphus.upkeep.cost import median
from sisyphus.upkeep.sent import CHARACTERS, TEXTS
from sisyphus.upkeep.summary import Summary

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


def test_each_event_has_its_own_sums() -> None:
    found = _of(
        {"at": AT, "event": "stop", "ms": 3, "blocked": True},
        {"at": AT, "event": "stop", "ms": 5},
        {"at": AT, "event": "idle", "ms": 50_000},
        {"at": AT, "event": "command", "ms": 7},
        {"at": AT, "ms": 7},
    )
    sums = {name: (cost.hooks, cost.ms, cost.blocked) for name, cost in found.events.items()}
    assert sums == {"stop": (2, 8, 1), "idle": (1, 0, 0), "": (1, 7, 0)}
    assert found.events["stop"].times == {"3": 1, "5": 1}


def test_texts_are_counted_with_the_last_time() -> None:
    found = _of(
        {"at": AT, "event": "post-tool-use", "sent": 9, "texts": ["rules a.md", "loop"]},
        {"at": AT + 9, "event": "post-tool-use", "sent": 9, "texts": ["rules a.md"]},
        {"at": AT + 5, "event": "post-tool-use", "sent": 9, "notes": ["sent AGENTS.md"]},
        {"at": AT + 6, "event": "stop", "sent": 0, "texts": ["rules b.md"]},
    )
    assert found.texts == {
        "rules a.md": (2, AT + 9), "loop": (1, AT), "agents AGENTS.md": (1, AT + 5),
    }  # fmt: skip


def test_a_summary_goes_on_from_what_was_kept() -> None:
    lines = [
        {"at": AT + n, "event": "stop", "ms": n, "sent": 9, "texts": [f"rules {n % 3}"]}
        for n in range(9)
    ]
    first = _of(*lines[:5])
    second = Summary("s1", first.as_json())
    for line in lines[5:]:
        second.take(line)
    assert second.as_json() == _of(*lines).as_json()
    assert first.as_json() == _of(*lines[:5]).as_json()


MANY = [
    pytest.param([f"rules {n}" for n in range(TEXTS + 9)], TEXTS, id="many"),
    pytest.param([f"rules {n:0250}" for n in range(TEXTS)], CHARACTERS // 256, id="long"),
]


@pytest.mark.parametrize(("texts", "count"), MANY)
def test_one_session_remembers_only_so_many_texts(texts: list[str], count: int) -> None:
    found = _of({"at": AT, "sent": 9, "texts": texts}, {"at": AT, "sent": 9, "texts": texts[:1]})
    assert len(found.texts) == count
    assert found.texts[texts[0]] == (2, AT)


def test_events_that_are_none_do_not_pile_up() -> None:
    found = _of(*({"at": AT, "event": f"{n}" * 99, "ms": 1} for n in range(500)))
    assert len(found.events) == 40
    assert sum(cost.hooks for cost in found.events.values()) == found.hooks == 500
    assert max(map(len, found.events)) == 40


ANY = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text() | st.integers(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=4,
)
NAMES = (
    "at",
    "event",
    "ms",
    "sent",
    "blocked",
    "project",
    "client",
    "run",
    "times",
    "texts",
    "notes",
)


@given(st.lists(st.dictionaries(st.sampled_from(NAMES), ANY), max_size=4))
def test_any_lines_come_to_something_that_can_be_kept(entries: list[Json]) -> None:
    found = _of(*entries)
    kept = json.loads(json.dumps(found.as_json(), allow_nan=False))
    assert Summary("s1", kept).as_json() == found.as_json()


@given(st.dictionaries(st.sampled_from((*NAMES, "began", "ended", "hooks", "events")), ANY))
def test_whatever_was_kept_can_be_read(known: Json) -> None:
    found = Summary("s1", known)
    json.dumps(found.as_json(), allow_nan=False)
    median([found.times, *(cost.times for cost in found.events.values())])
