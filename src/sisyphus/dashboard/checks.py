"""What pages show of the checks of a task, and of what one printed that failed."""

from __future__ import annotations

from collections.abc import Iterable

from sisyphus.boulder import checks as plan_checks
from sisyphus.boulder.ticks import Tick
from sisyphus.ground.masking import mask
from sisyphus.ground.record import Record
from sisyphus.ground.text import one_line

_SHOWN = 10
"""The most checks of one kind that a task shows: most name one."""

_LINES, _CHARACTERS = 10, 200
"""The most lines of what a check printed, and the longest one."""


class Checks(Record, frozen=True):
    """What a task, or a whole plan, is checked by, each on one line.

    criteria: in prose, which nobody runs. lost: checks that the plan named before. more: how many
    others there are. output: what the one printed that fails; "" = none does.
    """

    commands: list[str]
    criteria: list[str]
    lost: list[str]
    more: int
    output: str


def of(named: tuple[str, ...], tick: Tick | None, *, fails: bool) -> Checks:
    """Returns the checks of a task. named: as the plan has them now. tick: what we noted of the
    task; the plan may be newer."""
    split = plan_checks.split(named)
    noted = [*tick.lost.split("\n"), *tick.checks.split("\n")] if tick else []
    lost = [each for each in dict.fromkeys(noted) if each and each not in named]
    kinds = (split.commands, split.criteria, lost)
    return Checks(
        commands=_lines(split.commands),
        criteria=_lines(split.criteria),
        lost=_lines(lost),
        more=sum(max(0, len(kind) - _SHOWN) for kind in kinds),
        output=output(tick.output) if tick and fails else "",
    )


def output(text: str) -> str:
    """Returns the first line of what a check printed, which may say how it ended, and the last
    ones."""
    lines = mask(text).strip("\n").splitlines()
    if len(lines) > _LINES:
        lines = [lines[0], "…", *lines[2 - _LINES :]]
    return "\n".join(map(_visible, lines))


def _lines(checks: Iterable[str]) -> list[str]:
    return [one_line(each) for each in list(checks)[:_SHOWN]]


def _visible(line: str) -> str:
    """Returns a line with its indentation, without characters that change how it is shown."""
    start = line[:_CHARACTERS]
    shown = "".join(each if each.isprintable() else " " for each in start).rstrip()
    return f"{shown}…" if len(line) > _CHARACTERS else shown
