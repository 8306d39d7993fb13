"""The command as the client, a shell and a plugin call it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from making import COMMAND, HANG_SECONDS

from integration.desk import EVENTS, Desk
from sisyphus.clients.claude_code import BATCH
from sisyphus.clients.claude_code import CLIENT_EVENTS as ALL_EVENTS

ROOT = Path(__file__).parents[2]

HOOKS = json.loads((ROOT / "hooks.json").read_text())["hooks"]

ENTRIES = [
    pytest.param(event, entry, hook, id=f"{event} {hook['command']}")
    for event, entries in HOOKS.items()
    for entry in entries
    for hook in entry["hooks"]
]

TIMEOUTS = {"Stop": 900}


@pytest.mark.parametrize(("event", "entry", "hook"), ENTRIES)
def test_an_entry_of_hooks_json_calls_the_one_command(
    event: str, entry: dict[str, object], hook: dict[str, object]
) -> None:
    called = re.fullmatch(r"sisyphus hook ([a-z-]+)", str(hook["command"]))
    assert called is not None
    assert hook["type"] == "command"
    re.compile(str(entry.get("matcher", "")))
    if called[1] == "idle":  # the client goes on without waiting for it, and hears of it later
        assert (hook["async"], hook["asyncRewake"]) == (True, True)
    else:
        assert event in (ALL_EVENTS[called[1]], BATCH)
        assert hook["timeout"] == TIMEOUTS.get(event, 10)


def test_the_plugin_names_the_same_hooks_file() -> None:
    plugin = json.loads((ROOT / ".claude-plugin" / "plugin.json").read_text())
    assert (ROOT / plugin["hooks"]).resolve() == ROOT / "hooks.json"


def test_no_event_waits_for_two_entries_of_one_command() -> None:
    for entries in HOOKS.values():
        commands = [hook["command"] for entry in entries for hook in entry["hooks"]]
        assert len(commands) == len(set(commands))


def _run(*words: str, stdin: bytes = b"", **env: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        words,
        input=stdin,
        capture_output=True,
        timeout=HANG_SECONDS,
        check=False,
        env={**os.environ, **env},
    )


@pytest.mark.parametrize("event", ["nonsense", "Stop", "session_start", "", "../stop"])
def test_an_unknown_event_of_a_client_ends_no_turn(event: str) -> None:
    """A hook of a batch that exits with 2 would."""
    ran = _run(COMMAND, "hook", event, stdin=b"{}")
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, b"", b"")


def test_an_unknown_event_is_a_failure_for_whoever_is_strict() -> None:
    ran = _run(COMMAND, "hook", "nonsense", "--strict", stdin=b"{}")
    assert (ran.returncode, ran.stdout) == (1, b"")
    assert [name for name in ALL_EVENTS if name not in ran.stderr.decode()] == []


def test_a_hook_without_an_event_is_wrong_usage() -> None:
    ran = _run(COMMAND, "hook")
    assert ran.returncode == 2
    assert b"Traceback" not in ran.stderr


def test_options_of_a_newer_client_are_passed_over(desk: Desk) -> None:
    stdin = json.dumps(desk.payload("session-start")).encode()
    ran = _run(COMMAND, "hook", "session-start", "--colour", "blue", stdin=stdin)
    assert ran.returncode == 0
    assert b"How to build" in ran.stdout


def test_the_module_is_the_same_command(played: Desk) -> None:
    for event in EVENTS:
        name = event.partition(":")[0]
        payloads = [played.payload(event, session_id=session) for session in ("one", "two")]
        command, module = (
            _run(*words, "hook", name, stdin=json.dumps(payload).encode())
            for words, payload in zip(
                ([COMMAND], [sys.executable, "-m", "sisyphus"]), payloads, strict=True
            )
        )
        assert (command.returncode, command.stderr) == (module.returncode, module.stderr)
        assert command.stdout == module.stdout, event


def test_the_module_and_the_command_have_one_version() -> None:
    ran = [_run(*w, "--version") for w in ([COMMAND], [sys.executable, "-m", "sisyphus"])]
    assert ran[0].stdout == ran[1].stdout != b""


@pytest.mark.parametrize("value", ["1", "true", "yes"])
def test_disabled_means_that_every_hook_is_silent_and_writes_nothing(
    played: Desk, value: str
) -> None:
    before = {path: path.lstat().st_mtime_ns for path in played.ours.rglob("*")}
    for event in ALL_EVENTS:
        payload = json.dumps(played.payload(event)).encode()
        answer = played.raw_hook(event, payload, env={"SISYPHUS_DISABLE": value})
        assert (answer.code, answer.stdout, answer.stderr) == (0, b"", "")
    assert {path: path.lstat().st_mtime_ns for path in played.ours.rglob("*")} == before


@pytest.mark.parametrize("value", ["0", ""])
def test_not_disabled_is_said_by_zero_or_nothing(desk: Desk, value: str) -> None:
    payload = json.dumps(desk.payload("session-start")).encode()
    answer = desk.raw_hook("session-start", payload, env={"SISYPHUS_DISABLE": value})
    assert "How to build" in answer.text


OFF = [
    pytest.param("boulder", "session-start", "BOULDER", id="boulder"),
    pytest.param("context", "session-start", "How to build", id="context"),
    pytest.param("rules", "post-tool-use", "Annotate all", id="rules"),
    pytest.param("ralph", "stop", "RALPH LOOP", id="ralph"),
]


@pytest.mark.parametrize(("feature", "event", "words"), OFF)
def test_one_feature_is_switched_off_by_its_setting(
    played: Desk, feature: str, event: str, words: str
) -> None:
    fields = {} if event == "stop" else {"session_id": "another"}
    one, other = (
        json.dumps(played.payload(event, tool_use_id=f"toolu_{n}", **fields)).encode()
        for n in range(2)
    )
    name = f"SISYPHUS_{feature.upper()}_ENABLED"
    assert words not in played.raw_hook(event, one, env={name: "0"}).stdout.decode()
    assert words in played.raw_hook(event, other).stdout.decode()


def test_files_are_for_their_user_alone(played: Desk) -> None:
    for path in [played.client / ".boulder.json", played.ours, *played.ours.rglob("*")]:
        if path.name != "config.toml" and path.exists():
            assert path.stat().st_mode & 0o077 == 0, path


def test_what_starts_in_another_folder_works_on_the_same_project(desk: Desk) -> None:
    """The process stands in the home folder; the payload names the project."""
    below = desk.write("src/deep/er/file.py", "pass\n").parent
    assert "Progress: 1/3" in desk.hook("session-start", cwd=str(below)).text
