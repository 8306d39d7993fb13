"""How full contexts were. What was read of a transcript is kept, and only what is new is read."""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock
from typing import TYPE_CHECKING

from sisyphus.checkpoint.size import gauge
from sisyphus.checkpoint.size.series import Series
from sisyphus.dashboard.kept import of_file

if TYPE_CHECKING:
    from sisyphus.checkpoint.size.gauge import Reading
    from sisyphus.checkpoint.size.points import Points
    from sisyphus.dashboard.kept import Stamp

MOST_SERIES = 20
"""Sessions whose whole curve is kept: some 3 MB each at most."""

MOST_READINGS = 500


class SeriesBook:
    """The curves of the sessions that were looked at last, and the last answers of more."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._series: OrderedDict[str, Series] = OrderedDict()
        self._readings: OrderedDict[str, tuple[Stamp, Reading]] = OrderedDict()

    def points(self, transcript: str) -> Points:
        """What the transcript tells by now; the caller's own."""
        with self._lock:
            series = self._series.pop(transcript, None) or Series(transcript)
            self._series[transcript] = series
            while len(self._series) > MOST_SERIES:
                self._series.popitem(last=False)
            series.update()
            return series.told.copy()

    def reading(self, transcript: str, since: str) -> Reading:
        """Its last answer, as `gauge.read` has it."""
        stamp = (*of_file(transcript), since)
        known = self._readings.get(transcript)
        if known is None or known[0] != stamp:
            known = (stamp, gauge.read(transcript, since=since))
        with self._lock:
            self._readings[transcript] = known
            self._readings.move_to_end(transcript)
            while len(self._readings) > MOST_READINGS:
                self._readings.popitem(last=False)
        return known[1]
