"""Numbers into tables: for the terminal, for `docs/benchmarks.md`, for programs. Pure."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from statistics import median
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from scenes import Scene
    from stopwatch import Sample

JSON = "json"
NODE = "node"
BASELINES = {JSON: '`python -c "import json"`', NODE: "`node -e 0`"}

SCRIPTS = "## Console scripts"
DASHBOARD = "## The dashboard"
OF_OTHERS = (SCRIPTS, DASHBOARD)
"""Sections of the page that other measurements write."""


@dataclass(frozen=True)
class Row:
    """One line of the table; ratios are those of medians, None where there is nothing to it."""

    name: str
    title: str
    milliseconds: float
    cpu_milliseconds: float
    ratio_json: float | None
    ratio_node: float | None
    peak_mb: float
    target: float | None = None
    problem: str = ""

    @property
    def verdict(self) -> str:
        if self.problem:
            return self.problem
        if self.target is None or self.ratio_json is None:
            return ""
        return "met" if round(self.ratio_json, 2) <= self.target else "MISSED"


def rows(
    scenes: Sequence[Scene], samples: Mapping[str, Sequence[Sample]], problems: Mapping[str, str]
) -> list[Row]:
    """The two baselines first, then every scene in its order."""
    middle = {name: median(s.milliseconds for s in taken) for name, taken in samples.items()}
    described = [(name, title, None) for name, title in BASELINES.items() if name in samples]
    wanted: list[tuple[str, str, float | None]] = [
        *described,
        *((scene.name, scene.title, scene.target) for scene in scenes),
    ]
    return [
        Row(
            name,
            title,
            middle.get(name, 0.0),
            median(s.cpu_milliseconds for s in samples[name]) if name in samples else 0.0,
            _ratio(middle, name, JSON),
            _ratio(middle, name, NODE),
            max((s.peak_mb for s in samples.get(name, ())), default=0.0),
            target,
            problems.get(name, ""),
        )
        for name, title, target in wanted
    ]


def _ratio(middle: Mapping[str, float], name: str, baseline: str) -> float | None:
    return middle[name] / middle[baseline] if name in middle and baseline in middle else None


_HEAD = ("", "median, ms", "CPU, ms", "÷ json", "÷ node", "peak, MB", "target", "")


def cells(row: Row) -> tuple[str, ...]:
    if not row.milliseconds:
        return row.title, "", "", "", "", "", _limit(row.target), row.verdict
    return (
        row.title,
        f"{row.milliseconds:.1f}",
        f"{row.cpu_milliseconds:.1f}",
        _factor(row.ratio_json),
        _factor(row.ratio_node),
        f"{row.peak_mb:.1f}",
        _limit(row.target),
        row.verdict,
    )


def _factor(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


def _limit(target: float | None) -> str:
    return "" if target is None else f"≤ {target:.2f}"


def terminal(table: Sequence[Row]) -> str:
    lines = [_HEAD, *map(cells, table)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(_HEAD))]
    return "\n".join(_aligned(line, widths) for line in lines)


def _aligned(line: Sequence[str], widths: Sequence[int]) -> str:
    numbers = (f"{cell:>{width}}" for cell, width in zip(line[1:-1], widths[1:-1], strict=True))
    return "  ".join((f"{line[0]:<{widths[0]}}", *numbers, line[-1])).rstrip()


def markdown(table: Sequence[Row]) -> str:
    return "\n".join(
        [
            "| scene | median, ms | CPU, ms | ÷ json | ÷ node | peak, MB | target | verdict |",
            "|---|--:|--:|--:|--:|--:|--:|---|",
            *("| " + " | ".join(cells(row)) + " |" for row in table),
        ]
    )


def objects(table: Sequence[Row]) -> list[dict[str, object]]:
    return [{**asdict(row), "verdict": row.verdict} for row in table]


PAGE = """\
# What a hook costs

Written by `make bench`, which measures on your own machine and writes this page anew.

Measured on {date}: {machine}. {rounds} rounds.

{table}

## How to read it

Each line is a whole process, from before its start to after its end, started through the console
script of a clean virtual environment that holds a plain install of sisyphus. In every round each
line runs once, in another order, and its state is put back before: what is sent is sent for the
first time, a second stop is the second one. The reply is checked every time.

`÷ json` is the median divided by that of `python -c "import json"` in the same rounds with the same
interpreter: what no program written in Python that reads a payload can go below. `÷ node` is the
same for `node -e 0`, which a hook written in JavaScript cannot go below. Milliseconds are those of
the machine above; ratios carry over to others. Peak memory is what the kernel counted
(`ru_maxrss`), the largest of all rounds.

A target is a ratio to `python -c "import json"`. Other work on the machine makes both sides slower
and the ratio less certain; where a target is missed by little, run it again on a quiet machine.
The processor's time (CPU, median) is disturbed less, and tells whether that was it; `nice -n -20`
keeps other work away where you may use it.

OpenCode's plugin starts one such process a tool call, one or two a prompt and one a turn's end;
none a token or an event. `tests/e2e/opencode/test_plugin.py` counts them.
"""


def page(table: Sequence[Row], machine: str, date: str, rounds: int, former: str) -> str:
    """The whole page; the sections that others write are kept from the `former` one."""
    text = PAGE.format(table=markdown(table), machine=machine, date=date, rounds=rounds)
    return "\n".join([text, *filter(None, (section(former, heading) for heading in OF_OTHERS))])


def section(text: str, heading: str) -> str:
    """A section of a page, with its heading; "" where there is none."""
    found = re.search(rf"^{heading}\n.*?(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    return found.group().rstrip() + "\n" if found else ""


def with_section(text: str, new: str) -> str:
    """The page with `new` in place of its section with the same heading."""
    former = section(text, new.partition("\n")[0])
    rest = text.replace(former.rstrip(), "").rstrip() if former else text.rstrip()
    rest = re.sub(r"\n{3,}", "\n\n", rest)
    return f"{rest}\n\n{new.rstrip()}\n".lstrip()
