"""Layer 2, as a client asks for it that has a clock of its own."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from ralph.lines import said

from enforce.desk import DONE, NOT_DONE, Desk
from sisyphus.enforce import rest, texts
from sisyphus.workspace import RUN_VARIABLE

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from sisyphus.clients.base import Outcome


@pytest.fixture
def resting(desk: Desk) -> Desk:
    """The session has come to rest, and its client has a clock of its own."""
    desk.client = "opencode"
    desk.now += 5
    assert desk.stop(NOT_DONE).wake_after == 30
    return desk


def _not_woken(outcome: Outcome) -> str:
    assert outcome.reason is None
    [note] = outcome.notes
    return note.removeprefix("not woken: ")


def test_who_rests_for_long_enough_is_told_to_go_on(resting: Desk) -> None:
    resting.now += 30

    outcome = resting.looks()

    assert outcome.reason is not None
    assert outcome.reason.startswith(
        f"[{texts.HEAD}]\n\nThe session has been idle for 30 seconds.\n\nBefore you stop:\n1. Ver"
    )
    assert outcome.notes == ["woken: idle for 30 s (Enforcement 1 of 50)"]
    assert outcome.toasts == [
        {
            "variant": "error",
            "title": "Continuous enforcement",
            "message": "Enforcement 1 of 50: idle for 30 seconds.",
            "seconds": 15,
            "countdown": 2,
        }
    ]
    assert (resting.rows[-1]["what"], resting.rows[-1]["layer"]) == ("enforced", 2)


def test_too_early_says_when(resting: Desk) -> None:
    resting.now += 20

    outcome = resting.looks()

    assert _not_woken(outcome) == "it is too early"
    assert outcome.wake_after == 10


def test_it_is_told_once(resting: Desk) -> None:
    resting.now += 30
    resting.looks()

    assert _not_woken(resting.looks()) == "the session is at work again"
    resting.now += 1
    outcome = resting.stop(NOT_DONE)
    assert outcome.wake_after == 59
    assert resting.entry()["failureCount"] == 1


def test_the_wait_grows_with_each_failure(resting: Desk) -> None:
    waits = []
    for _ in range(4):
        wait = resting.stop(NOT_DONE).wake_after
        assert wait is not None
        waits.append(wait)
        resting.now += wait
        assert resting.looks().reason is not None
        resting.now += 1
    assert waits == [30, 59, 119, 239]
    assert resting.stop(NOT_DONE).wake_after == 479


def test_after_the_fifth_it_rests(resting: Desk) -> None:
    for _ in range(5):
        wait = resting.stop(NOT_DONE).wake_after
        assert wait is not None
        resting.now += wait
        assert resting.looks().reason is not None
        resting.now += 1

    assert resting.stop(NOT_DONE).wake_after is None
    resting.now += 290
    assert _not_woken(resting.looks()).startswith("failures: 5 of 5 in a row; forgotten in ")


def _tool(desk: Desk) -> None:
    desk.uses_a_tool()


def _prompt(desk: Desk) -> None:
    desk.says("go on")


def _off(desk: Desk) -> None:
    desk.off()


def _stop(desk: Desk) -> None:
    desk.stops_it()


def _end(desk: Desk) -> None:
    desk.ends()


def _question(desk: Desk) -> None:
    desk.stop("Which one?")


def _block(desk: Desk) -> None:
    desk.stop(DONE)


MEANWHILE = [
    pytest.param(_tool, "the session is at work again", id="a tool call"),
    pytest.param(_prompt, "the session is at work again", id="the user speaks"),
    pytest.param(_block, "the session is at work again", id="it was told to go on"),
    pytest.param(_stop, "user: stopped by the user until the next prompt", id="it is stopped"),
    pytest.param(_end, "the session has ended", id="the session ends"),
    pytest.param(_question, "the model asks the user something", id="a question"),
]


@pytest.mark.parametrize(("event", "why"), MEANWHILE)
def test_whoever_moves_is_not_woken(resting: Desk, event: Callable[[Desk], None], why: str) -> None:
    resting.now += 29
    event(resting)
    resting.now += 60

    outcome = resting.looks()

    assert (_not_woken(outcome), outcome.wake_after) == (why, None)


def test_what_changes_must_come_to_rest_first(resting: Desk) -> None:
    resting.now += 28
    resting.add(said("late"))
    resting.now += 2

    outcome = resting.looks()

    assert (outcome.reason, outcome.wake_after) == (None, 3)
    resting.now += 3
    assert resting.looks().reason is not None


def test_a_session_that_never_stopped_is_at_work(resting: Desk) -> None:
    resting.now += 99

    assert _not_woken(resting.looks("s2")) == "no Stop of the session is known"


NEVER = [
    pytest.param({"agent_id": "a1"}, id="a subagent"),
    pytest.param({"permission_mode": "plan"}, id="plan mode"),
    pytest.param({"session_id": ""}, id="no session"),
    pytest.param({"hook_event_name": "StopFailure"}, id="a failure"),
]


@pytest.mark.parametrize("raw", NEVER)
def test_who_is_never_told_is_left_at_once(resting: Desk, raw: dict[str, str]) -> None:
    resting.now += 30

    outcome = resting.event("idle", **{"hook_event_name": "Stop", **raw})

    assert (outcome.reason, outcome.notes) == (None, [])


def test_a_run_wakes_nobody(resting: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(RUN_VARIABLE, "abcde")
    resting.now += 30

    assert resting.looks().notes == []


def test_while_it_is_off_nobody_is_looked_at(resting: Desk) -> None:
    resting.off()
    resting.now += 30

    assert resting.looks().notes == []


def test_without_any_record_nobody_is(home: Path, project: Path) -> None:
    desk = Desk(home, project)
    desk.client = "opencode"

    assert desk.looks().notes == []
    assert not os.path.exists(home / ".claude")


def test_switched_off_meanwhile_nobody_is_woken(resting: Desk) -> None:
    resting.off()
    resting.now += 30

    outcome = rest.look(resting.payload("idle"), resting.space(), resting.now)

    assert _not_woken(outcome) == "enforcement is off"
