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
from sisyphus.hook.event import EDIT
from sisyphus.terminal import show

PLAN = """\
# Lighthouse

- [ ] Light the lamp (verify: `sh test.sh`)
- [ ] Name the keeper
"""
TEST = """\
grep -q 'is_lit = True' lamp.py && exit
echo "lamp.py: the lamp is dark"
exit 1
"""


def demo() -> None:
    """Play how a false tick is found, through the real hooks, in a temporary home and project."""
    with _stage() as stage:
        show.heading("A project with a plan of two tasks, and a check behind one of them.")
        stage.start("A session starts. The model hears where the plan stands:", most=3)
        stage.command(
            "You read the check, and let sisyphus run it:",
            *("boulder", "checks", "--trust", "--yes"),
        )
        stage.command(
            "All sessions are to go on until the plan is complete:",
            *("boulder", "hold", "on"),
            most=1,
        )
        stage.write("lamp.py", "keeper = 'Ida'\n")
        stage.tick("Light the lamp", "Name the keeper")
        stage.tool("The agent ticks both boxes. It never ran the check:", EDIT, "PLAN.md")
        stage.stop("It says that it is done. The check fails, so it must go on:", "All done.")
        stage.write("lamp.py", "keeper = 'Ida'\nis_lit = True\n")
        stage.stop("It mends lamp.py. The check passes, so it may stop:", "Now it shines.")
        show.line("")
        show.heading("That is all. `sisyphus install` wires it into your agents.")


class Stage:
    """A temporary project and home. Each method plays one scene; most print it."""

    def __init__(self, root: Path) -> None:
        self.project = root / "lighthouse"
        (self.project / ".git").mkdir(parents=True)
        (self.project / ".git" / "config").write_text("[core]\n", encoding="utf-8")
        for name, text in ("PLAN.md", PLAN), ("lamp.py", "lamp = None\n"), ("test.sh", TEST):
            self.write(name, text)
        # In an agent's shell, too, the commands of the demo are those of its user.
        homes = {clients.payload(name).HOME_VARIABLE for name in clients.NAMES}
        ours = clients.environment()
        rest = {name: ours[name] for name in ours if name not in homes}
        self._environment = {**rest, "HOME": str(root), "NO_COLOR": "1"}

    def write(self, path: str, text: str) -> None:
        """Writes a file of the project, without a hook."""
        (self.project / path).write_text(text, encoding="utf-8")

    def start(self, caption: str, most: int) -> None:
        """most: the most lines of what the model reads that are printed."""
        self._hook(caption, "session-start", most, source="startup")

    def tool(self, caption: str, action: str, path: str) -> None:
        file = str(self.project / path)
        self._hook(caption, "post-tool-use", action=action, path=file)

    def tick(self, *tasks: str) -> None:
        """Ticks tasks in the plan, without a hook."""
        plan = (self.project / "PLAN.md").read_text(encoding="utf-8")
        for task in tasks:
            plan = plan.replace(f"[ ] {task}", f"[x] {task}")
        self.write("PLAN.md", plan)

    def stop(self, caption: str, last: str) -> None:
        self._hook(caption, "stop", last=last)

    def command(self, caption: str, *words: str, most: int = 100) -> None:
        """most: the most lines of the answer that are printed."""
        show.line("")
        show.line(caption, "bold")
        show.line(f"$ sisyphus {shlex.join(words)}", "dim")
        for line in _lines(self._run(words), most):
            show.line(line, indent=2)

    def _hook(self, caption: str, event: str, most: int = 100, **more: Any) -> None:
        payload = client.payload(event, "demo", str(self.project), **more)
        reply = self._run(("hook", event), json.dumps(payload))
        if not reply:
            raise SisyphusError(f"The hook {event} said nothing. `sisyphus doctor` says why.")
        show.line("")
        show.line(caption, "bold")
        for reader, text in client.readers(json.loads(reply)):
            first, *others = _lines(text, most)
            show.line(f"{reader}: {first}", indent=2)
            for line in others:
                show.line(line, indent=4)

    def _run(self, words: tuple[str, ...], stdin: str = "") -> str:
        done = subprocess.run(
            [sys.executable, "-E", "-P", "-m", "sisyphus", *words],
            cwd=self.project, env=self._environment, input=stdin, capture_output=True, text=True,
            check=False,
        )  # fmt: skip
        if done.returncode:
            raise SisyphusError(f"`sisyphus {' '.join(words)}` failed: {done.stderr.strip()}")
        return done.stdout


def _lines(text: str, most: int) -> list[str]:
    """Returns the first lines of a text that are not empty, and says so where there are more."""
    lines = [line for line in text.splitlines() if line.strip()]
    return [*lines[:most], *["…"][: len(lines) - most]]


@contextmanager
def _stage() -> Iterator[Stage]:
    with tempfile.TemporaryDirectory(prefix="sisyphus-demo-") as folder:
        yield Stage(Path(folder).resolve())
