"""Where enforcement is asked; what it then says is tested with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from making import debug_log, stored

from arbiter.desk import PROMISE, Desk
from sisyphus.checkpoint import at_stop as checkpoints
from sisyphus.enforce import actions, at_stop, marks
from sisyphus.enforce.gates import CLAIM
from sisyphus.ralph import store
from sisyphus.state.lock import Lock
from sisyphus.workspace import Workspace

if TYPE_CHECKING:
    from pathlib import Path

    from sisyphus._types import Json

DONE = "All tests pass, I am done."


@pytest.fixture
def enforced(desk: Desk) -> Desk:
    actions.on(_space(desk))
    return desk


def _space(desk: Desk) -> Workspace:
    return Workspace(str(desk.project), now=desk.now)


def _entry(desk: Desk) -> Json:
    found = stored(desk.home / marks.state_path(_space(desk)))["sessions"]["s1"]
    assert isinstance(found, dict)
    return found


def test_a_session_that_nothing_holds_is_told_to_go_on(enforced: Desk) -> None:
    outcome = enforced.answer(DONE)

    assert str(outcome.reason).startswith("[CONTINUOUS ENFORCEMENT]")
    assert outcome.notes[0].startswith("blocked: the model said ")
    assert len(outcome.notes) == 1


def test_a_loop_that_holds_is_noted(enforced: Desk) -> None:
    enforced.begin()

    outcome = enforced.answer(DONE)

    assert str(outcome.reason).startswith("[RALPH LOOP ENFORCEMENT]")
    assert (_entry(enforced)["held"], _entry(enforced)["iteration"]) == (
        "the session was told to go on", 0,
    )  # fmt: skip
    assert outcome.notes[-1] == "enforcement held back: the session was told to go on"


def test_a_loop_that_ends_lets_its_session_rest(enforced: Desk) -> None:
    enforced.begin()

    outcome = enforced.answer(f"{DONE}\n\n{PROMISE}")

    assert outcome.reason is None
    assert _entry(enforced)["held"] == "ended: promise `DONE` kept"


def test_who_leaves_the_promise_to_another_hook_holds_nobody(enforced: Desk) -> None:
    """The other one lets the session rest, and notes it."""
    enforced.begin("--verify true")

    with Lock(store.loop_path(enforced.ours, "s1") + ".verify"):
        outcome = enforced.answer(f"{DONE}\n\n{PROMISE}")

    assert outcome.reason is None
    assert outcome.notes == ["allowed: another hook checks the promise"]
    assert "s1" not in stored(enforced.home / marks.state_path(_space(enforced)))["sessions"]


def test_a_start_that_was_refused_is_no_loop(enforced: Desk) -> None:
    """The loops are looked at, and none is found."""
    enforced.use("--max-iterations none", "toolu_9")
    enforced.add({"type": "assistant", "message": {"content": []}})

    outcome = enforced.answer(DONE)

    assert str(outcome.reason).startswith("[CONTINUOUS ENFORCEMENT]")


def test_what_is_told_of_loops_is_told_as_well(enforced: Desk) -> None:
    enforced.begin()
    enforced.cancel()

    outcome = enforced.stop(DONE)

    assert outcome.reason is not None
    assert any("cancelled" in message for message in outcome.messages)
    assert outcome.messages[-1] == "Enforcement 1 of 50: the session was told to go on."


def test_a_fault_of_enforcement_spoils_no_verdict(
    enforced: Desk, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    enforced.begin()

    def fails(*_: object) -> None:
        raise ZeroDivisionError(CLAIM)

    monkeypatch.setattr(at_stop, "look", fails)

    outcome = enforced.answer(DONE)

    assert str(outcome.reason).startswith("[RALPH LOOP ENFORCEMENT]")
    assert outcome.notes[-1] == "enforcement's state cannot be used: 1"
    assert "enforcement: ZeroDivisionError" in debug_log(home)


def test_what_goes_wrong_with_its_size_holds_nobody_back(
    enforced: Desk, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> None:
        raise OSError("no room")

    monkeypatch.setattr(checkpoints, "no_room", fails)

    assert enforced.answer(DONE).reason is not None
    assert "checkpoint: no room" in debug_log(home)


def test_switched_off_meanwhile_the_loops_have_the_last_word(
    enforced: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(at_stop, "look", lambda *_: None)

    assert enforced.answer(DONE).notes == ["allowed: no loop is active"]
