from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
import typer
from making import journal
from typer.testing import CliRunner

from sisyphus.cli.sessions import NOTHING, sessions
from sisyphus.errors import SisyphusError

if TYPE_CHECKING:
    from pathlib import Path

AT = 1_795_186_800

app = typer.Typer()
app.command()(sessions)


def _note(session: str, project: str = "/p", at: int = AT) -> None:
    entry = {"at": at, "event": "session-start", "ms": 20, "sent": 10, "project": project}
    journal(session, {**entry, "client": "claude"})


def _asked(*words: str) -> str:
    return CliRunner().invoke(app, words, catch_exceptions=False).stdout


def test_the_latest_sessions_are_shown_and_all_are_summed_up() -> None:
    for number in range(25):
        _note(f"s{number:02}", at=AT + number)
    heads, *lines = _asked("-n", "2").splitlines()
    assert heads.split()[:2] == ["session", "began"]
    assert [line.split()[0] for line in lines[:2]] == ["s23", "s24"]
    assert lines[2:] == [
        "The latest 2 of 25; `-n` shows more.",
        "25 sessions, 25 hooks in 500 ms (median 20 ms), 250 characters sent, 0 blocks.",
    ]
    assert len(_asked().splitlines()) == 1 + 20 + 2


def test_those_of_a_project_alone(project: Path) -> None:
    _note("s1", str(project))
    _note("s2", "/elsewhere")
    (project / "src").mkdir()
    lines = _asked("--project", str(project / "src")).splitlines()
    assert [line.split()[0] for line in lines[1:]] == ["s1", "1"]
    (project / "other" / ".git").mkdir(parents=True)
    nothing = f"No session was seen in {project / 'other'}.\n"
    assert _asked("--project", str(project / "other")) == nothing


def test_of_a_folder_that_is_gone_there_may_be_sessions_and_of_no_folder_there_are_none(
    project: Path,
) -> None:
    gone = project.parent / "gone"
    _note("s1", str(gone))
    assert _asked("--project", str(gone)).splitlines()[1].startswith("s1 ")
    for words in ([], ["--json"]):
        with pytest.raises(SisyphusError, match="no such folder: /nope/x, and no session was"):
            _asked("--project", "/nope/x", *words)


def test_without_any_it_is_said_what_to_do() -> None:
    assert _asked() == f"{NOTHING}\n"
    assert json.loads(_asked("--json"))["sessions"] == []


def test_it_answers_in_json() -> None:
    _note("s1")
    _note("s2", at=AT + 1)
    found = json.loads(_asked("--json", "-n", "1"))
    assert [row["session_id"] for row in found["sessions"]] == ["s2"]
    assert found["totals"] == {
        "sessions": 2, "hooks": 2, "ms": 40, "median_ms": 20, "sent": 20, "blocked": 0,
    }  # fmt: skip
