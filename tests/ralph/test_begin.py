from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from making import ours, put

from ralph import lines
from ralph.sessions import ARGS, NOW, PROMISE, TYPED, Session
from sisyphus.ralph.loop import Loop
from sisyphus.times import iso

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def session(home: Path, project: Path) -> Session:
    return Session(home, project)


def _loop(name: str = "aaaaa") -> Loop:
    loop = Loop("s1", name, "do that")
    loop.started_at = iso(NOW)
    return loop


def test_a_typed_loop_is_in_the_history_and_knows_how_things_are(session: Session) -> None:
    session.submits(TYPED)

    assert session.log == ["active"]
    assert set(session.loops[0].signs) == {"head", "names", "at"}


def test_what_is_replaced_is_in_the_history_as_cancelled(session: Session) -> None:
    session.has(_loop("aaaaa"), _loop("bbbbb"))

    session.submits(TYPED)

    assert session.log == ["cancelled", "cancelled", "active"]


def test_what_agents_spent_before_is_not_the_loops(session: Session) -> None:
    agent = session.transcript.with_suffix("") / "subagents" / "agent-1.jsonl"
    put(agent, "{}\n")

    session.submits(TYPED)

    assert session.memory.agents == {"agent-1.jsonl": 3}


def test_a_promise_of_before_does_not_end_the_new_loop(session: Session) -> None:
    session.writes(lines.prompt("x"), lines.said(PROMISE))

    session.types()

    assert session.stops().reason is not None


WRONG = [
    pytest.param("sisyphus", True, id="ours is answered"),
    pytest.param("ralph-wiggum", False, id="another plugin's runs on"),
    pytest.param("ralph-wiggum-pro", False, id="so does its successor's"),
    pytest.param("ralph-loop", False, id="and the official one's"),
]


@pytest.mark.parametrize(("plugin", "is_answered"), WRONG)
def test_a_command_typed_wrongly(session: Session, plugin: str, is_answered: bool) -> None:
    outcome = session.submits(f"/{plugin}:ralph-loop do it --bad")

    assert outcome is not None
    told = [outcome.reason] if is_answered else outcome.messages
    assert len(told) == 1
    assert str(told[0]).startswith("[RALPH LOOP NOT STARTED]\n\nunknown option --bad")
    assert (outcome.reason is not None) is is_answered
    assert (session.loops, session.log) == ([], [])


def test_what_was_typed_wrongly_is_not_tried_again_at_stop(session: Session) -> None:
    session.types("do it --bad")

    assert session.stops().messages == []


def test_a_loop_that_cannot_be_read_is_set_aside_for_the_new_one(session: Session) -> None:
    put(ours(session.home, "ralph/loops/ralph-loop.s1.local.md"), "garbage")

    outcome = session.submits(TYPED)

    assert outcome is not None
    assert "set aside" in outcome.notes[0]
    assert [loop.prompt for loop in session.loops] == ["do it"]


def test_the_models_loop_is_in_the_history_and_knows_how_things_are(session: Session) -> None:
    session.calls(ARGS)

    assert session.log == ["active"]
    assert set(session.loops[0].signs) == {"head", "names", "at"}
    assert session.stops(PROMISE).reason is None
    assert session.log == ["active", "success"]


def test_work_that_runs_before_a_nested_loop_is_not_its_own(session: Session) -> None:
    session.has(_loop())
    put(ours(session.home, "ralph/loops/session-s1.json"), '{"tasks": {"t1": 5.0}, "blocks": 2}')

    session.calls(ARGS)

    assert session.memory.tasks == {"t1": 0.0}
    assert session.memory.blocks == 2


def test_the_same_loop_once_more_changes_nothing(session: Session) -> None:
    session.calls(ARGS, "toolu_1")
    outcome = session.calls(ARGS, "toolu_2")

    assert outcome is not None
    assert outcome.notes == ["the model started the same loop again: it goes on"]
    assert session.log == ["active"]


def test_what_the_model_may_not_have_is_refused_and_told(session: Session) -> None:
    outcome = session.calls(f"{ARGS} --verify 'make test'")

    assert outcome is not None
    assert outcome.reason is None
    assert "--verify names a command" in outcome.messages[0]
    assert session.log == []
