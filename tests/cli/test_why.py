from __future__ import annotations

import json
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
import typer
from making import COMMAND, HANG_SECONDS, journal, ours, put
from typer.testing import CliRunner

from cli.screen import on_a_terminal
from sisyphus.cli.why import why
from sisyphus.errors import SisyphusError
from sisyphus.paths import our_home
from sisyphus.ralph.loop import Loop
from sisyphus.ralph.past import history
from sisyphus.times import local

if TYPE_CHECKING:
    from pathlib import Path

DAY = 86_400
AT = 1_795_186_800

app = typer.Typer()
app.command()(why)


def _note(*notes: str, event: str = "stop", at: int = AT, session: str = "s1") -> None:
    journal(session, {"at": at, "event": event, "ms": 3.1, "notes": list(notes)})


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
        f"{_clock(AT)}  stop                    3.1 ms  blocked: no tag; iteration 4 of 50",
        local(AT + DAY, "%Y-%m-%d"),
        f"{_clock(AT)}  session-start           3.1 ms  sent: README.md",
        "                                          sent: AGENTS.md",
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
    assert _shown("--all")[-1].endswith("  3.1 ms  nothing to say")
    assert _shown("--all", "--event", "idle")[-1] == "There is nothing to show."


def test_one_event_is_shown_alone() -> None:
    _note("a", event="session-start")
    _note("b")
    assert [line.split()[1::3] for line in _shown("--event", "stop")[2:]] == [["stop", "b"]]


def test_an_event_that_is_none_is_wrong_usage() -> None:
    assert "no such event" in _refused("--event", "stopp")


def test_the_session_around_the_command_is_meant(monkeypatch: pytest.MonkeyPatch) -> None:
    _note("a", session="s1")
    _note("b", session="s2")
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "s1")
    assert _shown()[0] == "Session s1"
    assert _shown("--session-id", "s2")[0] == "Session s2"
    assert _shown("--session", "s2")[0] == "Session s2"


def test_a_session_without_a_journal_is_a_known_failure() -> None:
    with pytest.raises(SisyphusError, match="no journal of session s1 is there"):
        _asked("--session-id", "s1")


def test_it_answers_in_json() -> None:
    _note("a")
    found = json.loads(_asked("--json"))
    entry = {"at": AT, "event": "stop", "ms": 3.1, "notes": ["a"]}
    assert found == {"session_id": "s1", "entries": [entry]}


def test_a_number_that_json_has_not_is_null(home: Path) -> None:
    put(ours(home, "logs/journal-s1.jsonl"), '{"at": 1e999, "event": "stop", "notes": ["a"]}\n')
    found = json.loads(_asked("--json"), parse_constant=pytest.fail)
    assert found["entries"] == [{"at": None, "event": "stop", "notes": ["a"]}]
    assert _shown()[-1].endswith("  a")


def test_a_file_name_does_nothing_to_the_terminal(home: Path) -> None:
    line = '{"at": 1, "event": "stop", "notes": ["a"]}\n'
    put(ours(home, "logs/journal-\x1b[31mRED.jsonl"), line)
    with pytest.raises(SisyphusError) as failed:
        _asked()
    assert "RED" not in str(failed.value)
    _note("b")
    assert "RED" not in _asked()


def test_it_says_where_the_session_is_and_of_which_run() -> None:
    began = {"at": AT, "event": "session-start", "notes": ["a"], "project": "/p\x1b", "run": "r1"}
    journal("s1", began)
    assert _shown()[0] == "Session s1 in /p, an iteration of the run r1"
    found = json.loads(_asked("--json"))
    assert (found["project"], found["run"]) == ("/p\x1b", "r1")


def test_a_run_or_a_loop_leads_to_its_session() -> None:
    for number in range(3):
        session = f"s{number}"
        journal(session, {"at": AT + number, "project": "/p", "run": f"Run{number // 2}"})
    loop = Loop("s0", "Loop7", "do it")
    history.started(our_home(), loop, "/state")
    _note("a", session="s9")
    assert _shown("--session", "Run0")[0].startswith("Session s1 ")
    assert _shown("--session", "Loop")[0].startswith("Session s0 ")
    with pytest.raises(SisyphusError, match="no journal of session Other is there"):
        _asked("--session", "Other")


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


def test_without_a_session_each_line_says_whose_it_is_when_that_changes(home: Path) -> None:
    command = [sys.executable, "-u", "-c", FOLLOWING, "--follow"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    told: list[str] = []
    for session, note in (("s1", "one"), ("s1", "two"), ("s2", "three"), ("s1", "four")):
        _note(note, session=session)
        while not told or note not in told[-1]:
            told.append(process.stdout.readline())
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=HANG_SECONDS)
    heads = [line.strip() for line in told if line.startswith("Session")]
    assert heads == ["Session s1", "Session s2", "Session s1"]
    assert ours(home, "logs/journal-s1.jsonl").exists()


def test_the_clients_own_goal_beside_a_loop_is_named(home: Path) -> None:
    _note("a")
    typed = "<command-name>/goal</command-name>"
    transcript = put(home / ".claude/projects/p/s1.jsonl", typed)
    assert "/goal" not in _asked()
    put(ours(home, "ralph/loops/ralph-loop.s1.local.md"), "a loop")
    assert _shown()[-1].startswith("The client's own /goal was typed in this session too")
    transcript.write_text("{}")
    assert "/goal" not in _asked()


NOTES = ("blocked: " + "no promise was found here " * 4).strip(), "sent: a/b-c"
WIDTHS = [
    pytest.param(
        80,
        [
            "blocked: no promise was found here no",
            "promise was found here no promise was",
            "found here no promise was found here",
            "sent: a/b-c",
        ],
        id="wrapped",
    ),
    pytest.param(200, list(NOTES), id="wide enough"),
    pytest.param(61, [NOTES[0], "sent: a/b-c"], id="too narrow for it"),
]


@pytest.mark.parametrize(("columns", "texts"), WIDTHS)
def test_on_a_terminal_a_long_line_goes_on_below_its_text(columns: int, texts: list[str]) -> None:
    _note(*NOTES)

    shown = on_a_terminal([COMMAND, "why"], columns=columns, env={"NO_COLOR": "1"}).text

    first, *more = shown.splitlines()[2:]
    assert [first[:42].split()[1:], first[42:]] == [["stop", "3.1", "ms"], texts[0]]
    assert more == [" " * 42 + text for text in texts[1:]]


def test_a_path_that_is_longer_than_a_line_goes_on_behind_a_slash() -> None:
    _note("sent ~/.claude/.sisyphus/ralph/loops/ralph-loop.s1.local.md")

    shown = on_a_terminal([COMMAND, "why"], columns=80, env={"NO_COLOR": "1"}).text

    assert [line[42:] for line in shown.splitlines()[2:]] == [
        "sent ~/.claude/.sisyphus/ralph/loops/", "ralph-loop.s1.local.md",
    ]  # fmt: skip


def test_in_a_pipe_nothing_is_wrapped() -> None:
    _note("word " * 1_000)
    assert len(_shown()) == 3
