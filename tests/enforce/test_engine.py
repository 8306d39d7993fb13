from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from enforce.pure import MOMENT, SECOND, an_entry, limits_of
from sisyphus.enforce import engine, gates
from sisyphus.enforce.engine import FAILED, WORKED
from sisyphus.enforce.gates import CLAIM, IDLE
from sisyphus.enforce.record import Entry

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sisyphus._types import Json
    from sisyphus.enforce.limits import Limits


def test_after_five_failures_it_rests_for_five_minutes() -> None:
    entry = an_entry(failureCount=5, lastEnforcement=MOMENT)
    limits = limits_of(cooldown_seconds=0)

    [gate] = [g for g in gates.every(entry, MOMENT, limits, CLAIM) if g.name == "failures"]
    assert (gate.passed, gate.why) == (False, "5 of 5 in a row; forgotten in 5 min")
    assert gate.opens_at == MOMENT + 300 * SECOND
    assert engine.settle(entry, MOMENT + 299 * SECOND, 0, limits) == ""
    assert entry.failure_count == 5
    engine.settle(entry, MOMENT + 300 * SECOND, 0, limits)
    assert entry.failure_count == 0


JUDGED = [
    pytest.param(0, FAILED, 3, id="no tool ever"),
    pytest.param(MOMENT - SECOND, FAILED, 3, id="a tool before it"),
    pytest.param(MOMENT, FAILED, 3, id="a tool at that very moment"),
    pytest.param(MOMENT + 1, WORKED, 0, id="a tool behind it"),
]


@pytest.mark.parametrize(("used_at", "judged", "failures"), JUDGED)
def test_an_enforcement_is_judged_by_the_tools_that_follow(
    used_at: int, judged: str, failures: int
) -> None:
    entry = an_entry(failureCount=2)
    engine.enforce(entry, MOMENT)

    assert engine.settle(entry, MOMENT + SECOND, used_at, limits_of()) == judged
    assert (entry.failure_count, entry.pending) == (failures, False)
    assert engine.settle(entry, MOMENT + 2 * SECOND, used_at, limits_of()) == ""


def test_a_stop_that_began_with_it_judges_nothing() -> None:
    entry = an_entry()
    engine.enforce(entry, MOMENT)

    assert engine.settle(entry, MOMENT, 0, limits_of()) == ""
    assert engine.settle(entry, MOMENT - 5, 0, limits_of()) == ""
    assert entry.pending


DUE = [
    pytest.param({}, 30, id="behind the rest"),
    pytest.param({"lastEnforcement": MOMENT - 5 * SECOND, "failureCount": 1}, 55, id="cooled down"),
    pytest.param({"stopRequested": True}, None, id="stopped"),
    pytest.param({"iteration": 50}, None, id="used up"),
    pytest.param({"failureCount": 5, "lastEnforcement": MOMENT}, None, id="failed too often"),
]


@pytest.mark.parametrize(("keys", "seconds"), DUE)
def test_when_the_next_one_is_due(keys: Json, seconds: float | None) -> None:
    found = engine.due(an_entry(**keys), MOMENT, limits_of())

    assert found == (None if seconds is None else MOMENT + seconds * SECOND)


def test_a_tool_call_postpones_it() -> None:
    found = engine.due(an_entry(), MOMENT, limits_of(), MOMENT + 7 * SECOND)

    assert found == MOMENT + 37 * SECOND


STATUS = [
    pytest.param({}, "CONTINUOUS", id="on"),
    pytest.param({"stopRequested": True, "iteration": 50}, "STOPPED", id="stopped"),
    pytest.param({"iteration": 50, "failureCount": 5}, "EXHAUSTED", id="used up"),
    pytest.param({"failureCount": 5, "lastEnforcement": MOMENT}, "RECOVERING", id="failed"),
    pytest.param(
        {"failureCount": 5, "lastEnforcement": MOMENT - 10**6}, "CONTINUOUS", id="recovered"
    ),
]


@pytest.mark.parametrize(("keys", "word"), STATUS)
def test_one_word_says_how_it_stands(keys: Json, word: str) -> None:
    assert engine.status(an_entry(**keys), MOMENT, limits_of()) == word


def test_a_clock_that_was_set_back_locks_nobody_out() -> None:
    later = MOMENT + 3_600 * SECOND
    entry = an_entry(lastActivity=later, lastEnforcement=later, lastStop=later)

    engine.settle(entry, MOMENT, 0, limits_of())

    assert (entry.last_activity, entry.last_enforcement, entry.last_stop) == (
        MOMENT,
        MOMENT,
        MOMENT,
    )


# --- whatever happens ---------------------------------------------------------------------------

EVENTS = st.sampled_from(["claim", "rest", "tool", "prompt", "stop"])
WAITS = st.sampled_from([1, 500, 5_000, 29_999, 30_000, 61_000, 300_000])


class _Session:
    """One session, whose record is written and read between any two events."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.now = MOMENT
        self.used = 0
        self.entry = an_entry()
        self.enforced: list[tuple[int, int]] = []  # when, and how many failures there were
        self.is_stopped = False

    def happens(self, event: str) -> None:
        self.entry = Entry(self.entry.as_json(engine.status(self.entry, self.now, self.limits)))
        if event == "tool":
            self.used = self.now
        elif event == "prompt":
            engine.activity(self.entry, self.now)
            self.entry.stop_requested = self.is_stopped = False
        elif event == "stop":
            self.entry.stop_requested = self.is_stopped = True
        else:
            self._look(CLAIM if event == "claim" else IDLE)

    def _look(self, layer: int) -> None:
        engine.settle(self.entry, self.now, self.used, self.limits)
        found = gates.every(self.entry, self.now, self.limits, layer, self.used)
        if gates.closed(found) is None:
            self.enforced.append((self.now, self.entry.failure_count))
            assert not self.is_stopped
            engine.enforce(self.entry, self.now)
        if layer == CLAIM:
            engine.activity(self.entry, self.now)


@given(st.lists(st.tuples(EVENTS, WAITS), max_size=60), st.integers(1, 4), st.integers(1, 6))
def test_whatever_happens_nobody_is_harried(
    events: Sequence[tuple[str, int]], most_failures: int, most: int
) -> None:
    session = _Session(limits_of(max_failures=most_failures, max_iterations=most))
    for event, wait in events:
        session.now += wait
        session.happens(event)
        assert session.entry.failure_count <= most_failures
        assert session.entry.iteration == len(session.enforced) <= most

    for (before, _), (after, failures) in zip(session.enforced, session.enforced[1:], strict=False):
        assert after - before >= session.limits.cooldown_of(failures)
        assert failures < most_failures


@given(st.lists(WAITS, min_size=1, max_size=80))
def test_who_never_uses_a_tool_is_told_five_times_in_a_row_at_most(waits: Sequence[int]) -> None:
    session = _Session(limits_of(max_iterations=0))
    for wait in waits:
        session.now += wait
        session.happens("claim")

    moments = [moment for moment, _ in session.enforced]
    for first, sixth in zip(moments, moments[5:], strict=False):
        assert sixth - first >= session.limits.recovery


@given(st.lists(st.tuples(st.sampled_from(["claim", "rest", "tool"]), WAITS), max_size=30))
def test_the_users_stop_holds_until_he_speaks(events: Sequence[tuple[str, int]]) -> None:
    session = _Session(limits_of())
    session.happens("stop")
    for event, wait in events:
        session.now += wait
        session.happens(event)

    assert session.enforced == []
    session.now += 10**7
    session.happens("prompt")
    session.happens("claim")
    assert len(session.enforced) == 1
