from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from enforce.desk import DONE, NOT_DONE, Desk
from sisyphus.enforce import actions, marks
from sisyphus.enforce.store import SetAsideError
from sisyphus.errors import SisyphusError

if TYPE_CHECKING:
    from pathlib import Path

SIX = ["iteration", "lastActivity", "lastEnforcement", "failureCount", "stopRequested", "status"]


def test_before_anything_it_is_off(home: Path, project: Path) -> None:
    found = actions.status(Desk(home, project).space())

    assert (found["on"], found["status"], found["since"], found["sessions"]) == (
        False, "OFF", None, [],
    )  # fmt: skip
    assert list(found["state"]) == SIX
    assert found["limits"] == {
        "idle_seconds": 30, "cooldown_seconds": 30, "backoff": 2, "max_failures": 5,
        "recovery_seconds": 300, "max_iterations": 50, "stability_seconds": 5,
    }  # fmt: skip
    assert not (home / ".claude").exists()


def test_switched_on_it_says_since_when(home: Path, project: Path) -> None:
    found = Desk(home, project).on()

    assert (found["on"], found["status"], found["since"]) == (
        True, "CONTINUOUS", "2026-11-20T18:40:00.000Z",
    )  # fmt: skip


def test_the_session_it_is_said_in_is_known_at_once(home: Path, project: Path) -> None:
    desk = Desk(home, project)
    desk.on("s1")

    assert list(desk.state["sessions"]) == ["s1"]
    assert os.path.exists(marks.tools_path(desk.ours, "s1"))


def test_to_switch_it_on_again_begins_anew(desk: Desk) -> None:
    for _ in range(3):
        desk.now += 700
        desk.stop()
    desk.stops_it()

    found = desk.on()

    assert found["state"] | {"lastActivity": 0, "lastEnforcement": 0} == {
        "iteration": 0,
        "lastActivity": 0,
        "lastEnforcement": 0,
        "failureCount": 0,
        "stopRequested": False,
        "status": "CONTINUOUS",
    }
    assert desk.stop().reason is None  # the cooldown is not over
    desk.now += 30
    assert desk.stop().reason is not None


def test_where_the_feature_is_off_it_cannot_be_switched_on(home: Path, project: Path) -> None:
    desk = Desk(home, project)
    desk.set(enabled=False)

    with pytest.raises(SisyphusError, match="is switched off"):
        desk.on()


def test_switched_off_no_tool_is_noted_any_more(desk: Desk) -> None:
    desk.stop(NOT_DONE)

    assert desk.off() == ["s1"]

    assert not os.path.exists(marks.tools_path(desk.ours, "s1"))
    assert actions.status(desk.space())["status"] == "OFF"
    assert desk.off() == []
    assert desk.whats == ["on", "held back", "off"]


def test_one_session_is_stopped(desk: Desk) -> None:
    desk.says(session="s2")

    assert desk.stops_it("s2") == ["s2"]

    assert desk.stop(session="s2").reason is None
    assert desk.stop().reason is not None


def test_a_session_that_nothing_is_known_of_can_be_stopped(desk: Desk) -> None:
    desk.stops_it("s7")

    assert desk.stop(session="s7").reason is None


def test_all_are_stopped_those_as_well_that_are_met_later(desk: Desk) -> None:
    assert desk.stops_it() == ["s1"]

    assert [desk.stop(session=session).reason for session in ("s1", "s2")] == [None, None]
    desk.says(session="s2")
    assert desk.stop(session="s2").reason is not None
    assert desk.stop().reason is None


def test_where_it_is_off_there_is_nothing_to_stop(desk: Desk) -> None:
    desk.off()

    with pytest.raises(SisyphusError, match="nothing to stop"):
        desk.stops_it()


def test_who_was_at_work_today_is_told(desk: Desk) -> None:
    for n in range(30):
        desk.now += 1
        desk.says(session=f"t{n}")
    desk.ends("t29")
    desk.now += 86_000
    desk.says(session="late")

    assert desk.stops_it() == ["late", *(f"t{n}" for n in range(28, 9, -1))]
    desk.now += 1_000
    assert desk.stops_it() == ["late"]


def test_a_sessions_gates_and_when_it_is_due(desk: Desk) -> None:
    desk.stop(DONE)
    desk.now += 10
    desk.stop(NOT_DONE)
    desk.now += 4

    found = desk.status()

    assert [(gate["gate"], gate["passed"]) for gate in found["gates"]] == [
        ("main agent", True), ("idle", False), ("cooldown", False), ("failures", True),
        ("user", True), ("limit", True),
    ]  # fmt: skip
    assert found["gates"][2]["why"] == "46 s of 1 min are left"
    assert found["gates"][2]["opens_at"] == "2026-11-20T18:41:00.000Z"
    assert found["due"] == "2026-11-20T18:41:00.000Z"
    assert (found["held"], found["ended"]) == (None, False)


def test_a_tool_call_is_activity(desk: Desk) -> None:
    desk.stop(NOT_DONE)
    desk.now += 20
    desk.uses_a_tool()
    desk.now += 5

    found = desk.status()

    assert found["lastActivity"] == round((desk.now - 5) * 1_000)
    assert found["gates"][1]["why"] == "idle for 5 s of 30 s"
    assert actions.status(desk.space())["state"]["lastActivity"] == found["lastActivity"]


def _question(desk: Desk) -> None:
    desk.stop("Which one?")


def _end(desk: Desk) -> None:
    desk.ends()


def _stop(desk: Desk) -> None:
    desk.stops_it()


@pytest.mark.parametrize("event", [_question, _end, _stop])
def test_what_comes_not_by_itself_is_not_due(desk: Desk, event: object) -> None:
    assert callable(event)
    event(desk)

    assert desk.status()["due"] is None


def _never(_: Desk) -> None: ...


def _works(desk: Desk) -> None:
    desk.stop(NOT_DONE)
    desk.now += 1
    desk.uses_a_tool()


def _speaks(desk: Desk) -> None:
    desk.stop(NOT_DONE)
    desk.now += 1
    desk.says("go on")


@pytest.mark.parametrize("event", [_never, _works, _speaks])
def test_who_has_not_stopped_since_is_waited_for_by_nobody(desk: Desk, event: object) -> None:
    assert callable(event)
    event(desk)
    desk.now += 3_600

    assert (desk.status()["due"], desk.status()["resting"]) == (None, False)
    desk.stop(NOT_DONE)
    assert desk.status()["resting"]
    assert desk.status()["due"] is not None


def test_what_was_failed_long_ago_is_forgotten(desk: Desk) -> None:
    desk.set(cooldown_seconds=0)
    for _ in range(6):
        desk.now += 1
        desk.stop()

    assert actions.status(desk.space())["status"] == "RECOVERING"
    desk.now += 300
    assert actions.status(desk.space())["status"] == "CONTINUOUS"
    assert desk.state["status"] == "RECOVERING"  # to look changes nothing


def test_status_says_what_was_set_aside(desk: Desk) -> None:
    desk.state_path.write_text("{")

    with pytest.raises(SetAsideError):
        actions.status(desk.space())

    assert actions.status(desk.space())["status"] == "OFF"
