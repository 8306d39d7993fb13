from __future__ import annotations

import json
import os
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
    run_hook,
    start_hook,
    stored,
    without_coverage,
)

from session.processes import nobody_above
from sisyphus.clients.base import said_to_model
from sisyphus.session.binding import session_before
from sisyphus.session.client import session_named
from sisyphus.session.hooks import FEATURES, on_session_end, on_session_start
from sisyphus.session.process import identify
from sisyphus.session.store import SessionStore
from sisyphus.settings import SETTINGS
from sisyphus.workspace import Workspace

if TYPE_CHECKING:
    from pathlib import Path

SENT, WAITING = a_piece("sent"), a_piece("waiting")
PID = os.getpid()


@pytest.fixture(autouse=True)
def _outside(monkeypatch: pytest.MonkeyPatch) -> None:
    nobody_above(monkeypatch)


@pytest.fixture
def _inside(monkeypatch: pytest.MonkeyPatch) -> None:
    """This process plays the client."""
    monkeypatch.setenv("CLAUDE_PID", str(PID))


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


def test_what_a_setting_switches_off_is_noted(home: Path, project: Path) -> None:
    assert on_session_start(a_start(), a_space(project)) is None
    put(ours(home, "config.toml"), "[rules]\nenabled = false\n[context]\nenabled = false\n")
    outcome = on_session_start(a_start(), a_space(project))
    assert outcome is not None
    assert outcome.notes == ["switched off by a setting: rules, context"]


def test_every_feature_that_can_be_switched_off_is_looked_at() -> None:
    assert {f"{name}.enabled" for name in FEATURES} == {
        key for key in SETTINGS if key.endswith(".enabled")
    }


def test_a_start_without_a_session_leaves_nothing(home: Path, project: Path) -> None:
    payload = a_payload("session-start", session_id="../x", source="startup")
    assert on_session_start(payload, a_space(project)) is None
    assert not ours(home, "").exists()


def test_a_first_start_notes_that_nothing_was_sent_before_it(home: Path, project: Path) -> None:
    on_session_start(a_start(), a_space(project))
    noted = {
        "forgot_at": 1_000_000.0,
        "forgot_for": "startup",
        "wirings": {"user": 1_000_000},
        "version": 1,
    }
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


def _named(home: Path) -> str:
    return session_named(str(ours(home, "")), PID)


@pytest.mark.usefixtures("_inside")
@pytest.mark.parametrize("source", ["startup", "resume", "clear", "compact", "fork", ""])
def test_a_start_tells_which_process_is_in_the_session(
    home: Path, project: Path, source: str
) -> None:
    on_session_start(a_start(source), a_space(project))

    assert _named(home) == "s1"
    noted = stored(ours(home, "sessions/s1.json"))
    assert noted["process"] == identify(PID).as_json()
    assert "before" not in noted


def _come(project: Path, session: str, source: str) -> None:
    on_session_start(a_start(source, session_id=session), a_space(project))


@pytest.mark.usefixtures("_inside")
@pytest.mark.parametrize(
    ("source", "before"), [("clear", "s1"), ("startup", ""), ("resume", ""), ("fork", "")]
)
def test_only_after_clear_a_session_has_one_before(
    home: Path, project: Path, source: str, before: str
) -> None:
    _come(project, "s1", "startup")
    _come(project, "s2", source)

    assert session_before(str(ours(home, "")), "s2") == before
    assert _named(home) == "s2"


@pytest.mark.usefixtures("_inside")
def test_a_clear_that_comes_twice_keeps_the_session_before(home: Path, project: Path) -> None:
    for session, source in [("s1", "startup"), ("s2", "clear"), ("s2", "clear")]:
        _come(project, session, source)

    assert session_before(str(ours(home, "")), "s2") == "s1"


@pytest.mark.usefixtures("_inside")
def test_nobody_elses_start_is_bound(home: Path, project: Path) -> None:
    on_session_start(a_start(agent_id="a1"), a_space(project))
    on_session_start(a_start(), Workspace(str(project), client="opencode"))

    assert _named(home) == ""


ENDS = [
    pytest.param("other", {}, "", id="the client ends"),
    pytest.param("prompt_input_exit", {}, "", id="the user leaves"),
    pytest.param("", {}, "", id="no reason"),
    pytest.param("clear", {}, "s1", id="it goes on after /clear"),
    pytest.param("resume", {}, "s1", id="it goes on in another session"),
    pytest.param("other", {"session_id": "s2"}, "s1", id="another session ends"),
    pytest.param("other", {"session_id": "../s1"}, "s1", id="an unsafe one ends"),
    pytest.param("other", {"agent_id": "a1"}, "s1", id="a subagent ends"),
]


@pytest.mark.usefixtures("_inside")
@pytest.mark.parametrize(("reason", "raw", "left"), ENDS)
def test_the_end_of_a_session_frees_its_process(
    home: Path, project: Path, reason: str, raw: dict[str, str], left: str
) -> None:
    _come(project, "s1", "startup")
    assert on_session_end(a_payload("session-end", reason=reason, **raw), a_space(project)) is None

    assert _named(home) == left


@pytest.mark.usefixtures("_inside")
def test_a_session_goes_through_clear_in_one_process(home: Path, project: Path) -> None:
    for session, source in [("s1", "startup"), ("s2", "clear")]:
        raw = {"session_id": session, "cwd": str(project), "source": source}
        assert run_hook("session-start", raw) == (0, {})

    assert ours(home, f"ralph/sessions/ppid_{PID}.id").read_bytes() == b"s2\n"
    assert session_before(str(ours(home, "")), "s2") == "s1"


@pytest.mark.usefixtures("_inside")
def test_of_many_clears_by_several_wirings_each_knows_the_session_before(
    home: Path, project: Path
) -> None:
    _come(project, "s1", "startup")
    raw = {"session_id": "s2", "cwd": str(project), "source": "clear"}
    running = [start_hook("session-start", raw, env=without_coverage()) for _ in range(8)]

    assert [finish(process) for process in running] == [(0, {})] * 8
    assert session_before(str(ours(home, "")), "s2") == "s1"
    assert _named(home) == "s2"
