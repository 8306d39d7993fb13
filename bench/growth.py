"""How a hook's time grows: the same hook beside ten times as much of one thing.

State is made by hooks alone. With `--against` two installations are measured in the same rounds.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

import clean_venv
import transcript
from desk import Desk
from run import Stage
from scenes import STOP, Scene, _loop, _read, _rules

if TYPE_CHECKING:
    from stopwatch import Sample

TARGET = 1.2
ROUNDS = 25
LOOP = "[RALPH LOOP ENFORCEMENT]"


def _transcript(desk: Desk, times: int) -> None:
    transcript.create(desk.transcript, 10_000_000 * times)
    _loop(desk)
    transcript.append(desk.transcript, turns=3)


def _many_rules(desk: Desk, times: int) -> None:
    _rules(100 * times)(desk)


def _history(desk: Desk, times: int) -> None:
    """Stops of the same loop, with an edit before each: without progress the loop would pause."""
    transcript.create(desk.transcript, 1_000)
    desk.hook("user-prompt-submit", prompt='/sisyphus:ralph-loop "x" --max-iterations 900')
    for number in range(10 * times):
        transcript.append(desk.transcript, turns=1)
        desk.hook("stop", **{**STOP, "last_assistant_message": f"Step {number} is done."})
    transcript.append(desk.transcript, turns=1)


def _sessions(desk: Desk, times: int) -> None:
    for number in range(20 * times):
        session = f"5e551017-0000-4000-8000-{number + 100:012}"
        desk.hook("session-start", source="startup", session_id=session)
        desk.hook("session-end", reason="other", session_id=session)


READ = _read("src/app.py")
START = {"source": "startup"}
PAIRS = {
    "transcript": ("stop in a loop, 10 and 100 MB", "stop", STOP, _transcript, LOOP),
    "rules": ("rules sent, 100 and 1,000 of them", "post-tool-use", READ, _many_rules, "keep func"),
    "history": ("stop in a loop after 10 and 100 stops", "stop", STOP, _history, LOOP),
    "sessions": ("session-start after 20 and 200 sessions", "session-start", START, _sessions, ""),
}


def main() -> int:  # noqa: C901  # one table from its data to its print
    """Exit code 1 where a hook did not say what it should."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--against", type=Path, help="another `sisyphus`, measured in turn")
    options = parser.parse_args()
    clean_venv.ensure()
    commands = {"here": clean_venv.COMMAND}
    if options.against:
        commands["against"] = options.against
    taken: dict[tuple[str, str, int], list[Sample]] = {}
    problems: set[str] = set()
    with tempfile.TemporaryDirectory(prefix="sisyphus-bench-") as folder, ExitStack() as stack:
        stages: dict[tuple[str, str, int], Stage] = {}
        for which, command in commands.items():
            clean_venv.COMMAND = command
            for name, (title, event, fields, furnish, says) in PAIRS.items():
                for times in (1, 10):
                    desk = Desk(Path(folder) / f"{which}-{name}-{times}")
                    furnish(desk, times)
                    stage = Stage(Scene(name, title, TARGET, event, fields, furnish, says), desk)
                    stack.callback(stage.close)
                    stages[which, name, times] = stage
        order = list(stages)
        for number in range(-1, options.rounds):
            random.Random(number).shuffle(order)  # noqa: S311  # no secret
            for key in order:
                clean_venv.COMMAND = commands[key[0]]
                sample, wrong = stages[key].run()
                if wrong:
                    problems.add(f"{key}: {wrong}")
                if number >= 0:
                    taken.setdefault(key, []).append(sample)
    for which in commands:
        for name, (title, *_) in PAIRS.items():
            small, big = (
                median(one.milliseconds for one in taken[which, name, times]) for times in (1, 10)
            )
            verdict = "met" if round(big / small, 2) <= TARGET else "MISSED"
            print(f"{which}, {name}: {title}: {small:.1f} and {big:.1f} ms, {big / small:.2f}, "
                  f"≤ {TARGET} {verdict}")  # fmt: skip
    print("\n".join(sorted(problems)))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
