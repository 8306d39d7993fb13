"""The process beside an idle session: it wakes the session, or leaves without a word."""

from __future__ import annotations

import json
import os
import subprocess
import time
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import Any

import pytest
from patience import PATIENCE
from test_enforcing import DONE, HEADING, WORKING, configure, exported, work
from test_house import HEAVY, QUIET, loaded_by_hook
from world import Reply, World

from sisyphus.stop import idle

Waiter = Future[Reply]


@pytest.fixture
def enforced(world: World) -> World:
    """A session in a terminal, where enforcement is on and wakes at once."""
    world.cli("enforce", "on")
    configure(world, idle_seconds=0, cooldown_seconds=0)
    world.start()
    in_terminal(world)
    return world


@pytest.fixture
def quick_stop(monkeypatch: pytest.MonkeyPatch) -> None:
    """A waiter gives up soon if no Stop hook decides beside it."""
    monkeypatch.setattr(idle, "STOP_SECONDS", 3)


def in_terminal(world: World, process: int = 0) -> None:
    """The client runs in a terminal, as this process or another."""
    world.setenv("CLAUDE_CODE_ENTRYPOINT", "cli")
    world.setenv("CLAUDE_PID", str(process or os.getpid()))


def wait(world: World, last: str = WORKING, **fields: Any) -> Reply:
    """The client starts the waiter beside a Stop."""
    return world.hook("idle", world.stop_payload(last, **fields))


def is_quiet(reply: Reply) -> bool:
    return (reply.code, reply.out, reply.err) == (0, "", "")


def beside(pool: ThreadPoolExecutor, world: World) -> Waiter:
    """A waiter in a process of its own, which has started to look."""
    waiter = pool.submit(world.process, "idle", world.stop_payload(WORKING))
    time.sleep(0.5)
    return waiter


def test_an_idle_session_is_woken_once(enforced: World) -> None:
    enforced.stop(WORKING)

    reply = wait(enforced)

    assert (reply.code, reply.out) == (2, "")
    assert reply.err.startswith(f"{HEADING}\n\nYou have been idle for 0 s.\n\nBefore you stop:\n1.")
    assert reply.err.endswith("\n(Enforcement 1 of 50. Only the user ends it.)\n")
    assert exported(enforced)["iteration"] == 1
    assert enforced.why()[-1]["notes"] == ["enforcement 1 of 50: woken after 0 s"]


def test_the_script_wakes_by_its_exit_code(enforced: World) -> None:
    enforced.stop(WORKING)

    reply = enforced.process("idle", enforced.stop_payload(WORKING))

    assert (reply.code, reply.out) == (2, "")
    assert reply.err.startswith(HEADING)


def test_the_user_is_told_that_it_was_woken(enforced: World) -> None:
    """The client shows them the words "Stop hook feedback" alone."""
    enforced.stop(WORKING)
    head = "<task-notification>\n<summary>Stop hook feedback</summary>\n</task-notification>\n"
    assert not enforced.prompt(text=f"{head}somebody else's").message

    enforced.stop(WORKING)
    text = f"{head}<system-reminder>\n{wait(enforced).err}</system-reminder>"
    assert enforced.prompt(text=text).message == (
        "Enforcement 1 of 50: the agent was idle, and is woken."
    )


def test_open_tasks_are_named(enforced: World) -> None:
    enforced.create("PLAN.md", "# Kiln\n\n- [ ] fire\n- [ ] cool\n")
    enforced.stop(WORKING)

    assert "\nOpen tasks: fire; cool\n" in wait(enforced).err


def test_where_it_is_off_it_costs_as_little_as_any_quiet_hook(enforced: World) -> None:
    enforced.setenv("CLAUDE_PID", "")
    enforced.cli("enforce", "off")
    in_terminal(enforced)

    assert loaded_by_hook(enforced.stop_payload(DONE), "idle") <= QUIET


def test_a_process_that_waits_loads_nothing_heavy(enforced: World) -> None:
    configure(enforced, max_iterations=1)
    assert enforced.stop(DONE).reason
    assert not enforced.stop(DONE).reason

    modules = loaded_by_hook(enforced.stop_payload(DONE), "idle")

    assert "sisyphus.stop.idle" in modules
    assert not (HEAVY - {"dataclasses"}) & modules


@pytest.mark.parametrize(
    "what",
    ["print mode", "no process", "subagent", "plan mode", "no row", "setting", "disabled", "off"],
)
def test_where_nobody_can_or_may_be_woken_it_leaves_at_once(enforced: World, what: str) -> None:
    enforced.stop(WORKING)
    fields: dict[str, Any] = {}
    match what:
        case "print mode":
            enforced.setenv("CLAUDE_CODE_ENTRYPOINT", "sdk-cli")
        case "no process":
            enforced.setenv("CLAUDE_PID", "")
        case "subagent":
            fields = {"agent_id": "a1"}
        case "plan mode":
            fields = {"permission_mode": "plan"}
        case "no row":
            fields = {"session": "s9"}
        case "setting":
            configure(enforced, enabled=False, idle_seconds=0)
        case "disabled":
            enforced.setenv("SISYPHUS_DISABLE", "1")
        case "off":
            enforced.setenv("CLAUDE_PID", "")
            enforced.cli("enforce", "off")
            in_terminal(enforced)
    before = enforced.why()

    assert is_quiet(wait(enforced, **fields))
    assert enforced.why() == before


@pytest.mark.parametrize(
    ("last", "fields"),
    [
        ("Shall I push it?", {}),
        ("<blocked>a key</blocked>", {}),
    ],
)
def test_a_session_that_waits_for_something_is_not_woken(
    enforced: World, last: str, fields: dict[str, Any]
) -> None:
    enforced.stop(last, **fields)
    assert is_quiet(wait(enforced, last, **fields))


@pytest.mark.parametrize("words", ["loop", "pause", "stop"])
def test_beside_a_loop_or_after_a_stop_of_its_user_it_is_not_woken(
    enforced: World, words: str
) -> None:
    enforced.stop(WORKING)
    enforced.setenv("CLAUDE_PID", "")
    if words == "stop":
        enforced.cli("enforce", "stop")
    else:
        enforced.loop()
    if words == "pause":
        enforced.cli("ralph", "pause", "--session-id", "s1")
    in_terminal(enforced)

    assert is_quiet(wait(enforced))


def test_the_limit_and_the_failures_end_it(enforced: World) -> None:
    limits = {"max_iterations": 3, "max_failures": 2, "recovery_seconds": 3600}
    configure(enforced, idle_seconds=0, cooldown_seconds=0, **limits)
    for is_woken, failures in ((True, 0), (True, 1), (False, 2)):
        enforced.stop(WORKING)
        assert exported(enforced)["failureCount"] == failures
        assert (wait(enforced).code == 2) == is_woken
    work(enforced)
    enforced.stop(WORKING)
    assert exported(enforced)["failureCount"] == 0
    assert wait(enforced).code == 2
    work(enforced)
    enforced.stop(WORKING)
    assert is_quiet(wait(enforced))


def test_it_waits_for_idle_time_and_cooldown(enforced: World) -> None:
    for settings in ({"idle_seconds": 1}, {"cooldown_seconds": 1, "idle_seconds": 0}):
        configure(enforced, cooldown_seconds=0)
        work(enforced)
        assert enforced.stop(DONE).reason
        work(enforced)
        configure(enforced, **{"cooldown_seconds": 0, **settings})
        assert not enforced.stop(WORKING).reason
        begun = time.time()

        reply = wait(enforced)

        assert reply.code == 2
        assert time.time() - begun >= 0.8  # the Stop came a little earlier


def test_it_may_be_quicker_than_the_stop_hook(enforced: World) -> None:
    with ThreadPoolExecutor() as pool:
        waiter = beside(pool, enforced)
        assert not waiter.done()
        enforced.stop(WORKING)
        assert waiter.result().code == 2


def test_it_leaves_when_the_stop_is_blocked(enforced: World) -> None:
    with ThreadPoolExecutor() as pool:
        waiter = beside(pool, enforced)
        assert enforced.stop(DONE).reason
        begun = time.monotonic()
        assert is_quiet(waiter.result())
        assert time.monotonic() - begun < 5


@pytest.mark.parametrize("what", ["prompt", "tool", "failure", "interrupt", "end", "off", "stop"])
def test_whatever_happens_meanwhile_ends_the_wait(enforced: World, what: str) -> None:
    configure(enforced, idle_seconds=60)
    enforced.stop(WORKING)
    with ThreadPoolExecutor() as pool:
        waiter = beside(pool, enforced)
        match what:
            case "prompt":
                enforced.prompt()
            case "tool":
                enforced.read("x.py")
            case "failure":
                enforced.hook("stop-failure", enforced.stop_payload("API Error: 500"))
            case "interrupt":
                enforced.hook("interrupt", enforced.stop_payload(None))
            case "end":
                enforced.hook("session-end", enforced.payload("SessionEnd.other"))
            case _:
                enforced.setenv("CLAUDE_PID", "")
                enforced.cli("enforce", what)

        assert is_quiet(waiter.result(timeout=PATIENCE))


def test_it_ends_with_its_client(enforced: World) -> None:
    configure(enforced, idle_seconds=60)
    with subprocess.Popen(["sleep", "60"]) as client, ThreadPoolExecutor() as pool:
        in_terminal(enforced, client.pid)
        enforced.stop(WORKING)
        waiter = beside(pool, enforced)
        client.kill()
        client.wait()
        assert is_quiet(waiter.result(timeout=PATIENCE))


def test_an_answered_command_does_not_end_the_wait(enforced: World) -> None:
    enforced.stop(WORKING)
    assert enforced.prompt(text="/sisyphus:enforce status").reason

    assert wait(enforced).code == 2


@pytest.mark.parametrize(
    "name",
    [
        "ralph-wiggum:ralph-stats", "ralph-wiggum:list-ralph-loops", "ralph-stats",
        "other:ralph-stats", "checkpoint",
    ],
)  # fmt: skip
def test_a_command_that_goes_to_the_model_ends_the_wait(
    enforced: World, name: str, quick_stop: None
) -> None:
    enforced.write(".claude/commands/checkpoint.md", "Do it my way.\n")
    enforced.stop(WORKING)
    assert not enforced.prompt(text=f"/{name}").reason

    assert is_quiet(wait(enforced))


def test_of_several_only_one_wakes(enforced: World) -> None:
    with ThreadPoolExecutor() as pool:
        waiters = [beside(pool, enforced) for _ in range(4)]
        enforced.stop(WORKING)
        codes = sorted(waiter.result().code for waiter in waiters)

    assert codes == [0, 0, 0, 2]
    assert exported(enforced)["iteration"] == 1


def test_a_woken_turn_may_be_blocked_as_often_as_any(enforced: World) -> None:
    configure(enforced, idle_seconds=0, cooldown_seconds=0, max_failures=0)
    assert [bool(enforced.stop(DONE).reason) for _ in range(8)] == [True] * 7 + [False]

    assert wait(enforced).code == 2

    assert enforced.stop(DONE).reason


def test_whatever_fails_it_wakes_nobody(enforced: World) -> None:
    enforced.stop(WORKING)
    for payload in (b"", b"{", b"[]", json.dumps({"session_id": 3}).encode()):
        assert is_quiet(enforced.hook("idle", payload))


@pytest.mark.slow
def test_what_an_earlier_stop_left_wakes_nobody(enforced: World) -> None:
    """A turn that no hook heard start has followed it."""
    import sqlite3

    enforced.stop(WORKING)
    with suppress(sqlite3.ProgrammingError), sqlite3.connect(enforced.ours / "sisyphus.db") as db:
        db.execute("UPDATE session SET idle_since = idle_since - 100")

    assert is_quiet(wait(enforced))


def test_too_many_failures_are_waited_for(enforced: World) -> None:
    limits = {"idle_seconds": 0, "cooldown_seconds": 0, "max_failures": 1}
    configure(enforced, **limits)
    enforced.stop(WORKING)
    assert wait(enforced).code == 2
    begun = time.time()
    configure(enforced, recovery_seconds=2, **limits)
    assert "holds back for" in enforced.stop(WORKING).message

    assert wait(enforced).code == 2

    assert time.time() - begun >= 1.5
    assert exported(enforced)["failureCount"] == 0


def test_why_says_that_a_prompt_was_a_wake(enforced: World) -> None:
    enforced.stop(WORKING)
    head = "<task-notification>\n<summary>Stop hook feedback</summary>\n</task-notification>\n"
    enforced.prompt(text=f"{head}<system-reminder>\n{wait(enforced).err}</system-reminder>")

    assert enforced.why()[-1]["notes"] == ["Enforcement 1 of 50: the agent was idle, and is woken."]
