"""Runs Claude Code in print mode, and knows its names for tools."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from e2e.install import CLAUDE_CODE
from e2e.script import Tool

Json = dict[str, Any]

COMMANDS = Path(sys.executable).parent
"""The folder of `sisyphus`: that of the environment that runs the tests."""

_NAMES = {
    "read": "Read",
    "write": "Write",
    "edit": "Edit",
    "shell": "Bash",
    "skill": "Skill",
    "todos": "TodoWrite",
    "delegate": "Agent",
    "schedule": "ScheduleWakeup",
    "plan": "EnterPlanMode",
}
_FIELDS = {
    "path": "file_path",
    "text": "content",
    "old": "old_string",
    "new": "new_string",
    "background": "run_in_background",
    "name": "skill",
    "arguments": "args",
    "items": "todos",
    "seconds": "delaySeconds",
}
_ALWAYS = {
    "delegate": {
        "description": "scripted",
        "subagent_type": "general-purpose",
        "run_in_background": False,
    }
}

NAME = "claude-code"
REASON_COPIES = 1


SHOWS_MESSAGES = True

SECONDS = 120.0
"""A limit against a hang; a healthy process takes about two."""

_PRINT_MODE = (
    *("--print", "--verbose", "--include-hook-events", "--permission-mode", "acceptEdits"),
    *("--input-format", "stream-json", "--output-format", "stream-json"),
)


def furnish(home: Path) -> None:
    """The user has set nothing."""


def environment(home: Path) -> dict[str, str]:
    """Returns the whole environment of the client and its hooks. Only PATH is the caller's."""
    return {
        "PATH": f"{COMMANDS}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(home),
        "TMPDIR": str(home / "tmp"),
        "CLAUDE_CODE_TMPDIR": str(home / "tmp"),
        "LANG": "C.UTF-8",
        "SHELL": "/bin/bash",
        "ANTHROPIC_API_KEY": "sk-ant-of-no-account",
        "ANTHROPIC_BASE_URL": "http://127.0.0.1:9",  # nobody answers there
        "IS_SANDBOX": "1",  # so that root may run it
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
    }


def model_variables(url: str) -> dict[str, str]:
    """Returns the variables that make the client ask a model at a URL."""
    return {"ANTHROPIC_BASE_URL": url}


def spell(tool: Tool, project: Path) -> Json:
    """Returns the client's name and input of a tool."""
    values = dict(tool.values)
    if "path" in values:
        names = list(project.glob(values["path"])) if "*" in values["path"] else []
        values["path"] = str(names[0] if names else project / values["path"])
    if tool.verb == "todos":
        values["items"] = [
            {"content": content, "status": status, "activeForm": content}
            for content, status in values["items"]
        ]
    fields = {_FIELDS.get(name, name): value for name, value in values.items()}
    return {"name": _NAMES[tool.verb], "input": {**fields, **_ALWAYS.get(tool.verb, {})}}


def talk(
    prompts: Sequence[str], flags: Sequence[str], folder: Path, variables: dict[str, str]
) -> list[Json]:
    """Runs one process, which gets each prompt after the answer to the one before; returns its
    events."""
    return converse([CLAUDE_CODE.binary, *_PRINT_MODE, *flags], prompts, folder, variables)


def converse(
    command: Sequence[str | Path], prompts: Sequence[str], folder: Path, variables: dict[str, str]
) -> list[Json]:
    """Does the same with any client that takes prompts, and tells events, as this one does."""
    with process(command, folder, variables) as client:
        events = list(_conversation(client, iter(prompts)))
    if client.returncode:
        said = _log(variables).read_text()
        raise AssertionError(f"the client exited {client.returncode}: {said}")
    return events


def command(
    *words: str | Path, folder: Path, variables: dict[str, str]
) -> subprocess.CompletedProcess[str]:
    """Runs a command of the client that needs no model."""
    return subprocess.run(
        [CLAUDE_CODE.binary, *words],
        cwd=folder,
        env=variables,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )


def _log(variables: dict[str, str]) -> Path:
    return Path(variables["HOME"]) / "stderr.txt"


@contextmanager
def process(
    command: Sequence[str | Path], folder: Path, variables: dict[str, str]
) -> Iterator[subprocess.Popen[str]]:
    """Runs any client, and waits until it ends."""
    with (
        _log(variables).open("a", encoding="utf-8") as stderr,
        subprocess.Popen(
            command,
            cwd=folder,
            env=variables,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
            encoding="utf-8",
            start_new_session=True,  # so that its children end with it
        ) as client,
    ):
        watchdog = threading.Timer(SECONDS, os.killpg, (client.pid, signal.SIGKILL))
        watchdog.start()
        try:
            yield client
            client.wait()
        finally:
            watchdog.cancel()


def _conversation(process: subprocess.Popen[str], prompts: Iterator[str]) -> Iterator[Json]:
    assert process.stdin
    assert process.stdout
    _send(process.stdin, next(prompts, None))
    for line in process.stdout:
        event = json.loads(line)
        yield event
        if event["type"] == "result":
            _send(process.stdin, next(prompts, None))


def _send(stdin: IO[str], prompt: str | None) -> None:
    if prompt is None:
        stdin.close()
        return
    message = {"type": "user", "message": {"role": "user", "content": prompt}}
    stdin.write(json.dumps(message) + "\n")
    stdin.flush()
