"""When the context will be full, by how it grew until now. Pure."""

from __future__ import annotations

import re

from sisyphus.checkpoint.outlook.complexity import estimate, fits, refine

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from sisyphus._types import Json

    Point = tuple[int, int]

LEAST_POINTS = 3
"""Answers before anything is said of those to come."""

LATEST = 30
"""Answers that are looked at: what was done before them says little of what is done now."""

_FALL = 0.8
"""A context that holds less than this part of what it held was compacted."""

_FAR = 2 / 3
"""Part of the whole way that lies between two answers whose slope counts: large and small results
in a row level out."""

_OUTER = 0.1
_MOST_TIMES = 10
_LEAST_HISTORY = 3
_READ_CHARACTERS = 500
_DEPENDS = (
    r"(?i)^\s*(?:\d{1,3}[.)]\s|step \d)|\b(?:after|needs|requires|depends on|blocked by)\b[: ]"
)


class Forecast:
    """What is expected of this context. `calls_left`: tool calls until L2; None = not known, and
    `why` says so. `growth`: tokens a tool call; `spread`: the fewest and the most calls."""

    __slots__ = ("calls_left", "growth", "spread", "why")

    def __init__(
        self,
        calls_left: int | None = None,
        growth: float = 0.0,
        spread: tuple[int, int] | None = None,
        why: str = "",
    ) -> None:
        self.calls_left = calls_left
        self.growth = growth
        self.spread = spread
        self.why = why


class Usual:
    """What earlier iterations were like. `peak`: percent, the median, None = not known;
    `checkpoints`: which part of them (0 to 1) ended by one; `iterations`: how many there were."""

    __slots__ = ("checkpoints", "iterations", "peak")

    def __init__(self, peak: int | None, checkpoints: float, iterations: int) -> None:
        self.peak = peak
        self.checkpoints = checkpoints
        self.iterations = iterations


def forecast(points: Sequence[Point], limit: int) -> Forecast:
    """`points`: (tool calls so far, tokens in the context), one an answer, oldest first; `limit`:
    the tokens at which L2 comes.

    The growth is the median of the slopes between answers that lie far apart, among the latest
    ones since the last compaction; the spread comes from the slopes between any two of them, the
    steepest and flattest tenth left out.
    """
    latest = _since_compaction(points)[-LATEST:]
    if limit <= 0:
        return Forecast(why="how much the context holds is not known")
    if latest and latest[-1][1] >= limit:
        return Forecast(0, 0.0, (0, 0), "it is reached")
    slopes = _slopes(latest)
    if len(latest) < LEAST_POINTS or not slopes:
        count = len(latest)
        return Forecast(why=f"{count} answer{'s' * (count != 1)} so far; {LEAST_POINTS} are needed")
    growth = _quantile(_slopes(latest, _FAR), 0.5)
    if growth <= 0:
        return Forecast(why="the context does not grow")
    left = limit - latest[-1][1]
    steep = max(_quantile(slopes, 1 - _OUTER), growth)
    flat = min(max(_quantile(slopes, _OUTER), growth / _MOST_TIMES), growth)
    return Forecast(round(left / growth), growth, (round(left / steep), round(left / flat)))


def usual(history: Sequence[Json]) -> Usual:
    """Of `context_history`: rows of iteration, peak_percent, checkpoint."""
    rows = [row for row in history if _is_percent(row.get("peak_percent"))]
    ended = sum(row.get("checkpoint") is True for row in rows)
    peaks = [float(row["peak_percent"]) for row in rows]
    peak = round(_quantile(peaks, 0.5)) if len(rows) >= _LEAST_HISTORY else None
    return Usual(peak, ended / len(rows) if rows else 0.0, len(rows))


def order(
    items: Sequence[str], percent_left: float, costs: Sequence[tuple[str, float]] = ()
) -> list[int]:
    """The places of `items` in the order that suits what is left of the context.

    Those that fit now come before those that wait for a fresh context; else the plan's order
    stands, so that a first item that fits stays first. An item that says what it comes after (a
    number such as `2.` or `step 2`, or the words after, needs, requires, depends on, blocked by)
    stays where it is, and nothing is moved past it.
    """
    found: list[int] = []
    free: list[int] = []
    for place, item in enumerate(items):
        if re.search(_DEPENDS, item[:_READ_CHARACTERS]):
            found += [*_by_fit(free, items, percent_left, costs), place]
            free = []
        else:
            free.append(place)
    return found + _by_fit(free, items, percent_left, costs)


def backtest(points: Sequence[Point], limit: int) -> list[tuple[float, float]]:
    """What would have been forecast at each answer, and what came: (calls forecast, calls).

    Answers without a forecast, and those after which the limit was not reached before a
    compaction, are left out.
    """
    found: list[tuple[float, float]] = []
    for place, (calls, tokens) in enumerate(points):
        reached = _reached(points[place:], limit)
        said = forecast(points[: place + 1], limit).calls_left
        if said is not None and reached is not None and tokens < limit:
            found.append((float(said), float(reached - calls)))
    return found


def mean_error(pairs: Sequence[tuple[float, float]]) -> float | None:
    """The mean of the absolute errors, in percent of the mean of what came; None without any."""
    came = sum(calls for _, calls in pairs)
    return 100 * sum(abs(said - calls) for said, calls in pairs) / came if came else None


def _by_fit(
    places: Sequence[int],
    items: Sequence[str],
    percent_left: float,
    costs: Sequence[tuple[str, float]],
) -> list[int]:
    return sorted(
        places, key=lambda place: not fits(refine(estimate(items[place]), costs), percent_left)
    )


def _since_compaction(points: Sequence[Point]) -> Sequence[Point]:
    start = 0
    for place in range(1, len(points)):
        if points[place][1] < _FALL * points[place - 1][1]:
            start = place
    return points[start:]


def _slopes(points: Sequence[Point], far: float = 0.0) -> list[float]:
    """Tokens a call between each two answers that have calls between them, at least `far` (0 to 1)
    of all."""
    least = far * (points[-1][0] - points[0][0]) if points else 0
    return [
        (tokens - before) / (calls - since)
        for place, (calls, tokens) in enumerate(points)
        for since, before in points[:place]
        if calls - since >= max(least, 1)
    ]


def _reached(points: Sequence[Point], limit: int) -> int | None:
    """After how many calls the limit was reached; None where a compaction or the end came first."""
    before = 0
    for calls, tokens in points:
        if tokens < _FALL * before:
            return None
        if tokens >= limit:
            return calls
        before = tokens
    return None


def _quantile(values: Sequence[float], part: float) -> float:
    ordered = sorted(values)
    position = part * (len(ordered) - 1)
    low = int(position)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (position - low) * (ordered[high] - ordered[low])


def _is_percent(value: object) -> bool:
    return isinstance(value, (int, float)) and 0 <= value <= 1_000  # noqa: PLR2004
