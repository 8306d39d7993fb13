"""Where a value lies in a drawing, and which values an axis names. Pure."""

from __future__ import annotations

from itertools import count
from math import ceil
from typing import TYPE_CHECKING, NamedTuple

from sisyphus.times import local

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

WIDTH, HEIGHT = 720, 240
LEFT, RIGHT, TOP, BOTTOM = 48, 12, 14, 28
"""Room around the drawing for what its axes say."""

_STEPS = (1, 2, 5, 10)
_DAY, _MINUTES = 86_400, 600
_HAIR = 1e-9  # by which a quotient may miss a whole number


class Tick(NamedTuple):
    at: float
    text: str
    anchor: str = "middle"


class Scale:
    """Values from `low` to `high` lie between the coordinates `start` and `end`."""

    def __init__(self, low: float, high: float, start: float, end: float) -> None:
        self.low = low
        self.high = high if high > low else low + 1
        self._start = start
        self._end = end

    def __call__(self, value: float) -> float:
        part = (min(max(value, self.low), self.high) - self.low) / (self.high - self.low)
        return round(self._start + part * (self._end - self._start), 1)


def upwards(high: float) -> Scale:
    """From 0, at the bottom of the drawing, to `high` at its top."""
    return Scale(0, high, HEIGHT - BOTTOM, TOP)


def onwards(values: Sequence[float]) -> Scale:
    """From the first of the values, on the left, to the last."""
    return Scale(min(values, default=0), max(values, default=1), LEFT, WIDTH - RIGHT)


def round_steps(high: float, most: int = 5) -> list[float]:
    """From 0 on, at most `most` steps, the last of which is `high` or above it."""
    if high <= 0:
        return [0, 1]
    size = 10.0 ** (len(f"{int(high)}") - 1 - (high < 1))
    size /= 10 if high >= _STEPS[-1] else 1  # 100 goes in steps of 20, 1 in one
    while high / (size / 10) <= most and size > 10**-6:
        size /= 10
    step = next(s * size for s in (*_STEPS, *(10 * x for x in _STEPS)) if high / (s * size) <= most)
    count = ceil(high / step - _HAIR)
    return [round(step * n, 9) for n in range(count + 1)]


def named(values: Sequence[float], scale: Scale) -> list[Tick]:
    return [Tick(scale(value), f"{value:,g}") for value in values]


def numbers(scale: Scale, most: int = 8) -> list[Tick]:
    """Whole numbers along the axis, about so many."""
    low, high = ceil(scale.low), int(scale.high)
    step = next(s for s in _whole_steps() if (high - low) / s <= most)
    return [Tick(scale(n), f"{n:,}") for n in range(low, high + 1, step)]


def _whole_steps() -> Iterator[int]:
    """1, 2, 5, 10, 20 and so on."""
    for power in count():
        yield from (s * 10**power for s in _STEPS[:-1])


def moments(scale: Scale, steps: int = 4) -> list[Tick]:
    """Times along the axis, in epoch seconds: with the day where it spans several, with seconds
    where minutes would be the same."""
    span = scale.high - scale.low
    form = "%m-%d %H:%M" if span > _DAY else "%H:%M" if span > _MINUTES else "%H:%M:%S"
    step = (scale.high - scale.low) / steps
    found = [scale.low + step * n for n in range(steps + 1)]
    anchors = ["start", *["middle"] * (steps - 1), "end"]
    return [Tick(scale(x), local(x, form), a) for x, a in zip(found, anchors, strict=True)]
