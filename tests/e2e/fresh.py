"""`sisyphus ralph run` in a terminal of the desk, with the real client."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from e2e.client import CLIENT, COMMANDS, TIME_LIMIT, environment
from e2e.model import Model, serving
from e2e.script import Script, Turn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from e2e.desk import Desk
    from e2e.wire import Request


@dataclass(frozen=True)
class Ended:
    """What a run left: its exit code, what it printed, and the prompt of each client in turn."""

    code: int
    text: str
    requests: list[Request]

    @property
    def prompts(self) -> list[str]:
        """Each client's first request, whole."""
        first = [r for r in self.requests if not any(_is_answer(m) for m in r.body["messages"])]
        return [request.text for request in first]


def _is_answer(message: dict[str, Any]) -> bool:
    return bool(message["role"] == "assistant")


class Runner:
    """One scripted model, and as many runs in its face as a scenario needs."""

    def __init__(self, desk: Desk, model: Model) -> None:
        self._desk = desk
        self._model = model

    def run(self, *words: str, env: dict[str, str] | None = None) -> Ended:
        """Runs to the end."""
        seen = len(self._model.requests)
        with self.start(*words, env=env) as process:
            text, _ = process.communicate(timeout=TIME_LIMIT)
        return Ended(process.returncode, text, self._model.requests[seen:])

    @contextmanager
    def start(
        self, *words: str, env: dict[str, str] | None = None
    ) -> Iterator[subprocess.Popen[str]]:
        variables = {**environment(self._desk.home), "ANTHROPIC_BASE_URL": self._model.url}
        variables["PATH"] = f"{_with_client(self._desk.home)}{os.pathsep}{variables['PATH']}"
        plugins = [word for path in self._desk.plugins for word in ("--plugin-dir", str(path))]
        flags = ["--permission-mode", "acceptEdits", *plugins]
        with subprocess.Popen(
            [COMMANDS / "sisyphus", "ralph", "run", *words, "--", *flags],
            cwd=self._desk.project,
            env={**variables, **(env or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        ) as process:
            try:
                yield process
            finally:
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)


@contextmanager
def runner(desk: Desk, turns: Sequence[Turn]) -> Iterator[Runner]:
    """Fails where the clients asked for more or fewer turns than the script has."""
    script = Script([*turns])
    with serving(script) as model:
        yield Runner(desk, model)
    desk.check_log()
    assert script.told, f"unsaid: {script.main}; beyond: {script.surplus}"


def state(desk: Desk) -> dict[str, Any]:
    path = desk.project / ".claude/ralph-state.json"
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def wait_for(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + TIME_LIMIT
    while not is_so():
        assert time.monotonic() < deadline, "it did not come about"
        time.sleep(0.02)


def _with_client(home: Path) -> Path:
    """A folder in which the client has the name that users know it by."""
    folder = home / "bin"
    folder.mkdir(exist_ok=True)
    if not (folder / "claude").exists():
        (folder / "claude").symlink_to(CLIENT)
    return folder
