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
from ralph.processes import is_running

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
    """Keeps what a run tells, an event a word or two. The file `followed` is there as soon as it
    tells that a client of an earlier runner is followed on."""

    def __init__(self, followed: Path) -> None:
        self._followed = followed
        self.notes: list[str] = []
        self.events: list[str] = []
        self.waited: list[float] = []
        self.percents: list[int] = []

    def note(self, text: str) -> None:
        self.notes.append(text)

    def started(self, run: Run, *, is_resumed: bool) -> None:
        self.events.append(f"{'followed' if is_resumed else 'started'} {run.iteration}")
        if is_resumed:
            self._followed.touch()

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
    """`play` decides what the client does from its next run on. `go` and `followed` are files that
    it may wait for: the former is for the test to make."""

    def __init__(self, project: Path, folder: Path) -> None:
        self.project = project
        self.folder = folder
        self.go = folder / "go"
        self.followed = folder / "followed"
        self.told = Told(self.followed)
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
        self.told = Told(self.followed)
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

    def at_rest(self) -> None:
        """Waits for a client that has done what it does before it rests, and that the runner has
        written down."""
        wait_for(lambda: scripted.rests(self.folder))
        wait_for(lambda: self.state["in_flight"].get("child"))

    def until_client_is_gone(self) -> None:
        """Waits for the end of the process that the run's state names, which the runner did not
        see."""
        pid = self.state["in_flight"]["child"]["pid"]
        wait_for(lambda: not is_running(pid))


def a_scene(project: Path, folder: Path) -> Iterator[Scene]:
    """For a fixture."""
    client = folder / "client"
    client.mkdir()
    found = Scene(project, client)
    yield found
    found.clean_up()


def once_noted(words: str, *, run: int = 1) -> str:
    """For a client's command line: what the client of that run does once the runner has written
    it down.

    From then on the runner writes nothing until the client says something.
    """
    noted = "grep -q '\"child\": {' .claude/ralph-state.json"
    wait = f"for i in $(seq {100 * HANG_SECONDS}); do {noted} && break; sleep 0.01; done"
    return f"echo >> .git/runs; if test $(wc -l < .git/runs) = {run}; then {wait}; {words}; fi"


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
