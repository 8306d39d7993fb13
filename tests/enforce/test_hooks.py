"""The user at work, and the ends of sessions."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from making import a_payload, debug_log

from enforce.desk import MACHINE, NOT_DONE, Desk
from sisyphus.enforce import hooks, marks, rest, texts

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

EVENTS = ["user-prompt-submit", "post-tool-use", "pre-compact", "session-end"]
NEVER = [
    pytest.param({"agent_id": "a1"}, id="a subagent"),
    pytest.param({"session_id": ""}, id="no session"),
]


@pytest.mark.parametrize("event", EVENTS)
def test_where_nothing_is_enforced_nothing_is_written(
    home: Path, project: Path, event: str
) -> None:
    desk = Desk(home, project)

    outcome = desk.event(event, prompt="do it")

    assert (outcome.reason, outcome.messages) == (None, [])
    assert not (home / ".claude/.sisyphus/enforce").exists()
    assert not desk.state_path.exists()


@pytest.mark.parametrize("event", EVENTS)
@pytest.mark.parametrize("raw", NEVER)
def test_who_is_not_meant_changes_nothing(desk: Desk, event: str, raw: dict[str, str]) -> None:
    before = desk.state
    desk.now += 5

    desk.event(event, prompt="do it", **raw)

    assert desk.state == before


@pytest.mark.parametrize("source", ["startup", "resume", "clear"])
def test_the_user_is_told_at_a_sessions_start(desk: Desk, source: str) -> None:
    before = desk.state

    assert desk.event("session-start", source=source).messages == [
        "Continuous enforcement is on for this project. End it with /sisyphus:enforce off."
    ]
    assert desk.state == before


UNTOLD = [
    pytest.param({"source": "compact"}, id="the session goes on"),
    pytest.param({"source": "startup", "agent_id": "a1"}, id="a subagent"),
    pytest.param({"source": "startup", "session_id": ""}, id="no session"),
]


@pytest.mark.parametrize("raw", UNTOLD)
def test_nothing_is_told_where_nobody_begins(desk: Desk, raw: dict[str, str]) -> None:
    assert desk.event("session-start", **raw).messages == []


def test_nothing_is_told_where_it_is_off(desk: Desk) -> None:
    desk.off()
    assert desk.event("session-start", source="startup").messages == []
    desk.on()
    desk.set(enabled=False)
    assert desk.event("session-start", source="startup").messages == []


def test_the_users_prompt_is_activity(desk: Desk) -> None:
    desk.now += 5
    assert desk.says("go on").notes == []
    now = round(desk.now * 1_000)
    assert (desk.entry()["lastActivity"], desk.entry()["lastPrompt"]) == (now, now)


def test_a_machines_prompt_is_activity_and_no_users(desk: Desk) -> None:
    before = desk.entry()["lastPrompt"]
    desk.now += 5
    desk.says(MACHINE)

    assert desk.entry()["lastActivity"] == round(desk.now * 1_000)
    assert desk.entry()["lastPrompt"] == before


def test_who_compacts_is_at_work(desk: Desk) -> None:
    desk.now += 5
    desk.event("pre-compact")

    assert desk.entry()["lastActivity"] == round(desk.now * 1_000)


def test_the_users_prompt_lifts_his_stop(desk: Desk) -> None:
    desk.stops_it()

    outcome = desk.says("go on")

    assert outcome.notes == ["the user's prompt lifts the stop of continuous enforcement"]
    assert desk.entry()["stopRequested"] is False
    assert desk.whats == ["on", "stopped", "lifted"]


def test_a_prompt_that_is_answered_lifts_nothing(desk: Desk) -> None:
    desk.stops_it()
    answered = desk.event("user-prompt-submit", prompt="/sisyphus:enforce status")

    assert answered.reason is not None
    assert desk.entry()["stopRequested"] is True


def test_the_end_of_a_session_is_noted_and_nobody_waits_for_it(desk: Desk) -> None:
    desk.stop(NOT_DONE)
    assert os.path.exists(marks.tools_path(desk.ours, "s1"))

    desk.ends()

    assert desk.entry()["ended"] is True
    assert not os.path.exists(marks.tools_path(desk.ours, "s1"))
    desk.ends("s2")
    assert list(desk.state["sessions"]) == ["s1"]


def test_a_session_that_is_taken_up_again_is_at_work(desk: Desk) -> None:
    desk.ends()
    desk.says("go on")

    assert desk.entry()["ended"] is False


def test_the_user_is_told_what_was_set_aside(desk: Desk) -> None:
    desk.state_path.write_text("{")

    outcome = desk.says()

    assert outcome.messages[0].startswith("[ENFORCEMENT OFF]\n\nthe state of continuous enforce")
    assert desk.says().messages == []


def test_a_record_of_a_newer_version_is_left_alone(desk: Desk) -> None:
    desk.state_path.write_text('{"version": 99, "on": true}')

    [note] = desk.says().notes

    assert note.startswith("enforcement's state is left alone: ")
    assert "newer sisyphus" in debug_log(desk.home)


def test_switched_off_meanwhile(desk: Desk) -> None:
    desk.off()

    assert hooks.on_session_end(a_payload("session-end"), desk.space()) is None
    assert desk.says().notes == []


def test_tools_are_noted_once_the_session_is_known(desk: Desk) -> None:
    assert marks.used_at(desk.ours, "s2") == 0
    desk.uses_a_tool("s2")
    assert marks.used_at(desk.ours, "s2") == 0

    marks.make(desk.ours, "s2")
    assert marks.used_at(desk.ours, "s2") == 0
    desk.uses_a_tool("s2")
    used = marks.used_at(desk.ours, "s2")
    marks.make(desk.ours, "s2")

    assert used == round(desk.now * 1_000)
    assert marks.used_at(desk.ours, "s2") == used
    marks.remove(desk.ours, "s2")
    marks.remove(desk.ours, "s2")
    assert marks.used_at(desk.ours, "s2") == 0


def test_one_tool_of_several_is_noted_as_well(desk: Desk) -> None:
    desk.event("post-tool-use", tool_name="Read", tool_input={"file_path": "/x"})

    assert marks.used_at(desk.ours, "s1") > 0


# --- a waking that is delivered -------------------------------------------------------------------

WAKING = MACHINE.replace("go on", f"[{texts.HEAD}]\n\nThe session has been idle for 30 seconds.")
LEFT_ALONE = "Continuous enforcement leaves this session alone: "


@pytest.fixture
def waking(desk: Desk) -> Desk:
    """A hook has woken the session, and the client has not delivered that yet."""
    desk.now += 1
    desk.stop(NOT_DONE)
    desk.now += 30
    outcome = rest.look(desk.payload("idle", hook_event_name="Stop"), desk.space(), desk.now)
    assert outcome.reason is not None
    desk.now += 1
    return desk


def test_a_waking_reaches_the_model(waking: Desk) -> None:
    assert waking.says(WAKING).reason is None
    assert waking.entry()["pending"] is True
    assert waking.entry()["lastActivity"] == round(waking.now * 1_000)


def _speaks(desk: Desk) -> None:
    desk.says("go on")


def _stops_it(desk: Desk) -> None:
    desk.stops_it()


def _off(desk: Desk) -> None:
    desk.off()


def _new_stop(desk: Desk) -> None:
    desk.stop(NOT_DONE)


def _nothing(_: Desk) -> None: ...


LATE = [
    pytest.param(_speaks, {}, "the session is at work again", id="the user spoke"),
    pytest.param(_new_stop, {}, "the session is at work again", id="a turn has ended"),
    pytest.param(_stops_it, {}, "the user stopped it", id="it is stopped"),
    pytest.param(_off, {}, "enforcement is off", id="it is switched off"),
    pytest.param(
        _nothing, {"permission_mode": "plan"}, "the session is in plan mode", id="plan mode"
    ),
    pytest.param(_nothing, {"session": "s2"}, "the session is at work again", id="after /clear"),
]


@pytest.mark.parametrize(("event", "raw", "why"), LATE)
def test_a_waking_that_comes_too_late_reaches_nobody(
    waking: Desk, event: Callable[[Desk], None], raw: dict[str, str], why: str
) -> None:
    event(waking)
    waking.now += 1

    outcome = waking.says(WAKING, **raw)

    assert outcome.reason == f"{LEFT_ALONE}{why}."
    assert f"not woken: {why}" in outcome.notes


def test_a_waking_that_reached_nobody_has_not_failed(waking: Desk) -> None:
    waking.says(WAKING, permission_mode="plan")
    waking.now += 1
    waking.stop(NOT_DONE)

    assert (waking.entry()["failureCount"], waking.entry()["iteration"]) == (0, 1)


def test_what_the_user_interrupts_has_not_failed(waking: Desk) -> None:
    waking.says(WAKING)
    waking.now += 1
    waking.says("no, look at this")
    waking.now += 1
    waking.stop(NOT_DONE)

    assert waking.entry()["failureCount"] == 0


def test_what_worked_until_the_user_spoke_has_worked(waking: Desk) -> None:
    waking.says(WAKING)
    waking.now += 1
    waking.uses_a_tool()
    waking.now += 1
    waking.says("and now this")
    waking.now += 1
    waking.stop(NOT_DONE)

    assert "worked" in waking.whats
