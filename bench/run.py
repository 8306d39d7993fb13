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
from scenes import JSON, SECONDS, SECTIONS, Scene

PAGE = installation.ROOT / "docs" / "benchmarks.md"
ROUNDS = 40
SESSION, DASHBOARD = "A whole session of the real client", "The dashboard"
BASELINES = {
    JSON: (str(installation.PYTHON), "-c", "import json"),
    "node": (shutil.which("node") or "", "-e", "0"),
}


@dataclass
class Stage:
    """One command, ready to be run again and again."""

    command: tuple[str, ...]
    scene: Scene | None = None  # None = a baseline
    sandbox: Sandbox | None = None
    times: list[float] = field(default_factory=list)  # seconds
    processor: list[float] = field(default_factory=list)
    problem: str = ""

    def run(self, folder: Path) -> None:
        """One process from start to end."""
        environment, stdin, output = {"PATH": "", "HOME": str(folder)}, os.devnull, folder / "out"
        if self.sandbox:
            self.sandbox.put_back()
            environment, folder = self.sandbox.environment, self.sandbox.folder
            os.chdir(self.sandbox.project)
            stdin = str(folder / "payload.json") if (folder / "payload.json").exists() else stdin
        files = [
            (os.POSIX_SPAWN_OPEN, 0, stdin, os.O_RDONLY, 0),
            (os.POSIX_SPAWN_OPEN, 1, str(output), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600),
        ]
        began = time.perf_counter()
        child = os.posix_spawn(self.command[0], self.command, environment, file_actions=files)
        _, status, usage = os.wait4(child, 0)
        self.times.append(time.perf_counter() - began)
        self.processor.append(usage.ru_utime + usage.ru_stime)
        self._check(os.waitstatus_to_exitcode(status), output.read_text("utf-8"))

    def _check(self, code: int, answer: str) -> None:
        says = self.scene.says if self.scene else ""
        if code:
            self.problem = f"exit code {code}"
        elif says not in answer:
            self.problem = f"no {says!r} in the answer"
        elif answer and not says:
            self.problem = f"unexpected answer: {answer[:80]!r}"


def main() -> int:
    """Exit code 1 where a hook or a command did not answer what its scene is about."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="how often each scene runs")
    parser.add_argument("--only", default="", metavar="WORDS", help="what is named so; no page")
    options = parser.parse_args()
    installation.ensure()
    home = Path.cwd()
    chosen = {
        heading: [s for s in scenes if options.only in f"{heading}: {s.title}"]
        for heading, scenes in SECTIONS.items()
    }
    with tempfile.TemporaryDirectory(prefix="sisyphus-bench-") as folder:
        stages = _measure([s for some in chosen.values() for s in some], options.rounds, folder)
        os.chdir(home)
    sections = {"Beside": ([_row(stages, name) for name in BASELINES if name in stages], "")}
    for heading, scenes in chosen.items():
        if scenes:
            sections[heading] = [_row(stages, scene.title) for scene in scenes], ""
    if options.only in SESSION:
        sections[SESSION] = client_session.measure()
    if options.only in DASHBOARD:
        sections[DASHBOARD] = dashboards.measure()
    text = page.page(sections, options.rounds)
    print(text)
    if not options.only:
        PAGE.write_text(text, "utf-8")
        print(f"written: {PAGE.relative_to(installation.ROOT)}", file=sys.stderr)
    wrong = {title: stage.problem for title, stage in stages.items() if stage.problem}
    for title, problem in wrong.items():
        print(f"{title}: {problem}", file=sys.stderr)
    return 1 if any(not problem.startswith("not measured") for problem in wrong.values()) else 0


def _measure(scenes: list[Scene], rounds: int, folder: str) -> dict[str, Stage]:
    """One run of everything to warm up, then the rounds, each in another order."""
    stages = {name: Stage(words) for name, words in BASELINES.items() if scenes and words[0]}
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
            stage.run(Path(folder))
    for stage in order:
        del stage.times[0], stage.processor[0]
    _say("")
    return stages


def _prepared(scene: Scene, folder: Path, large: Path) -> Stage:
    stage = Stage((str(installation.COMMAND), *scene.command.split()), scene)
    sandbox = stage.sandbox = Sandbox(folder)
    if scene.is_large:
        try:
            if not large.exists():
                transcript.create(large)
        except transcript.TooLittleDisk as error:
            stage.problem = f"not measured: {error}"
            return stage
        sandbox.transcript = large
    scene.prepare(sandbox)
    if scene.told:
        (folder / "payload.json").write_bytes(sandbox.payload(scene.told))
    sandbox.keep()
    return stage


def _row(stages: dict[str, Stage], title: str) -> page.Row:
    stage = stages[title]
    scene, target = stage.scene, stage.scene.target if stage.scene else None
    if not stage.times or stage.problem:
        return page.Row(title, "", "", f"≤ {target:g}" if target else "", stage.problem)
    seconds = median(stage.times)
    took = f"{seconds * 1_000:.1f} ms ({median(stage.processor) * 1_000:.1f})"
    name = '`python -c "import json"`' if title == JSON else title
    if scene and scene.beside == SECONDS:
        return page.row(name, took, seconds, "s", target)
    beside = scene.beside if scene else JSON
    unit = "times json" if beside == JSON else "times the former"
    return page.row(name, took, seconds / median(stages[beside].times), unit, target)


def _say(text: str) -> None:
    """Progress, on a terminal only."""
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\x1b[K{text}")
        sys.stderr.flush()


if __name__ == "__main__":
    sys.exit(main())
