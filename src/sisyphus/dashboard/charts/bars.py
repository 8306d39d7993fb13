"""A chart of counts by name, each of several kinds. Pure: numbers in, coordinates out."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from sisyphus.dashboard.charts import scale as sc

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_GAP = 0.25  # of a bar's place
_LABELS = 8  # that fit below each other's neighbours


class Kind(NamedTuple):
    """`kind`: of its colour, one of good, bad, warn, calm, idle, accent; `text`: what it counts."""

    kind: str
    text: str


class Part(NamedTuple):
    kind: str
    y: float
    height: float
    text: str


class Bar(NamedTuple):
    x: float
    width: float
    middle: float
    text: str
    shows: bool
    parts: list[Part]


class Bars:
    """`rows`: a name and its counts by kind, from left to right; `kinds` from the bottom up."""

    width, height = sc.WIDTH, sc.HEIGHT
    left, right, bottom = sc.LEFT, sc.WIDTH - sc.RIGHT, sc.HEIGHT - sc.BOTTOM

    def __init__(
        self, rows: Sequence[tuple[str, Mapping[str, float]]], kinds: Sequence[Kind]
    ) -> None:
        used = [kind for kind in kinds if any(counts.get(kind.kind) for _, counts in rows)]
        steps = sc.round_steps(max((sum(counts.values()) for _, counts in rows), default=0))
        self._scale = sc.upwards(steps[-1])
        self.y_ticks = sc.named(steps, self._scale)
        self.kinds = used
        self.bars = [self._bar(n, len(rows), *row, used) for n, row in enumerate(rows)]
        total = sum(sum(counts.values()) for _, counts in rows)
        self.summary = f"{total:,g} in {len(rows)} bars"

    def _bar(
        self, number: int, count: int, text: str, counts: Mapping[str, float], kinds: Sequence[Kind]
    ) -> Bar:
        place = (self.right - self.left) / count
        x = round(self.left + place * (number + _GAP / 2), 1)
        every = -(-count // _LABELS)
        shows = not (count - 1 - number) % every
        parts = self._parts(counts, kinds)
        return Bar(
            x,
            round(place * (1 - _GAP), 1),
            round(x + place * (1 - _GAP) / 2, 1),
            text,
            shows,
            parts,
        )

    def _parts(self, counts: Mapping[str, float], kinds: Sequence[Kind]) -> list[Part]:
        parts, below = [], 0.0
        for kind in kinds:
            value = counts.get(kind.kind, 0)
            if value:
                top, foot = self._scale(below + value), self._scale(below)
                parts.append(Part(kind.kind, top, round(foot - top, 1), f"{value:,g} {kind.text}"))
                below += value
        return parts
