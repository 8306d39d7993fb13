"""A home and a project for one scene, put back before every run as they were before the first."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from typing import TYPE_CHECKING, Any

import clean_venv

if TYPE_CHECKING:
    from pathlib import Path

SESSION = "5e551017-0000-4000-8000-000000000001"


class Desk:
    """`home` is the user's, `client` the client's folder in it, `project` an empty git project."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.home = folder / "home"
        self.client = self.home / ".claude"
        self.project = folder / "project"
        self.transcript = self.client / "projects" / "project" / f"{SESSION}.jsonl"
        (self.project / ".git").mkdir(parents=True)
        self.client.mkdir(parents=True)

    @property
    def environment(self) -> dict[str, str]:
        """What the client gives a hook, and nothing of ours."""
        return {
            "PATH": os.environ.get("PATH", os.defpath),
            "HOME": str(self.home),
            "CLAUDE_CONFIG_DIR": str(self.client),
            "CLAUDE_PROJECT_DIR": str(self.project),
            "CLAUDE_CODE_SESSION_ID": SESSION,
            "CLAUDE_PID": str(os.getpid()),
            "CLAUDECODE": "1",
        }

    def write(self, name: str, text: str) -> None:
        path = self.project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")

    def payload(self, **fields: Any) -> bytes:
        whole = {
            "session_id": SESSION,
            "transcript_path": str(self.transcript),
            "cwd": str(self.project),
            "permission_mode": "default",
            "prompt_id": "6ebbb54c-78cf-440b-a54c-e805c6833786",
            **fields,
        }
        return json.dumps(whole).encode() + b"\n"

    def hook(self, event: str, **fields: Any) -> str:
        """What one hook says, outside of any measurement."""
        return self.run("hook", event, **fields)

    def run(self, *words: str, **fields: Any) -> str:
        """What one command that reads a payload says."""
        ran = subprocess.run(
            [clean_venv.COMMAND, *words],
            input=self.payload(**fields),
            stdout=subprocess.PIPE,
            env=self.environment,
            cwd=self.project,
            check=True,
        )
        return ran.stdout.decode()

    def keep(self) -> None:
        """Remembers our state as it is now."""
        shutil.rmtree(self._kept, ignore_errors=True)
        self._kept.mkdir()
        self._copy(self.client, self._kept)

    def put_back(self) -> None:
        """Brings our state back to what it was at `keep`."""
        shutil.rmtree(self.client / ".sisyphus", ignore_errors=True)
        (self.client / ".boulder.json").unlink(missing_ok=True)
        self._copy(self._kept, self.client)

    @property
    def _kept(self) -> Path:
        return self.folder / "kept"

    def _copy(self, source: Path, target: Path) -> None:
        if (source / ".sisyphus").exists():
            shutil.copytree(source / ".sisyphus", target / ".sisyphus", symlinks=True)
        if (source / ".boulder.json").exists():
            shutil.copy2(source / ".boulder.json", target)
