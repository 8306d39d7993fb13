from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from making import (
    a_payload,
    a_piece,
    a_space,
    a_start,
    finish,
    ours,
    put,
    start_hook,
    stored,
    without_coverage,
)

from sisyphus.contract import said_to_model
from sisyphus.session.hooks import on_session_start
from sisyphus.session.store import SessionStore

if TYPE_CHECKING:
    from pathlib import Path

SENT, WAITING = a_piece("sent"), a_piece("waiting")


@pytest.fixture
def session(home: Path) -> SessionStore:
    """A session that was sent something and for which something waits."""
    store = SessionStore(str(ours(home, "")), "s1")
    with store:
        store.remember(SENT)
        store.wait([WAITING])
        store.save()
    return SessionStore(str(ours(home, "")), "s1")


@pytest.mark.parametrize("source", ["startup", "clear", "compact"])
def test_a_session_that_begins_empty_forgets(
    project: Path, session: SessionStore, source: str
) -> None:
    assert on_session_start(a_start(source), a_space(project)) is None
    with session:
        assert not session.has(SENT)
        assert session.queue == []


@pytest.mark.parametrize("source", ["resume", "fork"])
def test_a_session_that_goes_on_remembers(
    project: Path, session: SessionStore, source: str
) -> None:
    on_session_start(a_start(source), a_space(project))
    with session:
        assert session.has(SENT)
        assert session.queue == [WAITING]


def test_a_fork_knows_when_it_began(home: Path, project: Path) -> None:
    space = a_space(project)
    on_session_start(a_start("fork"), space)
    space.now += 100
    on_session_start(a_start("fork"), space)
    assert stored(ours(home, "sessions/s1.json"))["forked_at"] == 1_000_000.0


def test_a_start_without_a_session_leaves_nothing(home: Path, project: Path) -> None:
    payload = a_payload("session-start", session_id="../x", source="startup")
    assert on_session_start(payload, a_space(project)) is None
    assert not ours(home, "").exists()


def test_a_first_start_notes_that_nothing_was_sent_before_it(home: Path, project: Path) -> None:
    on_session_start(a_start(), a_space(project))
    noted = {"forgot_at": 1_000_000.0, "forgot_for": "startup", "version": 1}
    assert stored(ours(home, "sessions/s1.json")) == noted


AGAIN = [
    pytest.param("compact", 0.07, True, id="the same start by another wiring"),
    pytest.param("compact", -0.07, True, id="one that overtook it"),
    pytest.param("compact", 2.5, False, id="a later start"),
    pytest.param("clear", 0.07, False, id="a start for another reason"),
]


@pytest.mark.parametrize(("source", "later", "is_remembered"), AGAIN)
def test_a_start_that_comes_twice_forgets_once(
    project: Path, session: SessionStore, source: str, later: float, *, is_remembered: bool
) -> None:
    space = a_space(project)
    on_session_start(a_start("compact"), space)
    with session:
        session.remember(SENT)
        session.save()
    space.now += later
    on_session_start(a_start(source), space)
    session.reset()
    with session:
        assert session.has(SENT) is is_remembered


@pytest.mark.parametrize("at", ["soon", None, True, [], 10**400])
def test_a_strange_moment_in_the_session_file_keeps_nobody_from_forgetting(
    home: Path, project: Path, session: SessionStore, at: object
) -> None:
    noted = {"sent": ["x"], "forgot_at": at, "forgot_for": "startup"}
    put(ours(home, "sessions/s1.json"), json.dumps(noted))
    on_session_start(a_start(), a_space(project))
    with session:
        assert not session.has(SENT)


def test_of_many_starts_by_several_wirings_one_brings_the_readme(project: Path) -> None:
    put(project / "README.md", "Keeps ships off the rocks.\n")
    raw = {"session_id": "s1", "cwd": str(project), "source": "startup"}
    running = [start_hook("session-start", raw, env=without_coverage()) for _ in range(8)]
    told = [said_to_model(finish(process)[1]) for process in running]
    assert sum("Keeps ships" in text for text in told) == 1
