"""A hook that waits beside a session of Claude Code; the clock goes on while it sleeps."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest
from making import HANG_SECONDS, finish, noted, ours, put, run_hook, start_hook
from ralph.lines import prompt, said

from enforce.desk import DONE, MACHINE, NOT_DONE, Desk
from sisyphus.clients.claude_code import ENTRY_VARIABLE, TERMINAL
from sisyphus.enforce import idle, marks, texts
from sisyphus.ralph.loop import Loop
from sisyphus.ralph.store import LoopStore
from sisyphus.times import iso

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from sisyphus.clients.base import Outcome

WOKEN = "idle for {} s (Enforcement {} of 50)"


class Bench(Desk):
    """The session's client is this process; what happens later is planned."""

    def __init__(self, home: Path, project: Path) -> None:
        super().__init__(home, project)
        self.naps: list[float] = []
        self._plans: list[tuple[float, Callable[[], object]]] = []

    def later(self, seconds: float, event: Callable[[], object]) -> None:
        """Something happens so long from now."""
        self._plans.append((self.now + seconds, event))

    def waits(self, session: str = "s1", **raw: object) -> Outcome | None:
        payload = self.payload("idle", session, **{"hook_event_name": "Stop", **raw})
        return idle.on_idle(payload, self.space(), self._sleep, lambda: self.now)

    def rests(self, message: str = NOT_DONE) -> Outcome | None:
        """The model stops, and a hook waits."""
        self.stop(message)
        return self.waits()

    def _sleep(self, seconds: float) -> None:
        self.naps.append(seconds)
        self.now += seconds
        for due, event in [plan for plan in self._plans if plan[0] <= self.now]:
            self._plans.remove((due, event))
            event()


@pytest.fixture
def bench(home: Path, project: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    """A session in a terminal that has used a tool since the user spoke."""
    monkeypatch.setenv("CLAUDE_PID", str(os.getpid()))
    monkeypatch.setenv(ENTRY_VARIABLE, TERMINAL)
    found = Bench(home, project)
    found.on()
    found.says()
    found.now += 10
    found.uses_a_tool()
    found.now += 10
    return found


def _not_woken(outcome: Outcome | None) -> str:
    assert outcome is not None
    assert outcome.reason is None
    [note] = outcome.notes
    return note.removeprefix("not woken: ")


def test_a_session_that_rests_is_woken(bench: Bench) -> None:
    began = bench.now

    outcome = bench.rests()

    assert outcome is not None
    assert "The session has been idle for 30 seconds." in str(outcome.reason)
    assert outcome.notes == ["woken: " + WOKEN.format(30, 1)]
    assert bench.now - began == 30
    assert set(bench.naps) == {2}


def test_the_threshold_is_a_setting(bench: Bench) -> None:
    bench.set(idle_seconds=0.5)
    began = bench.now

    assert bench.rests() is not None
    assert bench.now - began == 0.5


def test_it_is_woken_later_each_time_it_does_nothing(bench: Bench) -> None:
    waited = []
    for _ in range(5):
        began = bench.now
        outcome = bench.rests()
        assert outcome is not None
        assert outcome.reason is not None
        waited.append(round(bench.now - began))
        bench.now += 1
        bench.says(MACHINE)
        bench.now += 1

    assert waited == [30, 58, 118, 238, 478]
    assert _not_woken(bench.rests()).startswith("failures: 5 of 5 in a row")


def test_who_works_is_woken_after_the_same_time(bench: Bench) -> None:
    for count in range(1, 9):
        outcome = bench.rests()
        assert outcome is not None
        assert outcome.notes == ["woken: " + WOKEN.format(30, count)]
        bench.now += 1
        bench.uses_a_tool()
        bench.now += 1


NEVER = [
    pytest.param({"agent_id": "a1"}, id="a subagent"),
    pytest.param({"permission_mode": "plan"}, id="plan mode"),
    pytest.param({"session_id": "../x"}, id="no session"),
    pytest.param({"hook_event_name": "StopFailure"}, id="a failure"),
    pytest.param({"hook_event_name": ""}, id="nobody knows what"),
]


@pytest.mark.parametrize("raw", NEVER)
def test_who_is_never_woken_is_left_at_once(bench: Bench, raw: dict[str, Any]) -> None:
    bench.stop(NOT_DONE)

    assert bench.waits(**raw) is None
    assert bench.naps == []


@pytest.mark.parametrize("entry", ["sdk-cli", "", "claude-vscode"])
def test_where_there_is_no_terminal_nobody_waits(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, entry: str
) -> None:
    monkeypatch.setenv(ENTRY_VARIABLE, entry)

    assert bench.rests() is None
    assert bench.naps == []


def test_while_it_is_off_nobody_waits(bench: Bench) -> None:
    bench.set(enabled=False)
    assert bench.rests() is None
    bench.set()
    bench.off()
    assert bench.rests() is None
    assert bench.naps == []


def _stopped(bench: Bench) -> None:
    bench.stops_it()


def _exhausted(bench: Bench) -> None:
    state = bench.state_path
    put(state, state.read_text().replace('"iteration": 0', '"iteration": 50'))


BARRED = [
    pytest.param(_stopped, "user: stopped by the user until the next prompt", id="it is stopped"),
    pytest.param(_exhausted, "limit: 50 of 50", id="no enforcement is left"),
]


@pytest.mark.parametrize(("event", "why"), BARRED)
def test_what_comes_not_by_itself_is_not_waited_for(
    bench: Bench, event: Callable[[Bench], None], why: str
) -> None:
    event(bench)

    assert _not_woken(bench.rests()) == why
    assert bench.naps == []


HELD = [
    pytest.param("Which one?", {}, "the model asks the user something", id="a question"),
    pytest.param(
        NOT_DONE,
        {"session_crons": [{"id": "c1"}]},
        "background work is pending: c1",
        id="background work",
    ),
]


@pytest.mark.parametrize(("message", "raw", "why"), HELD)
def test_what_holds_it_back_at_stop_holds_it_back_here(
    bench: Bench, message: str, raw: dict[str, Any], why: str
) -> None:
    bench.stop(message, **raw)

    assert _not_woken(bench.waits()) == why
    assert bench.naps == []


def _loop(bench: Bench) -> None:
    with LoopStore(bench.ours, "s1") as held:
        held.save([Loop("s1", "abcde", "do it")])


def test_a_loop_holds_its_session_itself(bench: Bench) -> None:
    bench.stop(NOT_DONE)
    _loop(bench)

    assert _not_woken(bench.waits()) == "a loop holds the session"


def _speaks(bench: Bench) -> None:
    bench.says("go on")


def _tool(bench: Bench) -> None:
    bench.uses_a_tool()


def _off(bench: Bench) -> None:
    bench.off()


def _machine(bench: Bench) -> None:
    bench.says(MACHINE)


def _compacts(bench: Bench) -> None:
    bench.event("pre-compact")


AT_WORK = "the session is at work again"
MEANWHILE = [
    pytest.param(_speaks, AT_WORK, id="the user speaks"),
    pytest.param(_tool, AT_WORK, id="a tool is used"),
    pytest.param(_machine, AT_WORK, id="a machine wakes it"),
    pytest.param(_compacts, AT_WORK, id="it is compacted"),
    pytest.param(_stopped, "user: stopped by the user until the next prompt", id="it is stopped"),
    pytest.param(_loop, "a loop holds the session", id="a loop begins"),
]


@pytest.mark.parametrize(("event", "why"), MEANWHILE)
def test_whoever_moves_is_not_woken(bench: Bench, event: Callable[[Bench], None], why: str) -> None:
    began = bench.now
    bench.later(15, lambda: event(bench))

    assert _not_woken(bench.rests()) == why
    assert bench.now - began == 16


def test_switched_off_nobody_waits_any_more(bench: Bench) -> None:
    bench.later(15, bench.off)

    assert bench.rests() is None


def test_the_end_of_the_session_is_the_end_of_the_wait(bench: Bench) -> None:
    bench.later(15, lambda: bench.ends(reason="clear"))

    assert bench.rests() is None
    assert not os.path.exists(marks.waiter_path(bench.ours, "s1"))


def test_the_newest_alone_waits(bench: Bench) -> None:
    bench.later(5, lambda: put(bench.home / _waiter(bench), "1-ff"))
    began = bench.now

    assert bench.rests() is None
    assert bench.now - began == 6


def test_who_waits_leaves_nothing_but_its_token(bench: Bench) -> None:
    assert bench.rests() is not None

    assert sorted(os.listdir(os.path.dirname(marks.waiter_path(bench.ours, "s1")))) == [
        "s1.tools", "s1.waiter",
    ]  # fmt: skip


def _waiter(bench: Bench) -> str:
    return os.path.relpath(marks.waiter_path(bench.ours, "s1"), bench.home)


def test_a_client_that_has_gone_is_not_woken(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as client:
        monkeypatch.setenv("CLAUDE_PID", str(client.pid))

        def leaves() -> None:
            client.kill()
            client.wait(HANG_SECONDS)

        bench.later(15, leaves)
        began = bench.now

        assert _not_woken(bench.rests()) == "the client has gone"
        assert bench.now - began == 16


def test_without_a_client_nobody_is_woken(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CLAUDE_PID")

    assert _not_woken(bench.rests()) == "the client has gone"


# --- the Stop that is not noted yet ---------------------------------------------------------------


def test_the_stop_may_be_noted_a_little_later(bench: Bench) -> None:
    bench.later(3, lambda: bench.stop(NOT_DONE))
    began = bench.now

    outcome = bench.waits()

    assert outcome is not None
    assert outcome.reason is not None
    assert bench.now - began == 34


def test_a_stop_that_is_noted_by_nobody_is_not_waited_for(bench: Bench) -> None:
    began = bench.now

    assert _not_woken(bench.waits()) == "no Stop of the session is known"
    assert bench.now - began == 10


def test_what_an_earlier_stop_left_is_not_this_one(bench: Bench) -> None:
    """Two Stops in a moment: the first was told to go on, and the second is noted late."""
    bench.stop(DONE)
    bench.now += 0.2
    bench.later(1, lambda: bench.stop(NOT_DONE))

    outcome = bench.waits()

    assert outcome is not None
    assert outcome.reason is not None


def test_a_session_that_was_told_to_go_on_is_left_soon(bench: Bench) -> None:
    began = bench.now

    assert _not_woken(bench.rests(DONE)) == AT_WORK
    assert bench.now - began == 2


# --- the transcript -------------------------------------------------------------------------------


def _written(bench: Bench, seconds: float, **fields: object) -> None:
    """A line of the moment that lies so far behind the Stop is written when it is time."""
    at = iso(bench.now + seconds)
    record = {**said("x"), "timestamp": at, **fields}
    bench.later(max(seconds, 0.1), lambda: bench.add(record))


def test_late_lines_of_the_turn_are_no_turn(bench: Bench) -> None:
    bench.add(prompt("do it"))
    bench.stop(NOT_DONE)
    bench.later(1, lambda: bench.add({**said("x"), "timestamp": iso(bench.now - 5)}))

    outcome = bench.waits()

    assert outcome is not None
    assert outcome.reason is not None


def test_a_turn_that_no_hook_heard_begin_ends_in_a_rest_as_well(bench: Bench) -> None:
    """Its Stop is noted a moment after the look of who waits."""
    bench.add(prompt("do it"))
    bench.stop(NOT_DONE)
    bench.now += 20
    bench.add({**said("x"), "timestamp": iso(bench.now)})
    bench.now += 0.5
    bench.later(1, lambda: bench.stop(NOT_DONE))
    began = bench.now

    outcome = bench.waits()

    assert outcome is not None
    assert outcome.reason is not None
    assert bench.now - began >= 30


LINES = [
    pytest.param({}, AT_WORK, id="the model speaks"),
    pytest.param(
        {"type": "user", "message": {"role": "user", "content": "<bash-input>ls</bash-input>"}},
        AT_WORK,
        id="the user runs a command",
    ),
    pytest.param({"type": "system"}, "", id="a note of the client's"),
    pytest.param({"isSidechain": True}, "", id="a subagent's"),
    pytest.param({"timestamp": None}, "", id="nobody knows when"),
]


@pytest.mark.parametrize(("fields", "why"), LINES)
def test_a_turn_that_no_hook_hears_of_is_seen(
    bench: Bench, fields: dict[str, object], why: str
) -> None:
    bench.stop(NOT_DONE)
    _written(bench, 10, **fields)

    outcome = bench.waits()

    assert outcome is not None
    assert (outcome.reason is None) == bool(why)
    if why:
        assert _not_woken(outcome) == why


def test_it_is_told_once_its_transcript_is_stable(bench: Bench) -> None:
    bench.stop(NOT_DONE)
    _written(bench, 28, type="system")
    began = bench.now

    assert bench.waits() is not None
    assert bench.now - began == 33


def test_a_change_at_the_last_moment_is_seen_under_the_lock(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the look and the lock somebody else wakes the session."""
    from sisyphus.enforce import rest

    real = rest.look

    def late(*args: object) -> Outcome:
        bench.says("go on")
        monkeypatch.setattr(rest, "look", real)
        return real(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(rest, "look", late)

    assert _not_woken(bench.rests()) == AT_WORK
    assert bench.entry()["iteration"] == 0


# --- the real thing -------------------------------------------------------------------------------


@pytest.fixture
def client() -> Iterator[subprocess.Popen[bytes]]:
    """Stands for the client's process."""
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        yield process
        process.kill()


class Real:
    """The session's real hooks."""

    def __init__(self, desk: Desk, client: subprocess.Popen[bytes]) -> None:
        self.desk = desk
        self.client = client
        self.waiter = desk.home / os.path.relpath(marks.waiter_path(desk.ours, "s1"), desk.home)

    def hook(self, event: str, idle_seconds: int = 3_600) -> subprocess.Popen[bytes]:
        payload = {
            "session_id": "s1",
            "cwd": str(self.desk.project),
            "hook_event_name": "Stop",
            "last_assistant_message": NOT_DONE,
        }
        variables = {
            "CLAUDE_PID": str(self.client.pid),
            ENTRY_VARIABLE: TERMINAL,
        }
        self.desk.set(idle_seconds=idle_seconds, stability_seconds=0)
        return start_hook(event, payload, env={**os.environ, **variables})

    def waits(self) -> subprocess.Popen[bytes]:
        """The session stops, and a hook waits beside it for an hour."""
        assert finish(self.hook("stop")) == (0, {})
        process = self.hook("idle")
        _until(self.waiter.exists)
        return process


def _until(condition: Callable[[], object]) -> None:
    end = time.monotonic() + HANG_SECONDS
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


@pytest.fixture
def real(home: Path, project: Path, client: subprocess.Popen[bytes]) -> Real:
    desk = Desk(home, project)
    desk.now = time.time()
    desk.on()
    desk.says()
    return Real(desk, client)


def test_the_real_hook_wakes_by_its_exit_code(real: Real) -> None:
    waiting = real.hook("idle", 2)
    finish(real.hook("stop", 2))

    stdout, stderr = waiting.communicate(timeout=HANG_SECONDS)

    assert (waiting.returncode, stdout) == (2, b"")
    assert stderr.decode().startswith(f"[{texts.HEAD}]\n\nThe session has been idle for 2 seconds.")
    assert real.desk.entry()["iteration"] == 1


def test_the_real_hook_leaves_with_its_client(real: Real) -> None:
    waiting = real.waits()
    real.client.kill()
    real.client.wait(HANG_SECONDS)

    assert finish(waiting) == (0, {})
    assert "not woken: the client has gone" in _journal(real.desk)


def test_of_two_real_hooks_the_newer_stays(real: Real) -> None:
    first = real.waits()
    token = real.waiter.read_text()
    second = real.hook("idle")
    _until(lambda: real.waiter.read_text() != token)

    assert finish(first) == (0, {})
    assert second.poll() is None
    real.desk.now = time.time()
    real.desk.off()
    assert finish(second) == (0, {})


def test_a_waiting_hook_holds_no_lock(real: Real) -> None:
    waiting = real.waits()

    real.desk.now = time.time()
    real.desk.says("go on")

    assert finish(waiting) == (0, {})
    assert f"not woken: {AT_WORK}" in _journal(real.desk)


def _journal(desk: Desk) -> str:
    return "\n".join(noted(desk.home / ".claude/.sisyphus"))


def test_a_quiet_hook_leaves_no_line(home: Path, project: Path) -> None:
    payload = {"session_id": "s1", "cwd": str(project), "hook_event_name": "Stop"}

    assert run_hook("idle", payload) == (0, {})
    assert noted(ours(home, "")) == []
