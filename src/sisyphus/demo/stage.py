"""A home and a project that exist for one demo, and the real binary run in them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sisyphus._types import Json

HANG_SECONDS = 20


def binary() -> list[str]:
    """The console script of this very installation, else the module."""
    beside = Path(sys.executable).parent / "sisyphus"
    found = str(beside) if beside.exists() else shutil.which("sisyphus")
    return [found] if found else [sys.executable, "-m", "sisyphus"]


class Stage:
    """Folders below `folder`; nothing outside them is read or written."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        self.project = folder / "shop"
        self.transcript = folder / "transcript.jsonl"
        self.home.mkdir()
        (self.project / ".git").mkdir(parents=True)

    def write(self, name: str, text: str) -> None:
        path = self.project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def replace(self, name: str, old: str, new: str) -> None:
        path = self.project / name
        path.write_text(path.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")

    def say(self, kind: str, text: str) -> None:
        """Appends a line to the transcript, as the client does."""
        self._append(kind, {"role": kind, "content": [{"type": "text", "text": text}]})

    def fill(self, tokens: int) -> None:
        """An answer that found so much in the context."""
        called = {"type": "tool_use", "id": "demo", "name": "Bash", "input": {"command": "make"}}
        usage = {"input_tokens": tokens, "output_tokens": 1}
        model = "claude-opus-5-5"
        answer = {"id": "demo", "model": model, "content": [called], "usage": usage}
        self._append("assistant", {"role": "assistant", **answer})

    def _append(self, kind: str, message: Json) -> None:
        line = {
            "type": kind,
            "uuid": f"demo-{time.time_ns()}",
            "isSidechain": False,
            "message": message,
            "timestamp": time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime()),
        }
        with self.transcript.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")

    def hook(self, event: str, payload: Json) -> Json:
        """The reply of `sisyphus hook EVENT`; {} for silence."""
        known = {
            "session_id": "demo",
            "cwd": str(self.project),
            "transcript_path": str(self.transcript),
        }
        reply = self.run(["hook", event], json.dumps({**known, **payload}))
        return dict(json.loads(reply)) if reply.strip() else {}

    def run(self, words: list[str], stdin: str = "") -> str:
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("CLAUDE", "SISYPHUS"))}
        done = subprocess.run(  # noqa: S603  # our own binary with words of ours
            [*binary(), *words],
            input=stdin,
            capture_output=True,
            text=True,
            encoding="utf-8",
            check=True,
            timeout=HANG_SECONDS,
            cwd=self.project,
            env={**kept, "HOME": str(self.home), "CLAUDE_CONFIG_DIR": str(self.home / ".claude")},
        )
        return done.stdout
