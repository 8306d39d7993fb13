from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from making import (
    a_space,
    a_start,
    begin,
    finish,
    know_session,
    ours,
    put,
    run_hook,
    start_hook,
    without_coverage,
)
from session.processes import nobody_above

from ralph.lines import add, prompt
from sisyphus.clients.claude_code import heard
from sisyphus.ralph import rebind as module
from sisyphus.ralph import store
from sisyphus.ralph.loop import Loop
from sisyphus.ralph.rebind import rebind
from sisyphus.session import client_process

if TYPE_CHECKING:
    from pathlib import Path

    from sisyphus._types import Json
    from sisyphus.clients.base import Outcome

NOW = 1_000_000.0
TOLD = """\
[RALPH LOOP]

The loop goes on after /clear: do bbbbb (iteration 4 of 20).
To end it: sisyphus ralph cancel"""


@pytest.fixture(autouse=True)
def _inside(monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    """This process plays the client, which is in the session "s1"."""
    nobody_above(monkeypatch)
    monkeypatch.setenv("CLAUDE_PID", str(os.getpid()))
    client_process.bind(str(ours(home, "")), "s1", NOW)


def _loop(loop_id: str, session: str = "s1") -> Loop:
    loop = Loop(session, loop_id, f"do {loop_id}")
    loop.completion_promise = "DONE"
    loop.max_iterations = 20
    loop.iteration = 4
    loop.started_at = "2026-11-20T15:00:00.000Z"
    loop.origin = f"uuid of {loop_id}"
    loop.options = {"verify": "make test"}
    return loop


def _give(home: Path, *loop_ids: str, session: str = "s1") -> None:
    with store.LoopStore(str(ours(home, "")), session) as held:
        held.memory.learn({"prompt p1"})
        held.memory.blocks = 3
        held.memory.tasks = {"b1": 0.0}
        held.save([_loop(loop_id, session) for loop_id in loop_ids])


def _ids(home: Path, session: str) -> list[str]:
    with store.LoopStore(str(ours(home, "")), session) as held:
        assert held.faults == []
        return [loop.loop_id for loop in held.loops]


def _clear(project: Path, session: str = "s2", **raw: object) -> Outcome | None:
    """/clear in the client, as the handlers of a session start hear of it."""
    payload = a_start("clear", session_id=session, **raw)
    begin(payload, a_space(project))
    return rebind(payload, a_space(project))


def test_the_loops_come_along(home: Path, project: Path) -> None:
    _give(home, "aaaaa", "bbbbb")
    outcome = _clear(project)

    assert outcome is not None
    assert outcome.messages == [TOLD]
    assert outcome.notes == ["loop bbbbb came from session s1 after /clear"]
    assert (_ids(home, "s1"), _ids(home, "s2")) == ([], ["aaaaa", "bbbbb"])
    assert not store.has_loop(str(ours(home, "")), "s1")


def test_what_holds_the_session_to_a_plan_comes_in_its_own_words(home: Path, project: Path) -> None:
    with store.LoopStore(str(ours(home, "")), "s1") as held:
        loop = _loop("aaaaa")
        loop.options = {"plan": "/p/PLAN.md"}
        held.save([loop])

    outcome = _clear(project)

    assert outcome is not None
    assert outcome.messages[0].startswith(
        "[BOULDER ENFORCEMENT]\n\nThe enforcement of the plan goes on after /clear: do aaaaa"
    )


def test_a_loop_keeps_what_it_has_but_for_its_session(home: Path, project: Path) -> None:
    _give(home, "aaaaa")
    _clear(project)

    with store.LoopStore(str(ours(home, "")), "s2") as held:
        (loop,) = held.loops
    wanted = _loop("aaaaa", "s2")
    wanted.prompt_known = False
    assert {name: getattr(loop, name) for name in Loop.__slots__} == {
        name: getattr(wanted, name) for name in Loop.__slots__
    }


def test_the_new_session_begins_anew_and_starts_nothing_twice(
    home: Path, project: Path, tmp_path: Path
) -> None:
    transcript = tmp_path / "t.jsonl"
    add(transcript, prompt("x"))
    _give(home, "aaaaa")
    _clear(project, transcript_path=str(transcript))

    for session in ("s1", "s2"):
        starts = store.glance(str(ours(home, "")), session).starts
        assert sorted(starts) == ["prompt p1", "uuid of aaaaa"]
    memory = store.glance(str(ours(home, "")), "s2")
    assert memory.offset_in(str(transcript)) == transcript.stat().st_size
    assert (memory.blocks, memory.tasks) == (0, {"b1": 0.0})


def test_a_paused_loop_stays_paused(home: Path, project: Path) -> None:
    with store.LoopStore(str(ours(home, "")), "s1") as held:
        loop = _loop("aaaaa")
        loop.pause("user", NOW)
        held.save([loop])
    outcome = _clear(project)

    assert outcome is not None
    assert "The loop stays paused after /clear" in outcome.messages[0]


def test_from_clear_to_clear(home: Path, project: Path) -> None:
    _give(home, "aaaaa")
    for session in ("s2", "s3", "s4"):
        _clear(project, session)

    assert [_ids(home, name) for name in ("s1", "s2", "s3", "s4")] == [[], [], [], ["aaaaa"]]


def test_a_session_that_has_a_loop_keeps_its_own(home: Path, project: Path) -> None:
    _give(home, "aaaaa")
    _give(home, "ccccc", session="s2")
    outcome = _clear(project)

    assert outcome is not None
    assert outcome.messages == []
    assert outcome.notes == ["the loops of session s1 stay there: this one has its own"]
    assert (_ids(home, "s1"), _ids(home, "s2")) == (["aaaaa"], ["ccccc"])


def test_nothing_to_move_leaves_nothing(home: Path, project: Path) -> None:
    assert _clear(project) is None
    assert not ours(home, "ralph/loops").exists()


def test_a_loop_that_ended_meanwhile_is_not_told_of(home: Path, project: Path) -> None:
    put(ours(home, "ralph/loops/ralph-loop.s1.local.md"), "no loop")

    assert _clear(project) is None
    assert not store.has_loop(str(ours(home, "")), "s2")


@pytest.mark.parametrize("source", ["startup", "resume", "compact", "fork", ""])
def test_no_other_start_moves_a_loop(home: Path, project: Path, source: str) -> None:
    _give(home, "aaaaa")
    payload = a_start(source, session_id="s2")
    begin(payload, a_space(project))

    assert rebind(payload, a_space(project)) is None
    assert (_ids(home, "s1"), _ids(home, "s2")) == (["aaaaa"], [])


def test_a_later_start_of_the_new_session_moves_no_loop(home: Path, project: Path) -> None:
    _clear(project)
    _give(home, "aaaaa")

    assert rebind(a_start("compact", session_id="s2"), a_space(project)) is None
    assert _ids(home, "s1") == ["aaaaa"]


def test_another_process_of_the_same_pid_moves_no_loop(home: Path, project: Path) -> None:
    _give(home, "aaaaa")
    know_session(ours(home, ""), process_started="1-abcdef01")

    assert _clear(project) is None
    assert _ids(home, "s1") == ["aaaaa"]


def test_a_loop_that_another_process_took_over_is_not_taken_from_it(
    home: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _give(home, "aaaaa")
    with monkeypatch.context() as elsewhere:
        elsewhere.setenv("CLAUDE_PID", "1")
        client_process.bind(str(ours(home, "")), "s1", NOW)

    assert _clear(project) is None
    assert _ids(home, "s1") == ["aaaaa"]


KILLED = [
    pytest.param(["aaaaa", "bbbbb"], ["aaaaa", "bbbbb"], id="before the old ones went"),
    pytest.param(["aaaaa"], ["aaaaa", "bbbbb"], id="before the last was written"),
]


@pytest.mark.parametrize(("written", "expected"), KILLED)
def test_a_hook_that_was_killed_is_made_good(
    home: Path, project: Path, written: list[str], expected: list[str]
) -> None:
    _give(home, "aaaaa", "bbbbb")
    _give(home, *written, session="s2")

    assert _clear(project) is not None
    assert (_ids(home, "s1"), _ids(home, "s2")) == ([], expected)


def test_what_went_on_since_a_killed_hook_is_not_set_back(home: Path, project: Path) -> None:
    _give(home, "aaaaa")
    with store.LoopStore(str(ours(home, "")), "s2") as held:
        loop = _loop("aaaaa", "s2")
        loop.iteration = 9
        held.save([loop])
    _clear(project)

    with store.LoopStore(str(ours(home, "")), "s2") as held:
        assert [loop.iteration for loop in held.loops] == [9]


class KilledError(BaseException):
    """Stands for the end of the process."""


def test_a_killed_hook_loses_no_loop(
    home: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _give(home, "aaaaa", "bbbbb")

    def die(_: object) -> None:
        raise KilledError

    monkeypatch.setattr(module, "_give_up", die)
    with pytest.raises(KilledError):
        _clear(project)
    assert _ids(home, "s1") == _ids(home, "s2") == ["aaaaa", "bbbbb"]


START = "/sisyphus:ralph-loop do it --completion-promise DONE"


def _raw(project: Path, session: str, **raw: object) -> Json:
    return {"session_id": session, "cwd": str(project), **raw}


def test_a_loop_holds_its_client_after_clear(home: Path, project: Path) -> None:
    run_hook("session-start", _raw(project, "s1", source="startup"))
    run_hook("user-prompt-submit", _raw(project, "s1", prompt=START, prompt_id="p1"))
    run_hook("session-end", _raw(project, "s1", reason="clear"))
    _, told = run_hook("session-start", _raw(project, "s2", source="clear"))
    _, reply = run_hook("stop", _raw(project, "s2", last_assistant_message="I stop here."))

    assert "The loop goes on after /clear: do it (iteration 1 of 100)." in heard(told)[1]
    assert reply["decision"] == "block"
    assert _ids(home, "s1") == []


def test_of_many_clears_by_several_wirings_one_moves_the_loop(home: Path, project: Path) -> None:
    _give(home, "aaaaa", "bbbbb")
    raw = _raw(project, "s2", source="clear")
    running = [start_hook("session-start", raw, env=without_coverage()) for _ in range(8)]
    told = [heard(finish(process)[1])[1] for process in running]

    assert sum("goes on after /clear" in text for text in told) == 1
    assert (_ids(home, "s1"), _ids(home, "s2")) == ([], ["aaaaa", "bbbbb"])
