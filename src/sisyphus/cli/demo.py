"""`sisyphus demo`: a whole session through the real hooks, in a temporary home."""

import json
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sisyphus import clients
from sisyphus.clients.claude_code import demo as client
from sisyphus.ground.errors import SisyphusError
from sisyphus.hook.event import EDIT, READ
from sisyphus.terminal import show

PLAN = """\
# Lighthouse

## Wave 1 — The lamp

- [x] Build the tower
- [ ] Light the lamp (verify: `sh test.sh`)
- [ ] Name the keeper
"""
TEST = """\
grep -q 'is_lit = True' lamp.py && exit
echo "lamp.py: the lamp is dark"
exit 1
"""
RULE = """\
---
globs: "*.py"
---

- Annotate every function.
"""
README = "# Lighthouse\n\nKeeps ships off the rocks.\n"


def demo() -> None:
    """Play a session through the real hooks, in a temporary home and project."""
    with _stage() as stage:
        show.heading("A project with a README, a rule for Python files and a plan.")
        stage.start("A session starts. The model gets the README, and the plan so far:")
        stage.tool("The model reads lamp.py. The rule for it arrives, once:", READ, "lamp.py")
        stage.tool("It reads the file again. Nothing is sent twice:", READ, "lamp.py")
        stage.command(
            "The plan names a check. You read it, and let sisyphus run it:",
            *("boulder", "checks", "--trust", "--yes"),
        )
        stage.command(
            "All sessions are to go on until the plan is complete:",
            *("boulder", "hold", "on"),
            most=1,
        )
        stage.write("lamp.py", "keeper = 'Ida'\n")
        stage.tick("Light the lamp", "Name the keeper")
        stage.tool("The agent ticks both boxes. It never ran the check of one:", EDIT, "PLAN.md")
        stage.stop("It says that it is done. The check fails, so it must go on:", "All done.")
        stage.write("lamp.py", "keeper = 'Ida'\nis_lit = True\n")
        stage.stop("It mends lamp.py. The check passes, so it may stop:", "Now it shines.")
        stage.command("You ask what was decided, and why:", "why", "--session-id", "demo")
        show.line("")
        show.heading("That is all. `sisyphus install` wires it into your agents.")


class Stage:
    """A temporary project and home. Each method plays one scene; most print it."""

    def __init__(self, root: Path) -> None:
        self.project = root / "lighthouse"
        (self.project / ".git").mkdir(parents=True)
        (self.project / ".git" / "config").write_text("[core]\n", encoding="utf-8")
        (self.project / ".cursor" / "rules").mkdir(parents=True)
        for name, text in (
            ("PLAN.md", PLAN), ("README.md", README), (".cursor/rules/python.mdc", RULE),
            ("lamp.py", "lamp = None\n"), ("test.sh", TEST),
        ):  # fmt: skip
            self.write(name, text)
        # In an agent's shell, too, the commands of the demo are those of its user.
        homes = {clients.payload(name).HOME_VARIABLE for name in clients.NAMES}
        ours = clients.environment()
        rest = {name: ours[name] for name in ours if name not in homes}
        self._environment = {**rest, "HOME": str(root), "NO_COLOR": "1"}

    def write(self, path: str, text: str) -> None:
        """Writes a file of the project, without a hook."""
        (self.project / path).write_text(text, encoding="utf-8")

    def start(self, caption: str, session: str = "demo") -> None:
        self._hook(caption, "session-start", session, source="startup")

    def tool(self, caption: str, action: str, path: str) -> None:
        file = str(self.project / path)
        self._hook(caption, "post-tool-use", "demo", action=action, path=file)

    def tick(self, *tasks: str) -> None:
        """Ticks tasks in the plan, without a hook."""
        plan = (self.project / "PLAN.md").read_text(encoding="utf-8")
        for task in tasks:
            plan = plan.replace(f"[ ] {task}", f"[x] {task}")
        self.write("PLAN.md", plan)

    def stop(self, caption: str, last: str) -> None:
        self._hook(caption, "stop", "demo", last=last)

    def command(self, caption: str, *words: str, most: int = 100) -> None:
        """most: the most lines of the answer that are printed."""
        show.line("")
        show.line(caption, "bold")
        show.line(f"$ sisyphus {shlex.join(words)}", "dim")
        lines = self._run(words).splitlines()
        _print("\n".join([*lines[:most], *["…"][: len(lines) - most]]))

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
