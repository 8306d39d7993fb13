from __future__ import annotations

from typing import Any

import pytest

from sisyphus.dashboard.views.tally import Tally
from sisyphus.ralph.past import records
from sisyphus.ralph.past.records import Record
from sisyphus.upkeep.summary import Summary


def _session(name: str, *lines: dict[str, Any], at: float = 1) -> Summary:
    one = Summary(name)
    for number, line in enumerate(lines):
        one.take({"at": at + number, "event": "stop", **line})
    return one


def _many(count: int, at: float = 1) -> Summary:
    return _session("s1", *[{"ms": 3, "blocked": True}] * count, at=at)


def _loop(name: str, outcome: str = "", session: str = "s1", at: str = "2026-11-20") -> Record:
    record = Record(name, session)
    record.status, record.outcome = records.COMPLETED if outcome else records.LOST, outcome
    record.started_at = at
    return record


def _looks(*looks: list[Summary]) -> Tally:
    tally = Tally()
    for sums in looks:
        tally.see(lambda sums=sums: sums, list)  # type: ignore[misc]  # one look each
    return tally


def _ends(*looks: list[Record]) -> dict[str, int]:
    tally = Tally()
    for loops in looks:
        tally.see(list, lambda loops=loops: loops)  # type: ignore[misc]  # one look each
    return dict(tally.outcomes)


def test_what_the_first_look_finds_is_known_and_not_counted() -> None:
    tally = _looks([_many(50)])
    assert (tally.hooks, tally.blocked.total()) == ({"stop": 0}, 0)
    assert (tally.ms, tally.times) == ({"stop": 0}, {"stop": {}})
    assert _ends([_loop("l1", "success")]) == {"success": 0}


def test_hooks_are_counted_by_event() -> None:
    tally = _looks(
        [],
        [
            _session("s1", {"ms": 3, "blocked": True}, {"ms": 20}),
            _session("s2", {"ms": 3}, {"event": "idle", "ms": 9_000}),
        ],
    )
    assert tally.hooks == {"stop": 3, "idle": 1}
    assert (tally.ms, tally.blocked["stop"]) == ({"stop": 26, "idle": 0}, 1)
    assert tally.times == {"stop": {"3": 2, "20": 1}, "idle": {}}


SEEN = [
    pytest.param([_many(3), _many(5)], 2, id="it goes on"),
    pytest.param([_many(3), _many(3)], 0, id="nothing came"),
    pytest.param([_many(50), _many(1, at=60)], 1, id="purged, its session goes on"),
    pytest.param([_many(3), _many(8, at=60)], 8, id="purged, and longer than before by now"),
    pytest.param([_many(50), _many(1)], 1, id="it shrank"),
    pytest.param([_many(50), None], 0, id="removed"),
    pytest.param([_many(3), None, _many(3)], 0, id="out of sight for a moment"),
    pytest.param([_many(3), None, _many(2, at=60)], 2, id="removed, and another one"),
    pytest.param([_many(3), None, None, _many(2), _many(4)], 4, id="and it goes on again"),
    pytest.param([None, _many(4), _many(6)], 6, id="it began later"),
    pytest.param([_many(3, at=0), _many(4, at=0)], 1, id="its first line has no time"),
]


@pytest.mark.parametrize(("looks", "count"), SEEN)
def test_a_counter_tells_what_came_and_never_falls(looks: list[Summary | None], count: int) -> None:
    for end in range(1, len(looks)):
        parts = [[[one] if one else [] for one in looks[:stop]] for stop in (end, end + 1)]
        before, now = (_looks(*part) for part in parts)
        assert now.hooks["stop"] >= before.hooks["stop"]
    tally = _looks(*([one] if one else [] for one in looks))
    assert tally.hooks["stop"] == tally.blocked["stop"] == count
    assert tally.times.get("stop", {}) == ({"3": count} if count else {})
    assert tally.ms.get("stop", 0) == 3 * count


def test_an_event_that_shrank_makes_another_journal() -> None:
    both = _session("s1", {"ms": 3}, {"event": "idle"})
    tally = _looks([both], [_session("s1", {"ms": 3}, {"ms": 4})])
    assert tally.hooks == {"stop": 2, "idle": 0}


ENDS = [
    pytest.param([[], [_loop("l1")], [_loop("l1", "limit")]], {"limit": 1}, id="it ended"),
    pytest.param(
        [[], [_loop("l1", "limit")], [_loop("l1", "success")]],
        {"limit": 1, "success": 0},
        id="another end is told of it",
    ),
    pytest.param(
        [[], [_loop("l1", "success"), _loop("l1", "cancelled", at="2026-11-21")]],
        {"success": 1, "cancelled": 1},
        id="two loops of one id",
    ),
    pytest.param(
        [[_loop("l1", "success")], [_loop("l1", "success"), _loop("l1", "success", "s2")]],
        {"success": 1},
        id="two of two sessions",
    ),
    pytest.param([[], [_loop("l1", "success")], []], {"success": 1}, id="deleted"),
    pytest.param(
        [[_loop("l1", "success")], [], [_loop("l1", "success")]], {"success": 0}, id="unreadable"
    ),
]


@pytest.mark.parametrize(("looks", "outcomes"), ENDS)
def test_each_loop_counts_once_when_it_has_ended(
    looks: list[list[Record]], outcomes: dict[str, int]
) -> None:
    assert _ends(*looks) == outcomes
