"""How a context filled, answer by answer, by the lines of a transcript. Pure."""

from __future__ import annotations

import sys
from typing import NamedTuple

from sisyphus import transcript as ts
from sisyphus.times import epoch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sisyphus.clients import Files
    from sisyphus.transcript import Record

MOST_POINTS = 20_000
"""Answers that are kept of one session: some 3 MB."""

DRAWN = 400
"""Points that a chart can show: about one for two pixels of its width."""

_LEAST = 8


class Point(NamedTuple):
    """One answer of the main thread. `at`: epoch seconds, 0 = unknown; `tokens` that it found in
    the context; `model` that was asked; `calls`: tool calls of the session before it."""

    at: float
    tokens: int
    model: str
    calls: int


class Compaction(NamedTuple):
    """`tokens` were in the context before it, 0 = not told; it came before point number `place`."""

    at: float
    tokens: int
    place: int


class Points:
    """What the lines that were taken so far tell. `is_cut`: earlier answers are not among them."""

    __slots__ = ("_answer", "_at", "_calls", "compactions", "is_cut", "points")

    def __init__(self) -> None:
        self.points: list[Point] = []
        self.compactions: list[Compaction] = []
        self.is_cut = False
        self._answer = ""  # the id of the last one
        self._at = 0.0
        self._calls = 0

    def copy(self) -> Points:
        """What is known now, whatever is taken later."""
        made = Points()
        made.points, made.compactions = self.points.copy(), self.compactions.copy()
        made.is_cut = self.is_cut
        return made

    def take(self, lines: Iterable[bytes], client: Files) -> None:
        """The next lines, whatever they hold."""
        kinds = (ts.ANSWER, ts.CALL, ts.COMPACTION)
        marks = [mark for kind in kinds for mark in client.MARKS[kind]]
        for line in lines:
            record = client.read_record(line) if any(mark in line for mark in marks) else None
            if record and not record.is_subagents:
                self._take(record)

    def since_compaction(self) -> Sequence[Point]:
        """The answers that found what is in the context now."""
        return self.points[self.compactions[-1].place :] if self.compactions else self.points

    def _take(self, record: Record) -> None:
        self._at = epoch(record.at) or self._at
        if record.is_compaction:
            self._cut(record.tokens_before)
        elif record.context:
            self._answered(record)
        self._calls += len(record.calls)

    def _answered(self, record: Record) -> None:
        """Several lines may be of one answer: the last one counts."""
        point = Point(self._at, record.context, sys.intern(record.model), self._calls)
        if record.answer and record.answer == self._answer:
            self.points[-1] = point._replace(calls=self.points[-1].calls)
        else:
            self.points.append(point)
            self._forget(len(self.points) - MOST_POINTS)
        self._answer = record.answer

    def _cut(self, tokens: int) -> None:
        """The line of a compaction, or that of its summary, which is another one of the same."""
        place, at = len(self.points), self._at
        if self.compactions and self.compactions[-1].place == place:
            before = self.compactions.pop()
            tokens, at = max(tokens, before.tokens), before.at
        self.compactions.append(Compaction(at, tokens, place))
        self._answer = ""

    def _forget(self, many: int) -> None:
        """The oldest ones."""
        if many <= 0:
            return
        del self.points[:many]
        moved = [one._replace(place=one.place - many) for one in self.compactions]
        self.compactions = [one for one in moved if one.place >= 0]
        self.is_cut = True


def thin(points: Sequence[Point], most: int = DRAWN) -> list[Point]:
    """At most so many of them (at least 8), in their order, by which the curve keeps its shape.

    The first and the last stay, both sides of the deepest falls, and of each stretch between the
    lowest and the highest point.
    """
    most = max(most, _LEAST)
    if len(points) <= most:
        return list(points)
    kept = {0, len(points) - 1}
    for place in _falls(points)[: most // 4]:
        kept |= {place - 1, place}
    stretches = (most - len(kept)) // 2
    for number in range(stretches):
        start, end = (len(points) * n // stretches for n in (number, number + 1))
        places = range(start, end)
        kept.add(min(places, key=lambda place: points[place].tokens))
        kept.add(max(places, key=lambda place: points[place].tokens))
    return [points[place] for place in sorted(kept)]


def _falls(points: Sequence[Point]) -> list[int]:
    """The points that hold less than the one before them, the deepest fall first."""
    depths = {
        place: points[place - 1].tokens - points[place].tokens for place in range(1, len(points))
    }
    falls = [place for place, depth in depths.items() if depth > 0]
    return sorted(falls, key=lambda place: depths[place], reverse=True)
