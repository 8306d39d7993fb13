from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from making import COMMAND, HANG_SECONDS, debug_log, notify_by, ours, put
from notify.linear_stub import Linear, linear_stub

from cli.screen import on_a_terminal

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

KEY = "lin_api_0123456789abcdef"
MESSAGE = json.dumps({"event": "checkpoint", "level": "L2", "percent": 87, "iteration": 5})


@pytest.fixture
def linear(monkeypatch: pytest.MonkeyPatch) -> Iterator[Linear]:
    with linear_stub() as stub:
        monkeypatch.setenv("LINEAR_API_URL", stub.url)
        monkeypatch.setenv("LINEAR_API_KEY", KEY)
        yield stub


@pytest.fixture(autouse=True)
def _here(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project)
    for name in ("LINEAR_ISSUE", "LINEAR_API_KEY", "LINEAR_API_URL"):
        monkeypatch.delenv(name, raising=False)


def _notify(*words: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [COMMAND, "notify", *words],
        input=stdin,
        capture_output=True,
        text=True,
        check=False,
        timeout=HANG_SECONDS,
    )


def test_a_command_can_be_tried() -> None:
    notify_by("echo got it; cat > /dev/null")
    done = _notify("test")
    assert done.returncode == 0
    assert done.stdout.splitlines()[0] == "echo got it; cat > /dev/null"
    assert done.stdout.splitlines()[1].startswith("exit code 0, ")
    assert done.stdout.splitlines()[2] == "got it"


def test_one_that_fails_is_a_failure() -> None:
    notify_by("cat > /dev/null; exit 3")
    done = _notify("test", "pause", "--json")
    found = json.loads(done.stdout)
    assert done.returncode == 1
    assert (found["exit_code"], found["problem"], found["output"]) == (3, None, "")
    assert found["message"]["event"] == "pause"


def test_one_without_output_says_so() -> None:
    notify_by("true")
    assert _notify("test", "failure").stdout.endswith("\n(no output)\n")


def test_without_a_command_the_way_to_one_is_told() -> None:
    done = _notify("test")
    assert (done.returncode, done.stdout) == (1, "")
    assert "notify.command is empty" in done.stderr
    assert "`sisyphus config set notify.command COMMAND`" in done.stderr


CONFIGS = [
    pytest.param("[notify\n", "is not used: Expected ']'", id="no TOML"),
    pytest.param("[notify]\ncommand = 5\n", "is not used: notify.command is 5,", id="a number"),
    pytest.param("notify = 1\n", "is not used: notify.command is 1,", id="no section"),
    pytest.param("notify.command = ''\n", "notify.command is empty", id="empty"),
    pytest.param("[ralph]\n", "notify.command is empty", id="another section"),
]


@pytest.mark.parametrize(("text", "why"), CONFIGS)
def test_settings_that_are_not_used_are_named(home: Path, text: str, why: str) -> None:
    put(ours(home, "config.toml"), text)
    done = _notify("test")
    assert done.returncode == 1
    assert why in done.stderr


def test_the_setting_in_the_help_is_one(
    home: Path, linear: Linear, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    (line,) = [
        line.strip()
        for line in _notify("linear", "--help").stdout.splitlines()
        if "command =" in line
    ]
    put(ours(home, "config.toml"), f"{line}\n")
    done = _notify("test", "--json")
    assert json.loads(done.stdout)["command"] == "sisyphus notify linear --issue ENG-123"
    assert linear.asked or done.returncode


def test_an_event_that_is_none_is_wrong_usage() -> None:
    notify_by("true")
    done = _notify("test", "lunch")
    assert done.returncode == 2
    assert "no such event" in done.stderr


def test_run_hands_its_stdin_on(home: Path, tmp_path: Path) -> None:
    notify_by(f"cat > {tmp_path}/told; echo bad; exit 1")
    ours(home, "").mkdir(parents=True, exist_ok=True)
    done = _notify("run", stdin=MESSAGE)
    assert (done.returncode, done.stdout) == (0, "")
    assert (tmp_path / "told").read_text() == MESSAGE
    assert "notify.command failed: exit code 1: bad" in debug_log(home)


def test_run_without_a_command_does_nothing(home: Path) -> None:
    assert _notify("run", stdin=MESSAGE).returncode == 0
    assert debug_log(home) == ""


ISSUES = [
    pytest.param(["--issue", "ENG-1"], {"LINEAR_ISSUE": "ENG-2"}, "", "ENG-1", id="the option"),
    pytest.param([], {"LINEAR_ISSUE": "ENG-2"}, "ENG-3", "ENG-2", id="the environment"),
    pytest.param([], {}, "ENG-3", "ENG-3", id="the setting"),
]


@pytest.mark.parametrize(("words", "environment", "setting", "issue"), ISSUES)
def test_a_comment_on_linear(  # fixtures and columns
    home: Path,
    linear: Linear,
    monkeypatch: pytest.MonkeyPatch,
    words: list[str],
    environment: dict[str, str],
    setting: str,
    issue: str,
) -> None:
    put(ours(home, "config.toml"), f'[notify]\nlinear_issue = "{setting}"\n')
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    done = _notify("linear", *words, stdin=MESSAGE)
    assert (done.returncode, done.stdout) == (0, f"Commented on {issue}.\n")
    (asked,) = linear.asked
    assert asked["key"] == KEY
    assert asked["body"]["variables"]["input"] == {
        "issueId": issue,
        "body": "**Iteration 5** Checkpoint L2 at 87%",
    }


def test_a_project_names_no_issue(project: Path, linear: Linear) -> None:
    put(project / ".claude/sisyphus.toml", '[notify]\nlinear_issue = "ENG-9"\n')
    done = _notify("linear", stdin=MESSAGE)
    assert done.returncode == 1
    assert "no issue is named" in done.stderr
    assert linear.asked == []


def test_a_comment_as_json(linear: Linear) -> None:
    done = _notify("linear", "--issue", "ENG-1", "--json", stdin=MESSAGE)
    assert json.loads(done.stdout) == {"issue": "ENG-1", "comment": "c-1"}
    assert len(linear.asked) == 1


def test_a_failure_is_told_without_the_key(linear: Linear) -> None:
    linear.answers({}, 401)
    done = _notify("linear", "--issue", "ENG-1", stdin=MESSAGE)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("error: no comment on Linear: the key was not accepted.")
    assert KEY not in done.stderr


@pytest.mark.parametrize("stdin", ["", "nonsense", "[]"])
def test_what_is_no_message_is_said(linear: Linear, stdin: str) -> None:
    done = _notify("linear", "--issue", "ENG-1", stdin=stdin)
    assert done.returncode == 1
    assert "stdin holds no JSON object" in done.stderr
    assert linear.asked == []


def test_a_person_is_told_what_it_reads() -> None:
    shown = on_a_terminal([COMMAND, "notify", "linear", "--issue", "ENG-1"])
    assert shown.code == 1
    assert "is read from stdin" in shown.text


def test_the_ready_one_as_the_command_of_the_setting(linear: Linear) -> None:
    command = f"{sys.executable} -m sisyphus notify linear --issue ENG-1"
    notify_by(command)
    done = _notify("test", "completion")
    assert done.returncode == 0
    assert "Commented on ENG-1." in done.stdout
    assert linear.asked[0]["body"]["variables"]["input"]["body"].startswith(
        "**Iteration 5** Completed: An example"
    )
