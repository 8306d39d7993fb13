"""`sisyphus demo`: a whole session through the real hooks, in a temporary home."""

import json
import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sisyphus.clients.claude_code import demo as client
from sisyphus.ground.errors import SisyphusError
from sisyphus.hook.event import EDIT, READ
from sisyphus.terminal import show

PLAN = """\
# Lighthouse

## Wave 1 — The lamp

- [ ] Light the lamp
- [ ] Turn the lens
"""
RULE = """\
---
globs: "*.py"
---

- Annotate every function.
"""
README = "# Lighthouse\n\nKeeps ships off the rocks.\n"
TASK = "Make the lamp shine"


def demo() -> None:
    """Play a session through the real hooks, in a temporary home and project."""
    with _stage() as stage:
        show.heading("A project with a README, a rule for Python files and a plan.")
        stage.start("A session starts. The model gets the README and the plan:")
        stage.tool("The model reads lamp.py. The rule for it arrives, once:", READ, "lamp.py")
        stage.tool("It reads the file again. Nothing is sent twice:", READ, "lamp.py")
        stage.tick("Light the lamp")
        stage.tool("It ticks a task. The plan's progress is recorded:", EDIT, "PLAN.md")
        stage.command("You look at the plan:", "boulder", "status")
        stage.command(
            "You start a loop:",
            *("ralph", "start", "--session-id", "demo", "--completion-promise", "DONE", "--", TASK),
        )
        stage.stop("The agent wants to stop. It may not yet:", "I did some of it.")
        stage.stop("It says the promise, and may stop:", "It shines.\n\n<promise>DONE</promise>")
        stage.start("Another session starts. It continues the plan:", "next")
        stage.command("You ask what was decided, and why:", "why", "--session-id", "demo")
        show.line("")
        show.heading("That is all. `sisyphus install` wires it into your agents.")


class Stage:
    """A temporary project and home. Each method plays one scene and prints it."""

    def __init__(self, root: Path) -> None:
        self.project = root / "lighthouse"
        (self.project / ".git").mkdir(parents=True)
        (self.project / ".git" / "config").write_text("[core]\n", encoding="utf-8")
        (self.project / ".cursor" / "rules").mkdir(parents=True)
        for name, text in (
            ("PLAN.md", PLAN), ("README.md", README), (".cursor/rules/python.mdc", RULE),
            ("lamp.py", "lamp = None\n"),
        ):  # fmt: skip
            (self.project / name).write_text(text, encoding="utf-8")
        private = ("CLAUDE", "SISYPHUS")
        rest = {key: os.environ[key] for key in os.environ if not key.startswith(private)}
        self._environment = {**rest, "HOME": str(root), "NO_COLOR": "1"}

    def start(self, caption: str, session: str = "demo") -> None:
        self._hook(caption, "session-start", session, source="startup")

    def tool(self, caption: str, action: str, path: str) -> None:
        file = str(self.project / path)
        self._hook(caption, "post-tool-use", "demo", action=action, path=file)

    def tick(self, task: str) -> None:
        """Ticks a task in the plan, without a hook."""
        plan = self.project / "PLAN.md"
        text = plan.read_text(encoding="utf-8")
        plan.write_text(text.replace(f"[ ] {task}", f"[x] {task}"), encoding="utf-8")

    def stop(self, caption: str, last: str) -> None:
        self._hook(caption, "stop", "demo", last=last)

    def command(self, caption: str, *words: str) -> None:
        show.line("")
        show.line(caption, "bold")
        show.line(f"$ sisyphus {shlex.join(words)}", "dim")
        _print(self._run(words))

    def _hook(self, caption: str, event: str, session: str, **more: Any) -> None:
        payload = client.payload(event, session, str(self.project), **more)
        reply = self._run(("hook", event), json.dumps(payload))
        show.line("")
        show.line(caption, "bold")
        show.line(f"$ sisyphus hook {event}", "dim")
        for reader, text in client.readers(json.loads(reply) if reply else {}):
            show.line(f"{reader}:", "cyan", indent=2)
            _print(text, indent=4)
        if not reply:
            show.line("(no reply)", "dim", indent=2)

    def _run(self, words: tuple[str, ...], stdin: str = "") -> str:
        done = subprocess.run(
            [sys.executable, "-E", "-P", "-m", "sisyphus", *words],
            cwd=self.project, env=self._environment, input=stdin, capture_output=True, text=True,
            check=False,
        )  # fmt: skip
        if done.returncode:
            raise SisyphusError(f"`sisyphus {' '.join(words)}` failed: {done.stderr.strip()}")
        return done.stdout


def _print(text: str, indent: int = 2) -> None:
    for line in text.rstrip().splitlines():
        show.line(line, indent=indent)


@contextmanager
def _stage() -> Iterator[Stage]:
    with tempfile.TemporaryDirectory(prefix="sisyphus-demo-") as folder:
        yield Stage(Path(folder).resolve())
