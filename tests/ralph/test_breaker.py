from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph.lines import read, result
from sisyphus.ralph import events as ev
from sisyphus.ralph.breaker import (
    CLOSED,
    HALF_OPEN,
    NO_SIGN,
    OPEN,
    Limits,
    after,
    cooled,
    is_open,
    reset,
)
from sisyphus.ralph.fingerprint import fingerprint

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sisyphus._types import Json

NOW = 1_000_000.0
FOREVER = float("inf")

Iteration = tuple[bool | None, str]


def _run(iterations: Sequence[Iteration], state: object = None, **limits: int) -> Json:
    """The state after these iterations, of a loop that has just begun or stands at `state`."""
    found = reset() if state is None else state
    for progress, error in iterations:
        found = after(found, progress=progress, error=error, now=NOW, limits=Limits(**limits))
    assert isinstance(found, dict)
    return found


IDLE, WORK, UNKNOWN = (False, ""), (True, ""), (None, "")
SAME = (True, "boom")

TURNS = [
    pytest.param([IDLE] * 4, CLOSED, id="fewer than the limit"),
    pytest.param([IDLE] * 5, OPEN, id="as many as the limit"),
    pytest.param([IDLE] * 4 + [WORK] + [IDLE] * 4, CLOSED, id="progress in between"),
    pytest.param([IDLE] * 4 + [UNKNOWN] * 9, CLOSED, id="one that cannot be judged is none"),
    pytest.param([IDLE] * 4 + [UNKNOWN, IDLE], OPEN, id="nor does it excuse what was before"),
    pytest.param([SAME] * 4, CLOSED, id="the same error, but not as often"),
    pytest.param([SAME] * 5, OPEN, id="the same error, in spite of progress"),
    pytest.param([SAME] * 4 + [WORK] * 2 + [SAME] * 4, CLOSED, id="two without the error"),
    pytest.param([SAME] * 3 + [WORK] + [SAME] * 2, OPEN, id="one without it may be late"),
    pytest.param([SAME, WORK] * 5, OPEN, id="every other iteration"),
    pytest.param([SAME, (True, "else")] * 9, CLOSED, id="two errors in turn"),
    pytest.param([(True, f"line {n}: boom") for n in range(5)], OPEN, id="only numbers differ"),
    pytest.param([(True, " \n")] * 9, CLOSED, id="an error that says nothing"),
    pytest.param([(False, "boom")] * 5, OPEN, id="both at once"),
]


@pytest.mark.parametrize(("iterations", "state"), TURNS)
def test_it_opens_at_a_limit(iterations: list[Iteration], state: str) -> None:
    found = _run(iterations)
    assert found["state"] == state
    assert is_open(found) == (state == OPEN)
    assert found["opened_at"] == (NOW if state == OPEN else 0)


WHY = [
    pytest.param([IDLE] * 5, {}, f"5 iterations without progress: {NO_SIGN}", id="no progress"),
    pytest.param(
        [IDLE], {"no_progress": 1}, f"1 iteration without progress: {NO_SIGN}", id="a single one"
    ),
    pytest.param([SAME] * 5, {}, "the same error 5 times: boom", id="an error"),
    pytest.param([SAME], {"same_error": 1}, "the same error once: boom", id="a single error"),
    pytest.param([(False, "boom")] * 5, {}, "the same error 5 times: boom", id="both: the error"),
    pytest.param(
        [(True, "\n \x1b[0m\n\x1b[31mE 12\u0000\n  more")] * 5,
        {},
        "the same error 5 times: E 12",
        id="the first line that says something, without its colours",
    ),
    pytest.param(
        [(True, "x" * 999)] * 5, {}, f"the same error 5 times: {'x' * 197}...", id="a long line"
    ),
]


@pytest.mark.parametrize(("iterations", "limits", "why"), WHY)
def test_it_says_why(iterations: list[Iteration], limits: dict[str, int], why: str) -> None:
    assert _run(iterations, **limits)["why"] == why


@pytest.mark.parametrize("none", [0, -1])
def test_a_rule_may_be_off(none: int) -> None:
    assert not is_open(_run([IDLE] * 99, no_progress=none))
    assert not is_open(_run([SAME] * 99, same_error=none))
    assert is_open(_run([(False, "boom")] * 5, no_progress=none))
    assert is_open(_run([(False, "boom")] * 5, same_error=none))


IDLED, ERRED = _run([IDLE] * 5), _run([SAME] * 5)
AGAIN = f"no progress after the pause either: {NO_SIGN}"
TRIES = [
    pytest.param(IDLED, WORK, CLOSED, "", id="progress closes it"),
    pytest.param(IDLED, IDLE, OPEN, AGAIN, id="one more without progress opens it"),
    pytest.param(IDLED, UNKNOWN, HALF_OPEN, None, id="one that cannot be judged decides nothing"),
    pytest.param(IDLED, (True, "boom"), CLOSED, "", id="progress, and another error"),
    pytest.param(
        ERRED, SAME, OPEN, "the same error again after the pause: boom", id="the error again"
    ),
    pytest.param(
        ERRED, (None, "boom"), OPEN, "the same error again after the pause: boom", id="nothing else"
    ),
    pytest.param(ERRED, (True, "else"), CLOSED, "", id="another error, with progress"),
    pytest.param(ERRED, (None, "else"), HALF_OPEN, None, id="another error, nothing else known"),
    pytest.param(ERRED, WORK, CLOSED, "", id="the error is gone"),
    pytest.param(ERRED, IDLE, OPEN, AGAIN, id="the error is gone, and nothing was done"),
]


@pytest.mark.parametrize(("opened", "iteration", "state", "why"), TRIES)
def test_the_next_iteration_after_the_pause_decides(
    opened: Json, iteration: Iteration, state: str, why: str | None
) -> None:
    half = cooled(opened, NOW + 1800, Limits())
    found = _run([iteration], half)
    assert found["state"] == state
    assert found["why"] == (opened["why"] if why is None else why)


@pytest.mark.parametrize("iteration", [IDLE, SAME])
def test_after_the_pause_too_a_rule_may_be_off(iteration: Iteration) -> None:
    half = {**reset(), "state": HALF_OPEN, "error": "boom", "same_error": 1}
    assert not is_open(_run([iteration], half, no_progress=0, same_error=0))


def test_an_error_seen_once_before_is_no_reason_where_there_is_progress() -> None:
    half = {**reset(), "state": HALF_OPEN, "error": "boom", "same_error": 1}
    assert _run([SAME], half)["state"] == CLOSED
    assert _run([(None, "boom")], half)["state"] == OPEN


@pytest.mark.parametrize("iteration", [IDLE, WORK, UNKNOWN, SAME])
def test_an_open_one_stays_open_whatever_happens(iteration: Iteration) -> None:
    found = _run([iteration], IDLED)
    told = ("state", "opened_at", "why")
    assert [found[key] for key in told] == [IDLED[key] for key in told]


def test_somebody_who_resumes_begins_anew() -> None:
    assert _run([IDLE] * 4, reset())["state"] == CLOSED
    assert reset()["no_progress"] == reset()["same_error"] == 0


COOLING = [
    pytest.param(1799, 30, OPEN, id="not yet"),
    pytest.param(1800, 30, HALF_OPEN, id="long enough"),
    pytest.param(10**9, 30, HALF_OPEN, id="much longer"),
    pytest.param(0, 30, OPEN, id="at once"),
    pytest.param(-1800, 30, OPEN, id="the clock went back a little"),
    pytest.param(-1801, 30, HALF_OPEN, id="the clock went back so far that it says nothing"),
    pytest.param(90, 1.5, HALF_OPEN, id="parts of a minute"),
    pytest.param(FOREVER, 0, OPEN, id="never by itself"),
]


@pytest.mark.parametrize(("seconds", "minutes", "state"), COOLING)
def test_it_cools_down(seconds: float, minutes: float, state: str) -> None:
    found = cooled(IDLED, NOW + seconds, Limits(cool_minutes=minutes))
    assert found == {**IDLED, "state": state}


@pytest.mark.parametrize("state", [CLOSED, HALF_OPEN])
def test_only_an_open_one_cools_down(state: str) -> None:
    found = {**reset(), "state": state}
    assert cooled(found, FOREVER, Limits()) == found


SPOILT = [
    pytest.param(None, id="nothing"),
    pytest.param([], id="a list"),
    pytest.param({}, id="an empty object"),
    pytest.param({"state": "ajar", "no_progress": "4", "same_error": 4.0}, id="other words"),
    pytest.param({"state": ["open"], "error": 7, "why": None}, id="other types"),
    pytest.param({"no_progress": -3, "same_error": True}, id="numbers that count nothing"),
    pytest.param({"opened_at": float("nan")}, id="no number"),
    pytest.param({"opened_at": True}, id="a truth for a time"),
]


@pytest.mark.parametrize("state", SPOILT)
def test_what_a_file_should_not_hold_counts_as_nothing(state: object) -> None:
    assert _run([], cooled(state, NOW, Limits())) == {
        **(state if isinstance(state, dict) else {}),
        **reset(),
    }
    assert not is_open(state)


@pytest.mark.parametrize("opened_at", [None, "x", -1, float("nan"), float("inf"), 10**400])
def test_an_open_one_without_a_time_has_cooled_down(opened_at: object) -> None:
    state = {"state": OPEN, "opened_at": opened_at}
    assert cooled(state, NOW, Limits())["state"] == HALF_OPEN


def test_fields_of_others_stay() -> None:
    state = {**IDLED, "theirs": [1], "state": "open"}
    assert cooled(state, NOW + 1800, Limits())["theirs"] == [1]
    assert _run([WORK], state)["theirs"] == [1]


ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=4,
)
STATES = ANY | st.fixed_dictionaries(
    {},
    optional={
        "state": st.sampled_from([CLOSED, HALF_OPEN, OPEN]) | ANY,
        **dict.fromkeys(("no_progress", "same_error", "error", "opened_at", "why", "x"), ANY),
    },
)
PROGRESS = st.sampled_from([True, False, None])
ERRORS = st.sampled_from(["", "boom", "bang 1", "bang 2"])
LIMIT = st.integers(-1, 9)
ITERATIONS = st.lists(st.tuples(PROGRESS, ERRORS), max_size=12)


@given(STATES, st.tuples(PROGRESS, st.text()), st.floats(), st.builds(Limits, LIMIT, LIMIT))
def test_no_state_is_too_spoilt(
    state: object, iteration: Iteration, now: float, limits: Limits
) -> None:
    progress, error = iteration
    found = after(state, progress=progress, error=error, now=now, limits=limits)
    found = cooled(found, now, limits)
    assert found["state"] in (CLOSED, HALF_OPEN, OPEN)
    assert bool(found["why"]) or not is_open(found) or is_open(state)
    assert set(state if isinstance(state, dict) else ()) <= set(found)
    assert json.dumps(found)


@given(ITERATIONS, st.integers(1, 4), st.integers(1, 4))
def test_it_never_opens_before_a_limit(
    iterations: list[Iteration], no_progress: int, same_error: int
) -> None:
    state: Json = reset()
    for count in range(len(iterations)):
        done = iterations[: count + 1]
        state = _run(done[-1:], state, no_progress=no_progress, same_error=same_error)
        errors = _in_a_row([fingerprint(error) for _, error in done])
        idle = [progress for progress, _ in done if progress is not None][-no_progress:]
        is_stuck = bool(done[-1][1]) and errors >= same_error
        is_idle = len(idle) == no_progress and not any(idle) and done[-1][0] is False
        assert is_open(state) == (is_stuck or is_idle)
        if is_open(state):
            return


def _in_a_row(errors: list[str]) -> int:
    """How often the last error occurred in a row, single gaps passed over."""
    last = next((error for error in reversed(errors) if error), "")
    number = gap = 0
    for error in reversed(errors):
        gap = 0 if error else gap + 1
        if gap > 1 or (error and error != last):
            break
        number += bool(error)
    return number


@given(STATES, st.floats(0, 1e9))
def test_progress_without_an_error_closes_whatever_has_cooled_down(
    state: object, now: float
) -> None:
    half = {**(state if isinstance(state, dict) else {}), "state": HALF_OPEN}
    found = after(half, progress=True, error="", now=now, limits=Limits())
    assert (found["state"], found["no_progress"]) == (CLOSED, 0)


NO_ERRORS = [
    pytest.param(result('{"is_error": false, "error": null}'), id="it says that there is none"),
    pytest.param(result('{"is_error": true}'), id="it says that there is one"),
    pytest.param(result("Error: boom", is_error=False), id="the client says that there is none"),
    pytest.param(result("Error: boom", is_error="true"), id="the client says something else"),
]


def _error_of(record: dict[str, object]) -> str:
    """The text by which the last failed call of this line counts."""
    return "".join([event.text for event in ev.read(read(record)) if event.kind == ev.FAILED][-1:])


@pytest.mark.parametrize("record", NO_ERRORS)
def test_only_what_the_client_marked_as_failed_is_an_error(record: dict[str, object]) -> None:
    assert not is_open(_run([(True, _error_of(record))] * 9))


def test_what_the_client_marked_as_failed_is_one() -> None:
    record = result("Exit code 1\nboom", is_error=True)
    assert is_open(_run([(True, _error_of(record))] * 5))
