from __future__ import annotations

import json
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
import typer
from making import HANG_SECONDS, ours
from typer.testing import CliRunner

from sisyphus.cli.why import why
from sisyphus.errors import SisyphusError
from sisyphus.state import journal
from sisyphus.times import local

if TYPE_CHECKING:
    from pathlib import Path

DAY = 86_400
AT = 1_795_186_800

app = typer.Typer()
app.command()(why)


def _note(*notes: str, event: str = "stop", at: int = AT, session: str = "s1") -> None:
    journal.append(session, {"at": at, "event": event, "notes": list(notes)})


def _asked(*words: str) -> str:
    return CliRunner().invoke(app, words, catch_exceptions=False).stdout


def _refused(*words: str) -> str:
    """What is said about wrong usage."""
    done = CliRunner().invoke(app, words, catch_exceptions=False)
    assert done.exit_code == 2
    return done.stderr


def _shown(*words: str) -> list[str]:
    return _asked(*words).splitlines()


def _clock(at: int) -> str:
    return local(at, "%H:%M:%S")


def test_it_names_the_session_and_each_day_and_says_why() -> None:
    _note("blocked: no tag; iteration 4 of 50")
    _note("sent: README.md", "sent: AGENTS.md", event="session-start", at=AT + DAY)
    assert _shown() == [
        "Session s1",
        local(AT, "%Y-%m-%d"),
        f"{_clock(AT)}  stop                blocked: no tag; iteration 4 of 50",
        local(AT + DAY, "%Y-%m-%d"),
        f"{_clock(AT)}  session-start       sent: README.md",
        "                              sent: AGENTS.md",
    ]


def test_ten_lines_are_shown_or_as_many_as_are_asked_for() -> None:
    for number in range(20):
        _note(f"note {number}")
    assert [line.split()[-1] for line in _shown()[2:]] == [str(n) for n in range(10, 20)]
    assert [line.split()[-1] for line in _shown("-n", "2")[2:]] == ["18", "19"]
    assert "--last" in _refused("-n", "0")


def test_quiet_hooks_are_shown_when_all_are_asked_for() -> None:
    _note()
    assert _shown() == [
        "Session s1",
        "There is nothing to show. `--all` shows hooks that had nothing to say, too.",
    ]
    assert _shown("--all")[-1].endswith("stop                nothing to say")
    assert _shown("--all", "--event", "idle")[-1] == "There is nothing to show."


def test_one_event_is_shown_alone() -> None:
    _note("a", event="session-start")
    _note("b")
    assert [line.split()[1:] for line in _shown("--event", "stop")[2:]] == [["stop", "b"]]


def test_an_event_that_is_none_is_wrong_usage() -> None:
    assert "no such event" in _refused("--event", "stopp")


def test_the_session_around_the_command_is_meant(monkeypatch: pytest.MonkeyPatch) -> None:
    _note("a", session="s1")
    _note("b", session="s2")
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "s1")
    assert _shown()[0] == "Session s1"
    assert _shown("--session-id", "s2")[0] == "Session s2"


def test_a_session_without_a_journal_is_a_known_failure() -> None:
    with pytest.raises(SisyphusError, match="no hook ran in session s1"):
        _asked("--session-id", "s1")


def test_it_answers_in_json() -> None:
    _note("a")
    found = json.loads(_asked("--json"))
    assert found == {"session_id": "s1", "entries": [{"at": AT, "event": "stop", "notes": ["a"]}]}


FOLLOWING = """
import sys, typer
from sisyphus.cli import app as door
from sisyphus.cli.why import why
app = typer.Typer()
app.command()(why)
door.app = app
sys.exit(door.run_app())
"""


@pytest.mark.parametrize("words", [[], ["--json"]], ids=["in words", "in json"])
def test_following_shows_what_comes_until_it_is_interrupted(home: Path, words: list[str]) -> None:
    _note("before")
    command = [sys.executable, "-u", "-c", FOLLOWING, "--follow", *words]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    while "before" not in process.stdout.readline():
        pass
    _note("later")
    assert "later" in process.stdout.readline()
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=HANG_SECONDS)
    assert (process.returncode, stderr) == (130, "")
    assert ours(home, "logs/journal-s1.jsonl").exists()
