from __future__ import annotations

import json
import os
import time
from typing import TYPE_CHECKING, Any

import pytest
from enforce.desk import DONE, Desk
from making import know_session, noted, ours
from typer.testing import CliRunner

from sisyphus.cli.app import app
from sisyphus.errors import SisyphusError

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def _in_the_project(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project)


def _run(*words: str) -> str:
    return CliRunner().invoke(app, ["enforce", *words], catch_exceptions=False).stdout


def _json(*words: str) -> Any:
    return json.loads(_run(*words, "--json"))


def _real(home: Path, project: Path) -> Desk:
    """By the clock of this machine, as the commands have it."""
    desk = Desk(home, project)
    desk.now = time.time()
    return desk


def test_it_is_switched_on_and_off(project: Path) -> None:
    assert _run("status").startswith("Continuous enforcement is off here.")
    assert _run("on").startswith(f"Continuous enforcement is on for {project}.")
    assert _run("status").startswith("Continuous enforcement: on (CONTINUOUS)")
    assert _run("off") == "Continuous enforcement is off.\n"
    assert _run("status").startswith("Continuous enforcement is off here.")


@pytest.mark.parametrize("command", ["on", "stop", "status", "off"])
def test_every_command_answers_in_json(command: str) -> None:
    _run("on")

    found = _json(command)

    assert found["on"] == (command != "off")
    assert list(found) == [
        "on", "status", "since", "project_root", "state", "sessions", "limits",
    ]  # fmt: skip


@pytest.mark.parametrize("command", ["on", "off", "stop", "status", "log"])
def test_every_command_takes_a_project(project: Path, tmp_path: Path, command: str) -> None:
    _run("on")
    os.chdir(tmp_path)

    _run(command, "--project", str(project))

    assert _json("status", "--project", str(project))["on"] == (command != "off")
    assert not _json("status")["on"]


def test_sessions_are_stopped_from_another_terminal(home: Path, project: Path) -> None:
    desk = _real(home, project)
    desk.on()
    desk.says()
    desk.says(session="s2")

    assert _run("stop", "--session-id", "s2").startswith("Continuous enforcement is stopped")

    assert desk.stop(session="s2").reason is None
    assert desk.stop().reason is not None
    [shown] = _json("status", "--session-id", "s2")["sessions"]
    assert (shown["session_id"], shown["status"]) == ("s2", "STOPPED")


@pytest.mark.parametrize(
    ("command", "text"),
    [
        ("off", "Continuous enforcement is off. By the user."),
        ("stop", "Continuous enforcement is stopped until your next prompt. By the user."),
    ],
)
def test_who_is_at_work_hears_of_it_at_the_next_stop(
    home: Path, project: Path, command: str, text: str
) -> None:
    desk = _real(home, project)
    know_session(ours(home, ""))
    desk.on()
    desk.says()
    desk.says(session="s2")

    _run(command)

    assert noted(ours(home, ""), "s2") == []
    outcome = desk.stop()
    assert outcome.messages == [f"[CONTINUOUS ENFORCEMENT]\n\n{text}"]
    assert outcome.reason is None
    assert desk.stop().messages == []


def test_one_session_is_stopped_and_no_other(home: Path, project: Path) -> None:
    desk = _real(home, project)
    desk.on()
    desk.says()

    said = _run("stop", "--session-id", "s1")

    assert said == "Continuous enforcement is stopped until your next prompt.\n"
    assert _run("stop").startswith("Continuous enforcement is stopped: each session until its")


def test_a_session_that_nobody_knows_is_not_stopped(home: Path, project: Path) -> None:
    desk = _real(home, project)
    desk.on()
    desk.says()

    with pytest.raises(SisyphusError, match="no session nosuch is known here"):
        _run("stop", "--session-id", "nosuch")

    assert list(desk.state["sessions"]) == ["s1"]


def test_a_session_that_can_be_none_is_a_slip() -> None:
    result = CliRunner().invoke(app, ["enforce", "stop", "--session-id", "../x"])

    assert result.exit_code == 2
    assert "is no session id" in result.stderr


def test_where_it_is_off_there_is_nothing_to_stop() -> None:
    with pytest.raises(SisyphusError, match="nothing to stop"):
        _run("stop")


@pytest.mark.parametrize("command", ["on", "off", "stop"])
def test_the_model_neither_begins_nor_ends_it(
    command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    _run("on")
    monkeypatch.setenv("CLAUDECODE", "1")

    with pytest.raises(SisyphusError, match=f"/sisyphus:enforce {command}"):
        _run(command)

    assert _json("status")["status"] == "CONTINUOUS"
    assert "on" in _run("log")


def test_the_log_is_shown(home: Path, project: Path) -> None:
    assert _run("log") == "Nothing was enforced here yet.\n"
    desk = _real(home, project)
    desk.on()
    desk.stop(DONE)
    desk.now += 1
    desk.stop(DONE)

    assert [row["what"] for row in _json("log")] == ["on", "enforced", "failed", "held back"]
    assert [row["what"] for row in _json("log", "-n", "1")] == ["held back"]
    assert len(_run("log", "-n", "2").splitlines()) == 2
