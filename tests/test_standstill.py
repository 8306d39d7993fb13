"""A Stop that is let go though a loop, a hold or enforcement stands: in plan mode, and for
background work. Its user hears of it, or it goes on by itself."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from test_notify import arrived, inbox
from test_unattended import enforce, hold
from world import Json, World

from sisyphus.stop import idle

__all__ = ["inbox"]  # a fixture

RUNNING: Json = {"background_tasks": [{"id": "b1", "type": "shell", "status": "running"}]}
NEXT_YEAR: Json = {
    "session_crons": [{"id": "c1", "schedule": "0 9 1 1 *", "recurring": True, "prompt": "Look."}]
}


def loop(world: World) -> None:
    world.loop()


EACH = pytest.mark.parametrize("begin", [loop, hold, enforce])
Begin = Callable[[World], None]


def settings(world: World, text: str) -> None:
    world.write(world.ours / "config.toml", text)


def in_terminal(world: World) -> None:
    world.setenv("CLAUDE_CODE_ENTRYPOINT", "cli")
    world.setenv("CLAUDE_PID", str(os.getpid()))


def waits(world: World) -> list[Json]:
    found: list[Json] = world.cli("status", "--json").json["waiting"]
    return [each for each in found if each["kind"] == "standstill"]


@EACH
def test_plan_mode_lets_no_work_stand_still_in_silence(
    world: World, begin: Begin, inbox: Path
) -> None:
    begin(world)

    first = world.stop("I plan.", permission_mode="plan")

    assert not first.reason
    assert "stands still: the agent is in plan mode. It goes on when you end plan mode" in (
        first.message
    )
    assert world.stop("I plan.", permission_mode="plan").is_silent
    assert "stands still: the agent is in plan mode" in waits(world)[0]["text"]
    (notice,) = arrived(inbox)
    assert notice["kind"] == "standstill"
    assert notice["title"].endswith("stands still")


def test_it_is_told_again_each_time(world: World) -> None:
    loop(world)
    assert world.stop("I plan.", permission_mode="plan").message
    assert world.stop("I work.").reason
    assert waits(world) == []

    assert world.stop("I plan.", permission_mode="plan").message


@EACH
@pytest.mark.parametrize("work", [RUNNING, NEXT_YEAR])
def test_work_without_end_is_told_where_nothing_wakes_the_session(
    world: World, begin: Begin, work: Json, inbox: Path
) -> None:
    begin(world)

    first = world.stop("I wait.", **work)

    assert not first.reason
    assert "It goes on when that ends, or with your next prompt." in first.message
    assert world.stop("I wait.", **work).is_silent
    assert arrived(inbox)[0]["kind"] == "standstill"


def test_it_waits_for_the_user_when_it_has_taken_too_long(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    loop(world)
    world.stop("I wait.", **RUNNING)
    assert waits(world) == []

    now = time.time() + 601
    monkeypatch.setattr(time, "time", lambda: now)
    assert "background work is still running: b1" in waits(world)[0]["text"]

    world.prompt(text="Go on.")
    assert waits(world) == []


@EACH
@pytest.mark.parametrize("work", [RUNNING, NEXT_YEAR])
def test_in_a_terminal_it_goes_on_by_itself(
    world: World, begin: Begin, work: Json, inbox: Path
) -> None:
    settings(
        world, "[ralph]\nbackground_wait = 1\n[enforce]\nidle_seconds = 0\ncooldown_seconds = 0\n"
    )
    begin(world)
    in_terminal(world)
    first = world.stop("I wait.", **work)
    assert "at the latest after 1 s" in first.message

    woken = world.hook("idle", world.stop_payload("I wait.", **work))

    assert woken.code == 2
    assert "You have " in woken.err
    assert world.stop("I wait. All done. The work is complete.", **work).reason


def test_a_loop_is_not_woken_before_its_patience_ends(world: World) -> None:
    settings(world, "[ralph]\nbackground_wait = 2\n")
    loop(world)
    in_terminal(world)
    world.stop("I wait.", **RUNNING)
    began = time.monotonic()

    woken = world.hook("idle", world.stop_payload("I wait.", **RUNNING))

    assert time.monotonic() - began > 1.5
    assert "for background work (b1), and it has not ended" in woken.err


@pytest.mark.parametrize("what", ["cancelled", "paused", "goes on", "patience", "plan mode"])
def test_who_need_not_be_woken_is_left_alone(
    world: World, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings(world, f"[ralph]\nbackground_wait = {3600 if what == 'patience' else 0}\n")
    loop(world)
    in_terminal(world)
    fields = RUNNING | ({"permission_mode": "plan"} if what == "plan mode" else {})
    if what != "patience":
        settings(world, "[ralph]\nbackground_wait = 600\n")
    world.stop("I wait.", **fields)
    settings(world, f"[ralph]\nbackground_wait = {3600 if what == 'patience' else 0}\n")
    if what in ("cancelled", "paused"):
        os.environ.pop("CLAUDE_PID")
        world.cli("ralph", "cancel" if what == "cancelled" else "pause", "--session-id", "s1")
        in_terminal(world)
    elif what == "goes on":
        world.prompt(text="Go on.")
        monkeypatch.setattr(idle, "STOP_SECONDS", 3)  # no Stop hook decides beside the waiter

    waiter = world.hook("idle", world.stop_payload("I wait.", **fields))

    assert (waiter.code, waiter.err) == (0, "")
