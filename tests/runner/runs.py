"""A project, a scripted client, and runs of the two: inside this process, or as the command."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from making import COMMAND, HANG_SECONDS, put, stored

from runner import scripted
from sisyphus.runner import run as runner
from sisyphus.runner.asked import Asked
from sisyphus.runner.desk import Screen
from sisyphus.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Iterator

    from runner.scripted import Entry
    from sisyphus._types import Json
    from sisyphus.runner.client.stream import Seen
    from sisyphus.runner.decide import Decision
    from sisyphus.runner.handed import Filled
    from sisyphus.runner.keep.state import Run
    from sisyphus.runner.run import Result

DONE = "<promise>DONE</promise>"


class Told(Screen):
    """Keeps what a run tells, an event a word or two."""

    def __init__(self) -> None:
        self.notes: list[str] = []
        self.events: list[str] = []
        self.waited: list[float] = []
        self.percents: list[int] = []

    def note(self, text: str) -> None:
        self.notes.append(text)

    def started(self, run: Run, *, is_resumed: bool) -> None:
        self.events.append(f"{'followed' if is_resumed else 'started'} {run.iteration}")

    def moved(self, run: Run, seen: Seen, full: Filled) -> None:
        assert run.in_flight
        assert seen.context or not full.percent
        self.percents.append(full.percent)

    def ended(self, run: Run, decision: Decision) -> None:
        self.events.append(f"{decision.kind} {run.iteration}")

    def waits(self, run: Run, left: float) -> None:
        assert run.waiting
        self.waited.append(left)


class Scene:
    """`play` decides what the client does from its next run on."""

    def __init__(self, project: Path, folder: Path) -> None:
        self.project = project
        self.folder = folder
        self.told = Told()
        self._started: list[subprocess.Popen[str]] = []

    def clean_up(self) -> None:
        """A test that failed leaves nothing at work."""
        for process in self._started:
            process.kill()
            process.communicate(timeout=HANG_SECONDS)
        for run in scripted.runs(self.folder):
            with suppress(OSError):
                if str(self.folder).encode() in Path(f"/proc/{run['pid']}/cmdline").read_bytes():
                    os.kill(run["pid"], signal.SIGKILL)

    @property
    def state(self) -> Json:
        return stored(self.project / ".claude" / "ralph-state.json")

    @property
    def prompt(self) -> str:
        return (self.project / ".claude" / "PROMPT.md").read_text()

    @property
    def progress(self) -> str:
        return (self.project / ".claude" / "progress.txt").read_text()

    @property
    def prompts(self) -> list[str]:
        return [run["prompt"] for run in scripted.runs(self.folder)]

    def play(self, *entries: Entry) -> str:
        """The command line of the client."""
        return scripted.install(self.folder, list(entries))

    def items(self, *items: str, name: str = "fix_plan.md") -> None:
        put(self.project / name, "".join(f"- [ ] {item}\n" for item in items))

    def run(self, *entries: Entry, resume: bool = False, **asked: Any) -> Result:
        """In this process."""
        if entries:
            asked["client_command"] = self.play(*entries)
        if not resume:
            asked.setdefault("prompt", "do it")
        wanted = Asked()
        for name, value in asked.items():
            setattr(wanted, name, value)
        space = Workspace(str(self.project))
        self.told = Told()
        return runner.run(space, wanted, self.told, resume=resume, folder=str(self.project))

    def start(self, *words: str, **options: Any) -> subprocess.Popen[str]:
        """As the command, at work by itself."""
        command = [COMMAND, "ralph", "run", "--project", str(self.project), *words]
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        process = subprocess.Popen(command, text=True, **{**streams, **options})
        self._started.append(process)
        return process

    def command(self, *words: str) -> tuple[int, str, str]:
        """Exit code, stdout and stderr of the command."""
        process = self.start(*words)
        out, err = process.communicate(timeout=HANG_SECONDS)
        return process.returncode, out, err

    def until(self, runs: int) -> None:
        """Waits for so many runs of the client to have begun."""
        wait_for(lambda: len(scripted.runs(self.folder)) >= runs)


def a_scene(project: Path, folder: Path) -> Iterator[Scene]:
    """For a fixture."""
    client = folder / "client"
    client.mkdir()
    found = Scene(project, client)
    yield found
    found.clean_up()


def wait_for(condition: Any) -> None:
    end = time.monotonic() + HANG_SECONDS
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def is_gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except OSError:
        return True
    return False
