"""`make bench`: what every hook costs, beside `python -c "import json"` and `node -e 0`."""

from __future__ import annotations

import argparse
import json
import random
import shutil
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import clean_venv
import machine
import report
import transcript
from desk import Desk
from scenes import SCENES, Scene
from stopwatch import Stopwatch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from stopwatch import Sample

PAGE = clean_venv.ROOT / "docs" / "benchmarks.md"

ROUNDS = 40


class Stage:
    """One scene, ready to be measured."""

    def __init__(self, scene: Scene, desk: Desk) -> None:
        self.scene = scene
        self._desk = desk
        self._stdin = desk.folder / "payload.json"
        self._stdin.write_bytes(desk.payload(**scene.fields))
        desk.keep()
        self._watch = Stopwatch(desk.folder, desk.environment)

    def put_back(self) -> None:
        self._desk.put_back()

    def run(self) -> tuple[Sample, str]:
        """One process, and what is wrong with its reply ("" = nothing)."""
        self.put_back()
        command = (str(clean_venv.COMMAND), *self.scene.words)
        sample = self._watch.run(command, str(self._stdin))
        return sample, _wrong(self.scene, sample, self._watch.output.read_text("utf-8"))

    def close(self) -> None:
        self._watch.close()


def _wrong(scene: Scene, sample: Sample, reply: str) -> str:
    if sample.code != 0:
        return f"exit code {sample.code}"
    if scene.says:
        return "" if scene.says in reply else f"no {scene.says!r} in the reply"
    return f"unexpected reply: {reply[:80]!r}" if reply else ""


class Bench:
    """Prepares the scenes in a temporary folder and measures them in interleaved rounds."""

    def __init__(self, scenes: Sequence[Scene], folder: Path, stack: ExitStack) -> None:
        self.problems: dict[str, str] = {}
        self.samples: dict[str, list[Sample]] = {}
        self._folder = folder
        self._large = folder / "large.jsonl"
        self._stages: list[Stage] = []
        for number, scene in enumerate(scenes):
            _say(f"preparing {number + 1} of {len(scenes)}: {scene.title}")
            self._prepare(scene, stack)
        if self._large.exists():
            transcript.append(self._large, turns=3)
        self._plain = stack.enter_context(Stopwatch(folder, {"PATH": "", "HOME": str(folder)}))

    def _prepare(self, scene: Scene, stack: ExitStack) -> None:
        desk = Desk(self._folder / scene.name)
        if scene.large:
            try:
                if not self._large.exists():
                    transcript.create(self._large)
            except transcript.TooLittleDisk as error:
                self.problems[scene.name] = f"not measured: {error}"
                return
            desk.transcript = self._large
        scene.furnish(desk)
        stage = Stage(scene, desk)
        stack.callback(stage.close)
        self._stages.append(stage)

    def measure(self, rounds: int) -> None:
        """One run of everything to warm up, then the rounds, each in another order."""
        order: list[str | Stage] = [*self._baselines, *self._stages]
        for number in range(-1, rounds):
            _say(f"round {number + 1} of {rounds}")
            random.Random(number).shuffle(order)  # noqa: S311  # no secret
            for one in order:
                self._once(one, counts=number >= 0)
        _say("")

    @property
    def _baselines(self) -> dict[str, tuple[str, ...]]:
        commands: dict[str, tuple[str, ...]] = {
            report.JSON: (str(clean_venv.PYTHON), "-c", "import json")
        }
        if node := shutil.which("node"):
            commands[report.NODE] = (node, "-e", "0")
        return commands

    def _once(self, one: str | Stage, *, counts: bool) -> None:
        if isinstance(one, str):
            if self._stages:  # the same work before it as before the others, for the same caches
                self._stages[0].put_back()
            name, sample = one, self._plain.run(self._baselines[one])
        else:
            name = one.scene.name
            sample, wrong = one.run()
            if wrong:
                self.problems[name] = wrong
        if counts:
            self.samples.setdefault(name, []).append(sample)


def _say(text: str) -> None:
    """Progress, on a terminal only."""
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\x1b[K{text}")
        sys.stderr.flush()


def main() -> int:
    """Exit code 1 where a hook did not say what its scene is about."""
    options = _options()
    if options.wrappers:
        import wrappers

        return wrappers.main(PAGE, options.rounds)
    scenes = [scene for scene in SCENES if options.only in scene.name]
    clean_venv.ensure()
    with tempfile.TemporaryDirectory(prefix="sisyphus-bench-") as folder, ExitStack() as stack:
        bench = Bench(scenes, Path(folder), stack)
        bench.measure(options.rounds)
    table = report.rows(scenes, bench.samples, bench.problems)
    if options.json:
        print(json.dumps({"machine": machine.describe(), "rows": report.objects(table)}, indent=2))
    else:
        print(f"{machine.describe()}\n\n{report.terminal(table)}")
    if not options.only:
        _write_page(table, options.rounds)
    wrong = [name for name, why in bench.problems.items() if not why.startswith("not measured")]
    return 1 if wrong else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="how often each scene runs")
    parser.add_argument("--only", default="", metavar="NAME", help="scenes whose name holds NAME")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument(
        "--wrappers",
        action="store_true",
        help="measure the console scripts that installers write instead (downloads pipx and uv)",
    )
    return parser.parse_args()


def _write_page(table: Sequence[report.Row], rounds: int) -> None:
    former = PAGE.read_text("utf-8") if PAGE.exists() else ""
    date = time.strftime("%Y-%m-%d", time.gmtime())
    PAGE.write_text(report.page(table, machine.describe(), date, rounds, former), "utf-8")
    print(f"\nwritten: {PAGE.relative_to(clean_venv.ROOT)}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
