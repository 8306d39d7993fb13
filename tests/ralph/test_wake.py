"""A session that waits for its account's limit; the clock goes on while somebody sleeps."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from making import HANG_SECONDS, a_payload, noted, ours, put, start_hook

from ralph.lines import raw, said
from sisyphus.ralph import hooks, loop, store, wake
from sisyphus.ralph.loop import Loop
from sisyphus.times import iso
from sisyphus.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sisyphus._types import Json
    from sisyphus.clients.base import Outcome

NOW = 1_795_200_000.0
HOUR = 3_600
HIT = "You've hit your 5-hour limit · resets 10pm (UTC)"
RESET = NOW + 12_000  # 10 pm


class Bench:
    """The session "s1" with a loop, whose client is this process."""

    def __init__(self, home: Path, project: Path) -> None:
        self.ours = str(ours(home, ""))
        self.project = str(project)
        self.transcript = str(project / "s1.jsonl")
        self.now = NOW
        self.naps: list[float] = []
        self._plans: list[tuple[float, Callable[[], object]]] = []

    def has_loop(self, **fields: object) -> None:
        found = Loop("s1", "abcde", "do it")
        found.options = {"resume_after_limit": True}
        for name, value in fields.items():
            setattr(found, name, value)
        with store.LoopStore(self.ours, "s1") as held:
            held.save([found])

    def fails(self, error: str = "rate_limit", message: str = "429") -> Outcome | None:
        """A turn fails, as the hook that notes it hears of it."""
        return hooks.on_stop_failure(
            a_payload(
                "stop-failure",
                error=error,
                last_assistant_message=message,
                transcript_path=self.transcript,
            ),
            self._space(),
        )

    def later(self, seconds: float, event: Callable[[], object]) -> None:
        """Something happens so long after `NOW`."""
        self._plans.append((NOW + seconds, event))

    def waits(self, **raw_fields: object) -> Outcome | None:
        """A hook waits; how long it did is `waited` then."""
        payload = a_payload("idle", transcript_path=self.transcript, **raw_fields)
        return wake.on_idle(payload, self._space(), self._sleep, lambda: self.now)

    @property
    def waited(self) -> float:
        return self.now - NOW

    @property
    def waiting(self) -> Json:
        with store.LoopStore(self.ours, "s1") as held:
            return held.loops[-1].waiting

    def speaks(self, prompt: str = "go on") -> None:
        payload = a_payload("user-prompt-submit", prompt=prompt)
        hooks.on_user_prompt_submit(payload, self._space())

    def _sleep(self, seconds: float) -> None:
        self.naps.append(seconds)
        self.now += seconds
        for due, event in [plan for plan in self._plans if plan[0] <= self.now]:
            self._plans.remove((due, event))
            event()

    def _space(self) -> Workspace:
        return Workspace(self.project, now=self.now)


@pytest.fixture
def bench(home: Path, project: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    monkeypatch.setenv("CLAUDE_PID", str(os.getpid()))
    return Bench(home, project)


def _notes(outcome: Outcome | None) -> list[str]:
    assert outcome is not None
    assert outcome.reason is None
    return outcome.notes


def test_a_session_is_woken_two_minutes_behind_the_reset(bench: Bench) -> None:
    bench.has_loop()
    bench.fails(message=HIT)

    outcome = bench.waits()

    assert outcome is not None
    assert outcome.reason == wake.TEXT
    assert outcome.notes == ["woken: the usage limit is over"]
    assert bench.now == RESET + 120


def test_where_no_reset_is_known_it_is_tried_again_and_again(bench: Bench) -> None:
    bench.has_loop()
    waited = []
    for _ in range(7):
        began = bench.now
        bench.fails("overloaded")
        assert bench.waits() is not None
        waited.append(bench.now - began)

    assert waited == [300, 600, 1_200, 2_400, 3_600, 3_600, 3_600]


def test_behind_a_turn_that_went_well_it_begins_anew(bench: Bench) -> None:
    bench.has_loop()
    bench.fails()
    bench.fails()
    assert bench.waiting["tries"] == 1

    bench.speaks()
    bench.fails()

    assert bench.waiting["tries"] == 0


def test_looks_are_seldom_and_none_is_late(bench: Bench) -> None:
    bench.has_loop()
    bench.fails()
    bench.waits()

    assert bench.naps == [0, *[10] * 30]


NOBODY = [
    pytest.param({"options": {}}, {}, id="the loop does not ask for it"),
    pytest.param({"status": loop.PAUSED}, {}, id="the loop is paused"),
    pytest.param({}, {"agent_id": "a1"}, id="a subagent"),
    pytest.param({}, {"session_id": "../x"}, id="no session"),
    pytest.param({}, {"session_id": "s2"}, id="another session"),
    pytest.param({}, {"hook_event_name": "Stop"}, id="no failure"),
]


@pytest.mark.parametrize(("fields", "raw_fields"), NOBODY)
def test_who_is_not_to_be_woken_is_left_at_once(
    bench: Bench, fields: dict[str, object], raw_fields: dict[str, object]
) -> None:
    bench.has_loop(waiting={"for": "rate limit", "since": int(NOW), "until": 0}, **fields)

    assert bench.waits(**raw_fields) is None
    assert bench.naps == []


def test_without_a_loop_nobody_waits(bench: Bench, home: Path) -> None:
    assert bench.waits() is None
    assert (bench.naps, ours(home, "ralph").exists()) == ([], False)


def test_where_ralph_is_switched_off_nobody_waits(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.has_loop()
    bench.fails()
    monkeypatch.setenv("SISYPHUS_RALPH_ENABLED", "0")

    assert bench.waits() is None
    assert bench.naps == []


def test_a_loop_that_cannot_be_read_wakes_nobody(bench: Bench, home: Path) -> None:
    path = put(ours(home, "ralph/loops/ralph-loop.s1.local.md"), "garbage")

    assert bench.waits() is None
    assert path.read_text() == "garbage"


def test_the_failure_may_be_noted_a_little_later(bench: Bench) -> None:
    bench.has_loop()
    bench.later(2, bench.fails)

    outcome = bench.waits()

    assert outcome is not None
    assert outcome.reason == wake.TEXT
    assert bench.naps[:3] == [0, 1, 3]


def test_a_failure_that_is_noted_by_nobody_is_not_waited_for(bench: Bench) -> None:
    bench.has_loop()

    assert bench.waits() is None
    assert bench.waited == 10


def test_what_an_earlier_failure_left_wakes_nobody_at_once(bench: Bench) -> None:
    bench.has_loop(waiting={"for": "rate limit", "since": int(NOW) - 900, "until": 0, "tries": 0})
    bench.later(3, lambda: bench.fails("overloaded"))

    outcome = bench.waits()

    assert outcome is not None
    assert outcome.notes == ["woken: the server's trouble is over"]
    assert bench.waited == 4 + 600


def _unknown_error(bench: Bench) -> None:
    bench.fails("authentication_failed")


def _stops(bench: Bench) -> None:
    """A turn went well: a Stop leaves nothing to wait for."""
    bench.has_loop(waiting={})


def _is_cancelled(bench: Bench) -> None:
    bench.speaks("/sisyphus:cancel-ralph")


def _is_paused(bench: Bench) -> None:
    bench.speaks("/sisyphus:ralph-pause")


MEANWHILE = [
    pytest.param(Bench.speaks, id="the user speaks"),
    pytest.param(_stops, id="a turn goes well"),
    pytest.param(_is_cancelled, id="the loop is cancelled"),
    pytest.param(_is_paused, id="the loop is paused"),
    pytest.param(_unknown_error, id="another trouble, which does not go away"),
]


@pytest.mark.parametrize("event", MEANWHILE)
def test_who_is_awake_already_is_not_woken(bench: Bench, event: Callable[[Bench], object]) -> None:
    bench.has_loop()
    bench.fails(message=HIT)
    bench.later(HOUR, lambda: event(bench))

    assert _notes(bench.waits()) == ["the loop waits no more for the limit"]
    assert bench.waited == HOUR


def test_a_machines_prompt_is_no_users(bench: Bench) -> None:
    bench.has_loop()
    bench.fails()
    bench.speaks("<task-notification>\n<summary>Stop hook feedback</summary>")

    assert bench.waiting


def test_another_failure_meanwhile_is_waited_for_by_whoever_waits(bench: Bench) -> None:
    bench.has_loop()
    bench.fails()
    bench.later(200, bench.fails)

    outcome = bench.waits()

    assert outcome is not None
    assert outcome.reason == wake.TEXT
    assert bench.waited == 200 + 600


def test_a_client_that_has_gone_is_not_woken(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as client:
        monkeypatch.setenv("CLAUDE_PID", str(client.pid))
        bench.has_loop()
        bench.fails()

        def leaves() -> None:
            client.kill()
            client.wait(HANG_SECONDS)

        bench.later(100, leaves)

        assert _notes(bench.waits()) == ["the client has gone while the loop waited"]
        assert bench.waited == 100


ANSWERS = [
    pytest.param({}, "the session goes on by itself", id="an answer"),
    pytest.param({"isApiErrorMessage": True}, "woken: the rate limit is over", id="the failure"),
    pytest.param({"isSidechain": True}, "woken: the rate limit is over", id="a subagent's"),
    pytest.param({"timestamp": None}, "woken: the rate limit is over", id="nobody knows when"),
    pytest.param(
        {"timestamp": iso(NOW + 0.9)}, "woken: the rate limit is over", id="at that moment"
    ),
    pytest.param({"timestamp": iso(NOW + 1)}, "the session goes on by itself", id="a second later"),
]


@pytest.mark.parametrize(("fields", "note"), ANSWERS)
def test_a_session_that_the_client_took_up_is_not_woken(
    bench: Bench, fields: dict[str, object], note: str
) -> None:
    early = said("x", timestamp=iso(NOW - 5))
    later = said("x", **{"timestamp": iso(NOW + 60), **fields})
    put(Path(bench.transcript), raw(early, later))
    bench.has_loop()
    bench.fails()

    outcome = bench.waits()

    assert outcome is not None
    assert outcome.notes == [note]


@pytest.fixture
def _somebody_waits(bench: Bench, home: Path) -> Iterator[None]:
    """Another process, which holds what who waits holds."""
    bench.has_loop()
    path = ours(home, "ralph/loops/ralph-loop.s1.local.md.wake")
    code = f"""
import sys
from sisyphus.state.lock import Lock
with Lock({str(path)!r}):
    print("here", flush=True)
    sys.stdin.read()
"""
    command = [sys.executable, "-c", code]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"here\n"
        yield
        other.communicate(timeout=HANG_SECONDS)


@pytest.mark.usefixtures("_somebody_waits")
def test_one_waits_for_a_session(bench: Bench) -> None:
    bench.fails()

    assert _notes(bench.waits()) == ["another hook waits for the limit already"]
    assert bench.naps == [0]


DUE = [
    pytest.param({"since": 1_000, "until": 5_000}, 5_120, id="behind the reset"),
    pytest.param({"since": 1_000, "until": 0}, 1_300, id="the first try"),
    pytest.param({"since": 1_000, "tries": 2}, 2_200, id="the third"),
    pytest.param({"since": 1_000, "tries": 9_999}, 4_600, id="a later one"),
    pytest.param({"since": "x", "until": [], "tries": None}, 300, id="nothing usable"),
    pytest.param({"since": 1_000, "until": float("inf")}, 1_300, id="for ever"),
    pytest.param({"since": float("nan"), "tries": float("nan")}, 300, id="no numbers"),
    pytest.param({"since": 10**400, "tries": 10**400}, 300, id="numbers of many digits"),
    pytest.param({"since": 1_000, "until": -5, "tries": -5}, 1_300, id="below zero"),
    pytest.param({}, 300, id="nothing"),
]


@pytest.mark.parametrize(("waiting", "moment"), DUE)
def test_when_it_is_tried_again(waiting: dict[str, object], moment: float) -> None:
    assert wake.due(waiting, 300) == moment


def test_the_real_hook_says_it_on_stderr_and_exits_2(home: Path, project: Path) -> None:
    """As an asynchronous hook of the client's: a limit that is over wakes at once."""
    found = Loop("s1", "abcde", "do it")
    found.options = {"resume_after_limit": True}
    found.waiting = {"for": "usage limit", "since": int(time.time()), "until": 1_000, "tries": 0}
    with store.LoopStore(str(ours(home, "")), "s1") as held:
        held.save([found])
    payload = {"session_id": "s1", "cwd": str(project)}
    environment = {**os.environ, "CLAUDE_PID": str(os.getpid())}

    process = start_hook("idle", payload, env=environment)

    stdout, stderr = process.communicate(timeout=HANG_SECONDS)
    assert (process.returncode, stdout, stderr.decode()) == (2, b"", f"{wake.TEXT}\n")
    assert "woken: the usage limit is over" in noted(ours(home, ""))
