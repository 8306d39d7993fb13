"""A chart of values over time, or a count. Pure: numbers in, coordinates out; the template draws
them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from sisyphus.dashboard.charts import scale as sc
from sisyphus.times import local

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sisyphus.dashboard.charts.scale import Tick

    Points = Sequence[tuple[float, float]]

_FEW = 60
"""Up to so many points, each has a dot that tells its value."""

_LINE, _LETTER = 12, 7
"""About the size of a name's letters."""


class Run(NamedTuple):
    path: str
    area: str


class Level(NamedTuple):
    """`left`: where its name begins."""

    at: float
    text: str
    left: float


class Dot(NamedTuple):
    x: float
    y: float
    text: str


class Chart:
    """`runs`: of (epoch seconds, value), each a line of its own; `levels`: values with a name,
    drawn across; `marks`: moments with a name; `high`: what the axis reaches at least; `form`: how
    a value is spelled, e.g. `{:.0f} %`; `by`: what is counted where the runs are of (number,
    value)."""

    width, height = sc.WIDTH, sc.HEIGHT
    left, right, top, bottom = sc.LEFT, sc.WIDTH - sc.RIGHT, sc.TOP, sc.HEIGHT - sc.BOTTOM

    def __init__(  # what a chart may have
        self,
        runs: Sequence[Points],
        *,
        levels: Sequence[tuple[float, str]] = (),
        marks: Sequence[tuple[float, str]] = (),
        high: float = 0,
        form: str = "{:,g}",
        by: str = "",
    ) -> None:
        every = [point for run in runs for point in run]
        steps = sc.round_steps(max([high, *(value for _, value in every)]))
        self._x = sc.onwards([at for at, _ in every])
        self._y = sc.upwards(steps[-1])
        self._form, self._by = form, by
        self.y_ticks = sc.named(steps, self._y)
        self.x_ticks: list[Tick] = self._named(every)
        self.levels = self._levels(levels)
        self.marks = [sc.Tick(self._x(at), text) for at, text in marks]
        self.runs = [self._run(run) for run in runs if run]
        self.points = [self._dot(*point) for point in every] if len(every) <= _FEW else []
        self.summary = self._summary([value for _, value in every])

    def _named(self, every: Points) -> list[Tick]:
        if not every:
            return []
        return sc.numbers(self._x) if self._by else sc.moments(self._x)

    def _levels(self, levels: Sequence[tuple[float, str]]) -> list[Level]:
        """Names stand on the left, where most curves are low; one that would cover the one below
        it, beside it."""
        found: list[Level] = []
        for value, text in sorted(levels):
            at, left = self._y(value), float(self.left + _LETTER)
            if found and found[-1].at - at < _LINE:
                left = found[-1].left + _LETTER * (len(found[-1].text) + 1)
            found.append(Level(at, text, left))
        return found

    def _run(self, points: Points) -> Run:
        steps = [f"{self._x(at)} {self._y(value)}" for at, value in points]
        path = "M" + "L".join(steps)
        first, last = self._x(points[0][0]), self._x(points[-1][0])
        return Run(path, f"{path}L{last} {self.bottom}L{first} {self.bottom}Z")

    def _dot(self, at: float, value: float) -> Dot:
        where = f"{self._by} {at:,g}" if self._by else local(at)
        return Dot(self._x(at), self._y(value), f"{where}: {self._form.format(value)}")

    def _summary(self, values: Sequence[float]) -> str:
        if not values:
            return "nothing was measured"
        low, high, last = (self._form.format(v) for v in (min(values), max(values), values[-1]))
        return f"{len(values)} values from {low} to {high}, the last one {last}"
