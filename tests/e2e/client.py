"""Runs the real client in print mode, in an environment that holds nothing of the caller's."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from e2e.install import BINARY
from sisyphus import shipped

if TYPE_CHECKING:
    from collections.abc import Iterator

Event = dict[str, Any]

CLIENT = Path(os.environ.get("CLAUDE_CLIENT") or BINARY)
COMMANDS = Path(sys.executable).parent  # of the environment that runs the tests: `sisyphus`
TIME_LIMIT = 120.0  # seconds; against a hang alone, a healthy process takes about two
PRINT_MODE = (
    *("--print", "--verbose", "--include-hook-events", "--permission-mode", "acceptEdits"),
    *("--input-format", "stream-json", "--output-format", "stream-json"),
)


def plugin_folder() -> Path:
    return Path(shipped.plugin_folder())


def environment(home: Path) -> dict[str, str]:
    """Everything the client and the hooks get; of the caller's only PATH, after our commands."""
    temporary = home / "tmp"
    return {
        "PATH": f"{COMMANDS}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(home),
        "TMPDIR": str(temporary),
        "CLAUDE_CODE_TMPDIR": str(temporary),
        "CLAUDE_CONFIG_DIR": str(home / ".claude"),
        "LANG": "C.UTF-8",
        "SHELL": "/bin/bash",
        "ANTHROPIC_API_KEY": "sk-ant-of-no-account",
        # Where nobody answers: `claude plugin …` asks too, and without this of the real API.
        "ANTHROPIC_BASE_URL": "http://127.0.0.1:9",
        "IS_SANDBOX": "1",  # root may then bypass permissions
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
    }


@dataclass(frozen=True)
class Client:
    """How to start the client: in which folder, with which environment, where its stderr goes."""

    folder: Path
    environment: dict[str, str]
    stderr: Path

    def talk(self, prompts: tuple[str, ...], *flags: str) -> list[Event]:
        """One process; each prompt is sent after the answer to the one before."""
        with self._process(*PRINT_MODE, *flags) as process:
            events = list(_conversation(process, iter(prompts)))
        if process.returncode:
            why = self.stderr.read_text(encoding="utf-8")
            raise AssertionError(f"the client ended with {process.returncode}: {why}")
        return events

    def command(self, *words: str) -> subprocess.CompletedProcess[str]:
        """A command of the client that needs no model."""
        return subprocess.run(
            [CLIENT, *words],
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=TIME_LIMIT,
            check=False,
        )

    @contextmanager
    def _process(self, *flags: str) -> Iterator[subprocess.Popen[str]]:
        with (
            self.stderr.open("a", encoding="utf-8") as stderr,
            subprocess.Popen(
                [CLIENT, *flags],
                cwd=self.folder,
                env=self.environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stderr,
                text=True,
                encoding="utf-8",
                start_new_session=True,  # so that its children end with it
            ) as process,
            _time_limit(process),
        ):
            yield process


@contextmanager
def _time_limit(process: subprocess.Popen[str]) -> Iterator[None]:
    watchdog = threading.Timer(TIME_LIMIT, os.killpg, (process.pid, signal.SIGKILL))
    watchdog.start()
    try:
        yield
        process.wait()
    finally:
        watchdog.cancel()


def _conversation(process: subprocess.Popen[str], prompts: Iterator[str]) -> Iterator[Event]:
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
