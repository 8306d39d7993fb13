"""Hooks as real processes, and what they leave."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
import sysconfig
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

COMMAND = (os.path.join(sysconfig.get_path("scripts"), "sisyphus"),)
DYING = os.path.join(os.path.dirname(__file__), "dying.py")
HANG_SECONDS = 120


class Door:
    """Hooks in one project; `home` is the folder of the client."""

    def __init__(self, project: Path, home: Path) -> None:
        self.project = project
        self.home = home
        self.ours = home / ".sisyphus"
        self.database = self.ours / "sisyphus.db"

    def payload(self, event: str, session: str = "s1", **values: Any) -> bytes:
        name = {"session-start": "SessionStart", "stop": "Stop", "session-end": "SessionEnd"}
        raw = {"session_id": session, "cwd": str(self.project), "transcript_path": "", **values}
        return json.dumps({"hook_event_name": name.get(event, ""), **raw}).encode()

    def reading(self, *files: str, **values: Any) -> dict[str, Any]:
        """What a batch of Reads of these files holds."""
        calls = [
            {"tool_name": "Read", "tool_input": {"file_path": str(self.project / file)}, **values}
            for file in files
        ]
        return {"hook_event_name": "PostToolBatch", "tool_calls": calls}

    def start(
        self, event: str, session: str = "s1", *, by: Sequence[str] = COMMAND, **values: Any
    ) -> subprocess.Popen[bytes]:
        """A hook that holds its payload."""
        options = values.pop("options", {})
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        words = [*by, "hook", event, *values.pop("words", ())]
        process = subprocess.Popen(words, **{**pipes, **options})
        assert process.stdin is not None
        process.stdin.write(self.payload(event, session, **values))
        process.stdin.close()
        process.stdin = None
        return process

    def hook(self, event: str, session: str = "s1", **values: Any) -> str:
        """What a hook printed."""
        return finish(self.start(event, session, **values))

    def killed(self, step: int, event: str, session: str = "s1", **values: Any) -> tuple[str, bool]:
        """What a hook printed that was killed before its `step`; whether it got so far."""
        by = (sys.executable, DYING, "KILL", str(step))
        process = self.start(event, session, by=by, **values)
        printed, wrong = process.communicate(timeout=HANG_SECONDS)
        assert process.returncode in (0, -9), wrong.decode()
        return printed.decode(), process.returncode == -9

    def stopped(
        self, step: int, event: str, session: str = "s1", **values: Any
    ) -> subprocess.Popen[bytes]:
        """A hook that stands still before its `step`, or has ended before that."""
        by = (sys.executable, DYING, "STOP", str(step))
        process = self.start(event, session, by=by, **values)
        os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
        return process

    def ask(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        database = sqlite3.connect(self.database, timeout=HANG_SECONDS)
        try:
            return database.execute(query, values).fetchall()
        finally:
            database.close()

    def is_whole(self) -> bool:
        return self.ask("PRAGMA integrity_check") == [("ok",)]

    def ledger(self, name: str, session: str = "s1") -> dict[str, list[str]] | None:
        """What other programs read of what the session was sent."""
        path = self.ours / name / f"session-{session}.json"
        return json.loads(path.read_text()) if path.exists() else None

    def sent(self, kinds: Iterable[str], session: str = "s1") -> set[str]:
        marks = ", ".join("?" * len(list(kinds)))
        rows = self.ask(
            "SELECT hash FROM sent JOIN session ON n = session "
            f"WHERE id = ? AND kind IN ({marks})",
            session, *kinds,
        )  # fmt: skip
        return {row[0] for row in rows}

    def exports_are_current(self, session: str = "s1") -> bool:
        kinds = {"rules-injector": ["rules"], "context-injector": ["readme", "agents"]}
        for name, of in kinds.items():
            told = self.ledger(name, session)
            if set(told["injected_hashes"] if told else ()) != self.sent(of, session):
                return False
        return True


def finish(process: subprocess.Popen[bytes]) -> str:
    printed, wrong = process.communicate(timeout=HANG_SECONDS)
    assert (process.returncode, wrong) == (0, b"")
    assert not printed or isinstance(json.loads(printed), dict)
    return printed.decode()


def put(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def rule(project: Path, name: str, text: str, scope: str = "**/*.py") -> None:
    """A rule that is ours to send."""
    put(project / ".cursor/rules" / f"{name}.mdc", f'---\nglobs: ["{scope}"]\n---\n{text}\n')
