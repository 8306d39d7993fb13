from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from making import a_payload, ours, put

from ralph.sessions import ARGS, PROMISE, TYPED, Session
from sisyphus.ralph import iterations, lost
from sisyphus.ralph.loop import Loop

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from sisyphus.clients.base import Outcome

    Event = Callable[[Session], Outcome | None]


@pytest.fixture
def session(home: Path, project: Path) -> Session:
    """A loop was typed, and somebody wrote nonsense into its file."""
    session = Session(home, project)
    session.types()
    put(ours(home, "ralph/loops/ralph-loop.s1.local.md"), "nonsense")
    return session


EVENTS = [
    pytest.param(lambda session: session.submits("go on"), id="the user speaks"),
    pytest.param(lambda session: session.begins("resume"), id="the session is resumed"),
    pytest.param(lambda session: session.begins("compact"), id="the session is compacted"),
    pytest.param(lambda session: session.ends("other"), id="the client goes"),
    pytest.param(lambda session: session.fails(), id="a turn fails"),
    pytest.param(lambda session: session.stops(), id="the model stops"),
    pytest.param(lambda session: session.submits("/ralph-loop:ralph-loop --x"), id="a slip"),
]


@pytest.mark.parametrize("event", EVENTS)
def test_whoever_meets_it_first_tells_and_logs_the_end(session: Session, event: Event) -> None:
    outcome = event(session)

    assert outcome is not None
    assert "The state of a loop could not be read" in outcome.messages[0]
    assert any("set aside" in note for note in outcome.notes)
    assert session.log == ["active", "error"]
    assert session.stops().messages == []


STARTS = [
    pytest.param(lambda session: session.submits(TYPED), id="the user starts another one"),
    pytest.param(lambda session: session.calls(ARGS), id="the model does"),
]


@pytest.mark.parametrize("event", STARTS)
def test_the_loop_that_begins_then_goes_on(session: Session, event: Event) -> None:
    outcome = event(session)

    assert outcome is not None
    assert "could not be read" in outcome.messages[0]
    assert sorted(session.log) == ["active", "active", "error"]
    assert session.stops(PROMISE).reason is None
    assert session.log[-1] == "success"


def test_what_is_fine_is_told_as_it_is(session: Session) -> None:
    assert lost.told(None, [], a_payload("stop"), session.space) is None


def test_a_lost_loop_is_known_by_its_history(session: Session) -> None:
    session.submits("go on")
    (ended,) = (line for line in session.log if line == "error")
    assert ended

    other = Session(session.home, session.project, "s2")
    other.types('"do that"')
    [loop] = other.loops
    iterations.note(other.ours, loop.loop_id, {"iteration": 7}, "x")
    put(ours(session.home, "ralph/loops/ralph-loop.s2.local.md"), "nonsense")

    [found] = lost.lost(other.ours, "s2")
    assert isinstance(found, Loop)
    assert (found.loop_id, found.prompt, found.iteration) == (loop.loop_id, "do that", 7)
    assert found.started_at == loop.started_at
    assert lost.lost(other.ours, "s1") == []


def test_a_loop_without_a_history_ends_without_a_line(session: Session) -> None:
    ours(session.home, "logs/sessions.jsonl").unlink()

    outcome = session.submits("go on")

    assert outcome is not None
    assert len(outcome.messages) == 1
    assert session.log == []
