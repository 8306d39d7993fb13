"""Draws what a terminal shows while a run works: `docs/pictures/run.svg`.

Run it again when `runner/screen.py` changes: `.venv/bin/python bench/picture.py`.
"""

from __future__ import annotations

import io
import os
import time
from pathlib import Path

from rich.console import Console

from sisyphus.clients.reports import Report
from sisyphus.clients.transcript_records import AGENT, RecordedCall, TranscriptLine
from sisyphus.loops.iterations import Iteration
from sisyphus.loops.loop import Counters, Options
from sisyphus.loops.runs import Run, RunState
from sisyphus.runner.report import iteration_line
from sisyphus.runner.screen import picture

PICTURE = Path(__file__).parents[1] / "docs" / "pictures" / "run.svg"
BEGAN = 1_772_488_800.0  # 2026-03-02T22:00:00Z
NOW = BEGAN + 52 * 60
COLUMNS, LINES = 90, 18
DONE = ("Store the cart (simple)", "Show the total")
BLOCKED = "Ask the bank for the rate"
NEXT = ("Print the receipt (complex)", "Test the checkout ~200 LOC")
COUNT = len((*DONE, BLOCKED, *NEXT))


def main() -> None:
    os.environ["TZ"] = "UTC"
    time.tzset()
    console = Console(
        file=io.StringIO(),
        width=COLUMNS,
        record=True,
        force_terminal=True,
        color_system="truecolor",
    )
    console.print("$ sisyphus ralph run --permission-mode acceptEdits", highlight=False)
    for number, (item, minute) in enumerate(zip(DONE, (11, 34), strict=True), 1):
        tokens = 900_000 + 700_000 * number
        console.print(_line(number, item, minute, 11 * number, tokens, number), highlight=False)
    console.print(_line(3, BLOCKED, 45, 10, 700_000, len(DONE)), highlight=False)
    console.print(picture(_run(), _report(), NOW, LINES))
    PICTURE.parent.mkdir(exist_ok=True)
    PICTURE.write_text(console.export_svg(title="sisyphus ralph run", unique_id="run"))


def _line(number: int, item: str, minute: int, minutes: int, tokens: int, done: int) -> str:
    """minute: of the run, at which the iteration ended."""
    is_done = item in DONE
    decision = "continue" if is_done else "blocked"
    iteration = Iteration(
        number, BEGAN + 60 * minute, decision, "", tokens, item=item, is_done=is_done,
        seconds=60 * minutes, files=number + 1 if is_done else 0,
    )  # fmt: skip
    return iteration_line(iteration, done, COUNT)


def _run() -> Run:
    state = RunState(
        done=[*DONE], todo=[BLOCKED, *NEXT], item=NEXT[0], blocked={BLOCKED: "the bank's address"},
        is_working=True, began_at=NOW - 7 * 60, cost=4.1,
    )  # fmt: skip
    counters = Counters(4, tokens=4_600_000)
    options = Options(max_iterations=50)
    return Run("k7Qm2", "/home/you/shop", "Checkout", options, BEGAN, counters, state=state)


def _report() -> Report:
    call = RecordedCall("1", "Edit", "edit", target="src/receipt.py")
    said = TranscriptLine(AGENT, 0.0, calls=(call,))
    return Report(records=[said], tokens=800_000, cost=0.7, context=310_000, window=1_000_000)


if __name__ == "__main__":
    main()
