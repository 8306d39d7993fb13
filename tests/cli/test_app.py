from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from command_files import put_ours
from making import COMMAND

from sisyphus import __version__
from sisyphus.clients.base import EVENTS

if TYPE_CHECKING:
    from pathlib import Path


def _run(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [COMMAND, *words],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "COLUMNS": "200", **environment},
    )


def test_the_version_is_told() -> None:
    for option in ("--version", "-V"):
        done = _run(option)
        assert (done.returncode, done.stdout) == (0, f"sisyphus {__version__}\n")


def test_the_module_is_the_same_command() -> None:
    command = [sys.executable, "-m", "sisyphus", "--version"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == f"sisyphus {__version__}\n"


@pytest.mark.parametrize("words", [["--help"], ["-h"], []])
def test_help_shows_the_commands(words: list[str]) -> None:
    done = _run(*words)
    assert "Usage: sisyphus [OPTIONS] COMMAND [ARGS]" in done.stdout + done.stderr
    for name in ("hook", "boulder", "rules", "context", "demo"):
        assert f" {name} " in done.stdout + done.stderr


def test_help_begins_with_what_one_begins_with() -> None:
    found = [
        _run("--help").stdout.find(f" {name} ") for name in ("install", "boulder", "why", "hook")
    ]

    assert found == sorted(found)


@pytest.mark.parametrize("words", [[], ["install"], ["boulder"], ["ralph", "list"]], ids=" ".join)
def test_no_flag_looks_as_if_it_took_a_value(words: list[str]) -> None:
    assert "bool" not in _run(*words, "--help").stdout.lower()


@pytest.mark.parametrize("is_bare", [True, False], ids=["bare", "as the plugin's"])
def test_a_slash_command_is_named_as_it_is_typed(home: Path, *, is_bare: bool) -> None:
    name = "/sisyphus:"
    if is_bare:
        name = "/"
        put_ours(home / ".claude", "ralph-loop")
        put_ours(home / ".claude", "enforce")

    assert f"session: {name}ralph-loop" in _run("ralph", "list").stdout
    assert f"session: {name}ralph-loop" in _run("ralph", "log").stdout
    assert f"Type {name}enforce on as" in _run("enforce", "on", CLAUDECODE="1").stderr


@pytest.mark.parametrize("option", ["--help", "-h"])
def test_the_help_of_hook_names_every_event(option: str) -> None:
    done = _run("hook", option)
    assert done.returncode == 0
    assert [event for event in EVENTS if event not in done.stdout] == []


USAGE = [
    pytest.param(["nonsense"], "No such command 'nonsense'", id="no such command"),
    pytest.param(["docter"], "Did you mean 'doctor'?", id="a slip in a command"),
    pytest.param(["ralph", "lst"], "Did you mean 'list'?", id="a slip in a subcommand"),
    pytest.param(["purge", "--dryrun"], "--dry-run", id="a slip in an option"),
    pytest.param(["why", "--event", "stopp"], "Did you mean stop?", id="a slip in an event"),
    pytest.param(["notify", "test", "failur"], "Did you mean failure?", id="in one of notify's"),
    pytest.param(["context", "shew"], "No such command 'shew'", id="no such subcommand"),
    pytest.param(["context", "show", "--nope"], "No such option: --nope", id="no such option"),
    pytest.param(["context", "show", "--project"], "requires an argument", id="no value"),
    pytest.param(["hook"], "Missing argument 'EVENT'", id="no event"),
]


@pytest.mark.parametrize(("words", "reason"), USAGE)
def test_wrong_usage_is_exit_code_2(words: list[str], reason: str) -> None:
    done = _run(*words)
    assert (done.returncode, done.stdout) == (2, "")
    assert reason in done.stderr


FAILING = """
import sys
from sisyphus.cli import app as door
from sisyphus.errors import SisyphusError

@door.app.command("fail")
def fail() -> None:
    {failure}

sys.argv = ["sisyphus", "fail"]
sys.exit(door.run_app())
"""

FAILURES = [
    pytest.param("pass", 0, "", id="none"),
    pytest.param("raise SisyphusError('what, why.')", 1, "error: what, why.\n", id="a known one"),
    pytest.param("raise KeyboardInterrupt", 130, "", id="an interruption"),
    pytest.param("1 / 0", 3, "error: ZeroDivisionError: division by zero (see ", id="a fault"),
    pytest.param("print('a' * 1_000_000)", 0, "", id="a reader that has gone away"),
]


@pytest.mark.parametrize(("failure", "code", "told"), FAILURES)
def test_every_kind_of_failure_has_its_exit_code_and_no_traceback(
    failure: str, code: int, told: str
) -> None:
    command = [sys.executable, "-c", FAILING.format(failure=failure)]
    reading, writing = os.pipe()
    os.close(reading)
    with open(writing, "wb") as nobody:
        done = subprocess.run(
            command, stdout=nobody, stderr=subprocess.PIPE, text=True, check=False
        )
    assert done.returncode == code
    assert done.stderr.startswith(told)
    assert len(done.stderr.splitlines()) <= 1


def test_a_fault_of_ours_is_in_the_debug_log() -> None:
    command = [sys.executable, "-c", FAILING.format(failure="1 / 0")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    log = done.stderr.partition("(see ")[2].rstrip(")\n")
    with open(log, encoding="utf-8") as file:
        assert "fail: ZeroDivisionError: division by zero" in file.read()


def test_a_folder_that_is_gone_is_a_known_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()

    done = subprocess.run([COMMAND, "context", "show"], capture_output=True, text=True, check=False)

    assert done.returncode == 1
    assert "error: the current folder is gone." in done.stderr
