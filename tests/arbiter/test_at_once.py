"""Many Stops at once, and Stops that die: what is counted, and what is left of a loop."""

from __future__ import annotations

import os
import random
import sys
import time
from typing import TYPE_CHECKING

import pytest
from making import finish, ours, run_hook, start_hook, stored, without_coverage
from ralph.lines import add, said, typed

from arbiter.desk import PROMISE
from sisyphus.clients.claude_code import CAP_VARIABLE
from sisyphus.memory import open_memory
from sisyphus.ralph import statefile

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path

    from arbiter.desk import Desk
    from sisyphus._types import Json
    from sisyphus.ralph.loop import Loop

STOPS = 40
SESSIONS = 20
KILLS = 60


@pytest.fixture
def desk(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> Desk:
    """With the clock of the installed command, and without a cap."""
    monkeypatch.setenv(CAP_VARIABLE, "0")
    desk.now = time.time()
    return desk


def _payload(desk: Desk, message: str, session: str = "s1") -> Json:
    return {
        "session_id": session,
        "transcript_path": str(desk.transcript.with_name(f"{session}.jsonl")),
        "cwd": str(desk.project),
        "last_assistant_message": message,
    }


def _start(desk: Desk, message: str, session: str = "s1") -> subprocess.Popen[bytes]:
    return start_hook("stop", _payload(desk, message, session), env=without_coverage())


def _file(desk: Desk, session: str = "s1") -> Path:
    return ours(desk.home, f"ralph/loops/ralph-loop.{session}.local.md")


def _loop(desk: Desk, session: str = "s1") -> Loop:
    return statefile.parse(_file(desk, session).read_text())


def _is_block(answer: tuple[int, Json]) -> bool:
    code, reply = answer
    assert code == 0
    return reply.get("decision") == "block"


def test_each_of_many_stops_at_once_counts_once(desk: Desk) -> None:
    desk.begin("--max-iterations 0")

    answers = [finish(process) for process in [_start(desk, "working") for _ in range(STOPS)]]

    blocks = sum(_is_block(answer) for answer in answers)
    assert blocks > 0
    assert _loop(desk).iteration == 1 + blocks
    assert [path.name for path in _file(desk).parent.glob("ralph-loop.*.md")] == [_file(desk).name]
    numbers = [row["iteration"] for row in desk.rows(_loop(desk).loop_id)]
    assert numbers == list(range(1, blocks + 1))
    assert [line["status"] for line in desk.log] == ["active"]
    assert open_memory(desk.ours).row("SELECT sum(blocked) FROM event") == (blocks,)


def test_a_promise_among_many_stops_at_once_ends_the_loop_once(desk: Desk) -> None:
    desk.begin("--max-iterations 0")

    started = [_start(desk, PROMISE if number % 4 == 0 else "working") for number in range(20)]
    answers = [finish(process)[1] for process in started]

    assert sum("systemMessage" in answer for answer in answers) == 1
    assert [line.get("outcome") for line in desk.log] == [None, "success"]
    assert desk.loops == []


def test_loops_of_many_sessions_at_once_do_not_touch_each_other(desk: Desk) -> None:
    names = [f"session-{number}" for number in range(SESSIONS)]
    for name in names:
        transcript = desk.transcript.with_name(f"{name}.jsonl")
        args = f'"work of {name}" --completion-promise "{name} is done" --max-minutes 0'
        add(transcript, typed(args))

    def all_say(message: Callable[[int], str]) -> list[Json]:
        started = [_start(desk, message(i), name) for i, name in enumerate(names)]
        return [finish(process)[1] for process in started]

    first = all_say(lambda _: "working")
    others = all_say(lambda i: f"<promise>{names[i - 1]} is done</promise>")
    for name, *answers in zip(names, first, others, strict=True):
        for answer in answers:
            assert f"<promise>{name} is done</promise>" in answer["reason"]
        assert _loop(desk, name).iteration == 3
        assert _loop(desk, name).prompt == f"work of {name}"

    last = all_say(lambda i: f"<promise>{names[i]} is done</promise>")
    assert all("[RALPH LOOP COMPLETE]" in answer["systemMessage"] for answer in last)
    assert [*_file(desk).parent.glob("ralph-loop.*.md")] == []
    assert len(desk.log) == 2 * SESSIONS


def test_a_stop_that_is_killed_at_any_moment_leaves_the_loop_whole(desk: Desk) -> None:
    desk.begin("--max-iterations 0")
    chance = random.Random(7)  # noqa: S311  # no secret
    began = time.perf_counter()
    finish(_start(desk, "working"))
    life = time.perf_counter() - began
    iteration = _loop(desk).iteration

    for _ in range(KILLS):
        process = _start(desk, "working")
        time.sleep(chance.uniform(0.2 * life, 1.1 * life))
        process.kill()
        process.communicate()
        now = _loop(desk).iteration
        assert iteration <= now <= iteration + 1
        iteration = now

    assert _is_block(run_hook("stop", _payload(desk, "working")))
    assert _loop(desk).iteration == iteration + 1
    assert [*_file(desk).parent.glob("*.corrupt-*")] == []


# --- death at each operation on a file ----------------------------------------------------------

_MEANT = ("open", "os.rename", "os.remove", "os.mkdir")


def _dies_at(desk: Desk, operation: int, message: str) -> bool:
    """A Stop that dies at this operation on our files; False = it has not so many."""
    child = os.fork()
    if child == 0:
        left = operation
        folder = desk.ours

        def watch(event: str, given: tuple[object, ...]) -> None:
            nonlocal left
            if event in _MEANT and str(given[0]).startswith(folder):
                left -= 1
                if left < 0:
                    os.kill(os.getpid(), 9)

        sys.addaudithook(watch)
        try:
            desk.stop(message)
        finally:
            os.kill(os.getpid(), 15)
    _, status = os.waitpid(child, 0)
    return os.WTERMSIG(status) == 9


def test_a_blocked_stop_that_dies_anywhere_leaves_the_loop(desk: Desk) -> None:
    loop_id = desk.begin("--max-iterations 0")
    desk.answer("working")
    operation = 0

    while _dies_at(desk, operation, "working"):
        before = _loop(desk).iteration
        assert desk.stop("working").reason is not None
        after = _loop(desk)
        assert (after.loop_id, after.iteration) == (loop_id, before + 1)
        operation += 1

    assert operation > 5
    assert [*_file(desk).parent.glob("*.corrupt-*")] == []


def test_a_stop_that_ends_a_nested_loop_and_dies_never_loses_the_outer_one(desk: Desk) -> None:
    operation, dies = 0, True

    while dies:
        outer, inner = desk.begin(prompt_id=f"p{operation}"), desk.nest(call=f"toolu_{operation}")
        dies = _dies_at(desk, operation, "<promise>INNER</promise>")
        assert [loop.loop_id for loop in desk.loops] in ([outer, inner], [outer])
        outcome = desk.answer("<promise>INNER</promise>")
        assert "Expected promise: <promise>DONE</promise>" in str(outcome.reason)
        assert [loop.loop_id for loop in desk.loops] == [outer]
        assert desk.answer(PROMISE).reason is None
        assert desk.loops == []
        operation += 1

    assert operation > 5


def test_a_stop_that_finds_a_loop_in_the_transcript_and_dies_finds_it_again(desk: Desk) -> None:
    operation, dies = 0, True

    while dies:
        args = f'"task {operation}" --completion-promise DONE --max-minutes 0'
        desk.add(typed(args), said("working"))
        dies = _dies_at(desk, operation, "working")
        outcome = desk.answer("working")
        assert outcome.reason is not None
        assert (len(desk.loops), desk.loop.prompt) == (1, f"task {operation}")
        assert desk.answer(PROMISE).reason is None
        operation += 1

    assert operation > 5
    assert stored(ours(desk.home, "ralph/loops/session-s1.json"))["offset"] > 0
