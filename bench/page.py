"""Rows of figures into `docs/benchmarks.md`. Pure but for what it says of the machine."""

from __future__ import annotations

import os
import platform
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class Row(NamedTuple):
    """`measured` and `target` are spelled with their unit; `verdict`: "met", "MISSED", a reason."""

    what: str
    median: str
    measured: str = ""
    target: str = ""
    verdict: str = ""


def row(what: str, median: str, value: float, unit: str, target: float | None) -> Row:
    """A row whose `value` is held against its target."""
    measured = f"{value:.2f} {unit}"
    if target is None:
        return Row(what, median, measured)
    verdict = "met" if round(value, 2) <= target else "**MISSED**"
    return Row(what, median, measured, f"≤ {target:g}", verdict)


def section(heading: str, rows: Sequence[Row], words: str = "") -> str:
    lines = [
        f"## {heading}", "", *([words.strip(), ""] if words else []),
        "| | median | measured | target | |", "|---|--:|--:|--:|---|",
        *("| " + " | ".join(row) + " |" for row in rows),
    ]  # fmt: skip
    return "\n".join(lines) + "\n"


_PAGE = """\
# What a hook costs

Written by `make bench`, which measures on your own machine and writes this page anew.

Measured on {date}: {machine}. {rounds} rounds.

{missed}

{sections}
## How to read it

Each line is a whole process, from before its start to after its end, started through the console
script of a clean virtual environment that holds a plain install of sisyphus. In every round each
line runs once, in another order, and its state is put back before: what is sent is sent for the
first time, a second stop is the second one. The answer is checked every time. The processor's own
time stands behind the median: other work on the machine disturbs it less.

Times json is the median divided by that of `python -c "import json"` in the same rounds with the
same interpreter: what an ordinary program written in Python that reads a payload begins with. Times
the former is the median divided by that of the line before, which has a tenth as much. Milliseconds
are those of the machine above; ratios carry over to others. Other work on the machine makes both
sides slower and the ratio less certain; where a target is missed by little, run it again on a quiet
machine.

OpenCode's plugin starts one such process a tool call, one or two a prompt and one a turn's end;
none a token or an event. `tests/e2e/opencode/test_plugin.py` counts them.
"""


def page(sections: Mapping[str, tuple[Sequence[Row], str]], rounds: int) -> str:
    rows = [row for found, _ in sections.values() for row in found]
    missed = [row.what for row in rows if "MISSED" in row.verdict]
    unmeasured = [row.what for row in rows if row.target and not row.measured]
    told = [f"{len([row for row in rows if row.target])} targets: {len(missed)} missed"]
    told += [f"{len(unmeasured)} not measured"] if unmeasured else []
    return _PAGE.format(
        date=time.strftime("%Y-%m-%d", time.gmtime()), machine=machine(), rounds=rounds,
        missed=", ".join(told) + ".",
        sections="\n".join(section(name, *found) for name, found in sections.items()),
    )  # fmt: skip


def machine() -> str:
    """CPU model, cores, system and Python, in one line."""
    system = f"{platform.system()} {platform.release().split('-')[0]} {platform.machine()}"
    python = f"{platform.python_implementation()} {platform.python_version()}"
    return f"{_cpu()}, {os.cpu_count()} cores, {system}, {python}"


def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or "unknown CPU"
