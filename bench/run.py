"""`make bench`: what hooks and commands cost, beside `python -c "import json"`."""

from __future__ import annotations

import argparse
import os
import random
import shutil
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

import client_session
import dashboards
import installation
import page
import transcript
from sandbox import Sandbox
from scenes import JSON, NODE, SECONDS, SECTIONS, Scene

PAGE = installation.ROOT / "docs" / "benchmarks.md"
ROUNDS = 40
SESSION, DASHBOARD = "A whole session of the real client", "The dashboard"
BASELINES = {
    JSON: (str(installation.PYTHON), "-c", "import json"),
    NODE: (shutil.which("node") or "", "-e", "0"),
}


@dataclass
class Stage:
    """A scene that is ready to be run again and again."""

    scene: Scene
    sandbox: Sandbox
    times: list[float] = field(default_factory=list)  # seconds
    processor: list[float] = field(default_factory=list)
    problem: str = ""

    @property
    def command(self) -> tuple[str, ...]:
        ours = (str(installation.COMMAND), *self.scene.command.split())
        return BASELINES.get(self.scene.title, ours)

    def run(self) -> None:
        """One process from start to end."""
        self.sandbox.put_back()
        os.chdir(self.sandbox.project)
        payload, output = self.sandbox.folder / "payload.json", self.sandbox.folder / "answer"
        stdin, environment = payload, self.sandbox.environment
        if self.scene.told is None:  # a person types it
            stdin, environment = Path(os.devnull), self.sandbox.terminal
        files = [
            (os.POSIX_SPAWN_OPEN, 0, str(stdin), os.O_RDONLY, 0),
            (os.POSIX_SPAWN_OPEN, 1, str(output), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600),
        ]
        command = self.command
        began = time.perf_counter()
        child = os.posix_spawn(command[0], command, environment, file_actions=files)
        _, status, usage = os.wait4(child, 0)
        self.times.append(time.perf_counter() - began)
        self.processor.append(usage.ru_utime + usage.ru_stime)
        self._check(os.waitstatus_to_exitcode(status), output.read_text("utf-8"))

    def _check(self, code: int, answer: str) -> None:
        if code:
            self.problem = f"exit code {code}"
        elif self.scene.says not in answer:
            self.problem = f"no {self.scene.says!r} in the answer"
        elif answer and not self.scene.says:
            self.problem = f"unexpected answer: {answer[:80]!r}"
        elif self.scene.notes not in (self.sandbox.last_notes() if self.scene.notes else ""):
            self.problem = f"no {self.scene.notes!r} in the journal"


def main() -> int:
    """Exit code 1 where a hook or a command did not answer what its scene is about."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="how often each scene runs")
    parser.add_argument("--only", default="", metavar="WORDS", help="what is named so; no page")
    options = parser.parse_args()
    installation.ensure()
    home = Path.cwd()
    chosen = {
        heading: [
            scene
            for scene in scenes
            if options.only in f"{heading}: {scene.title}" or scene.title in BASELINES
        ]
        for heading, scenes in SECTIONS.items()
    }
    with tempfile.TemporaryDirectory(prefix="sisyphus-bench-") as folder:
        stages = _measure([s for some in chosen.values() for s in some], options.rounds, folder)
        os.chdir(home)
    sections = {
        heading: ([_row(stages, scene) for scene in scenes], "")
        for heading, scenes in chosen.items()
        if scenes
    }
    if options.only in SESSION:
        sections[SESSION] = client_session.measure()
    if options.only in DASHBOARD:
        sections[DASHBOARD] = dashboards.measure()
    text = page.page(sections, options.rounds)
    print(text)
    if not options.only:
        PAGE.write_text(text, "utf-8")
        print(f"written: {PAGE.relative_to(installation.ROOT)}", file=sys.stderr)
    problems = {title: stage.problem for title, stage in stages.items()}
    return 1 if any(why and not why.startswith("not measured") for why in problems.values()) else 0


def _measure(scenes: list[Scene], rounds: int, folder: str) -> dict[str, Stage]:
    """One run of everything to warm up, then the rounds, each in another order."""
    stages: dict[str, Stage] = {}
    large = Path(folder) / "large.jsonl"
    for number, scene in enumerate(scenes):
        _say(f"preparing {number + 1} of {len(scenes)}: {scene.title}")
        stages[scene.title] = _prepared(scene, Path(folder) / str(number), large)
    if large.exists():
        transcript.append(large, turns=3)
    order = [stage for stage in stages.values() if not stage.problem]
    for number in range(-1, rounds):
        _say(f"round {number + 1} of {rounds}")
        random.Random(number).shuffle(order)  # noqa: S311  # no secret
        for stage in order:
            stage.run()
    for stage in order:
        del stage.times[0], stage.processor[0]
    _say("")
    return stages


def _prepared(scene: Scene, folder: Path, large: Path) -> Stage:
    stage = Stage(scene, Sandbox(folder))
    if not stage.command[0]:
        stage.problem = "not measured: it is not installed"
        return stage
    if scene.is_large:
        try:
            if not large.exists():
                transcript.create(large)
        except transcript.TooLittleDisk as error:
            stage.problem = f"not measured: {error}"
            return stage
        stage.sandbox.transcript = large
    scene.prepare(stage.sandbox)
    if scene.told:
        (folder / "payload.json").write_bytes(stage.sandbox.payload(scene.told))
    stage.sandbox.keep()
    return stage


def _row(stages: dict[str, Stage], scene: Scene) -> page.Row:
    stage = stages[scene.title]
    if stage.problem:
        target = f"≤ {scene.target:g}" if scene.target else ""
        return page.Row(scene.title, "", "", target, stage.problem)
    seconds = median(stage.times)
    took = f"{seconds * 1_000:.1f} ms ({median(stage.processor) * 1_000:.1f})"
    if scene.beside == SECONDS:
        return page.row(scene.title, took, seconds, "s", scene.target)
    unit = "times json" if scene.beside == JSON else "times the former"
    beside = median(stages[scene.beside].times)
    return page.row(scene.title, took, seconds / beside, unit, scene.target)


def _say(text: str) -> None:
    """Progress, on a terminal only."""
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\x1b[K{text}")
        sys.stderr.flush()


if __name__ == "__main__":
    sys.exit(main())
