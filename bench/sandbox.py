"""One scene's home and project, put back before every run as they were before the first."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
from contextlib import closing
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING, Any

import installation
import transcript

if TYPE_CHECKING:
    from pathlib import Path

Json = dict[str, Any]

SESSION = "5e551017-0000-4000-8000-000000000001"
RECORDED = installation.ROOT / "tests" / "data"
PROJECT = "/home/user/project"
"""The project's folder in recorded payloads, and in what replaces their fields."""

_CALLS = count(1)
"""No two tool calls have one id: a call that was answered once is no news."""


@dataclass(frozen=True)
class Told:
    """A payload that was recorded from a client, with other `fields`."""

    recorded: str
    fields: Json = field(default_factory=dict)


class Sandbox:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.home = folder / "home"
        self.project = folder / "project"
        self.ours = self.home / ".claude" / ".sisyphus"
        self.transcript = self.home / ".claude" / "projects" / "project" / f"{SESSION}.jsonl"
        self.transcript.parent.mkdir(parents=True)
        (self.project / ".git").mkdir(parents=True)
        self.terminal = {
            "PATH": os.environ.get("PATH", os.defpath),
            "HOME": str(self.home),
            "CLAUDE_CONFIG_DIR": str(self.home / ".claude"),
        }
        self.environment = {
            **self.terminal,
            "CLAUDE_PROJECT_DIR": str(self.project),
            "CLAUDE_CODE_SESSION_ID": SESSION,
            "CLAUDE_PID": str(os.getpid()),
            "CLAUDECODE": "1",
        }

    def write(self, name: str, text: str) -> None:
        path = self.project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")

    def payload(self, told: Told) -> bytes:
        recorded = json.loads((RECORDED / f"{told.recorded}.json").read_text("utf-8"))
        here = {"session_id": SESSION, "transcript_path": str(self.transcript)}
        if "transcript_path" not in recorded:
            del here["transcript_path"]
        whole = {**recorded, **here, **told.fields}
        if plugin := recorded.get("opencode"):
            whole["opencode"] = {**plugin, **told.fields.get("opencode", {})}
        called = whole.get("opencode", {}).get("tool") or {}
        for one in (whole, called, *whole.get("tool_calls", ())):
            for key in {"tool_use_id", "call"} & one.keys():
                if one[key] != transcript.LATEST:
                    one[key] = f"toolu_{next(_CALLS)}"
        return json.dumps(whole).replace(PROJECT, str(self.project)).encode() + b"\n"

    def run(self, command: str, told: Told) -> str:
        """What one command that reads a payload says, outside of any measurement."""
        done = subprocess.run(
            [installation.COMMAND, *command.split()],
            input=self.payload(told), stdout=subprocess.PIPE, env=self.environment,
            cwd=self.project, check=True,
        )  # fmt: skip
        return done.stdout.decode()

    def multiply(self, times: int) -> None:
        """So many sessions like the one that the memory holds, each with its journal."""
        with closing(sqlite3.connect(self.ours / "sisyphus.db")) as memory, memory:
            for table, key, changed in (
                ("session", "n", {"n": "n + i", "id": "'copy-' || i", "in_process": "0"}),
                ("event", "session", {"n": "NULL", "session": "session + i"}),
            ):
                columns = [row[1] for row in memory.execute(f"PRAGMA table_info({table})")]
                copied = ", ".join(changed.get(column, column) for column in columns)
                memory.execute(
                    "WITH RECURSIVE numbers(i) AS"
                    " (SELECT 1 UNION ALL SELECT i + 1 FROM numbers WHERE i < ?)"
                    f" INSERT INTO {table} SELECT {copied} FROM {table}, numbers WHERE {key} = 1",
                    (times,),
                )

    def last_notes(self) -> str:
        """The notes of the journal's last line."""
        with closing(sqlite3.connect(self.ours / "sisyphus.db")) as memory:
            found = memory.execute("SELECT notes FROM event ORDER BY n DESC LIMIT 1").fetchone()
        return str(found[0]) if found else ""

    def keep(self) -> None:
        """Remembers our state as it is now."""
        self._copy(self.ours.parent, self.folder / "kept")

    def put_back(self) -> None:
        """Brings our state back to what it was at `keep`, down to the disk: what was copied just
        now would else be written with the first thing that a hook writes."""
        shutil.rmtree(self.ours, ignore_errors=True)
        (self.ours.parent / ".boulder.json").unlink(missing_ok=True)
        self._copy(self.folder / "kept", self.ours.parent)
        os.sync()

    def _copy(self, source: Path, target: Path) -> None:
        target.mkdir(exist_ok=True)
        if (source / ".sisyphus").exists():
            shutil.copytree(source / ".sisyphus", target / ".sisyphus", symlinks=True)
        if (source / ".boulder.json").exists():
            shutil.copy2(source / ".boulder.json", target)
