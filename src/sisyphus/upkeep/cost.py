"""What hooks cost, and how their times are counted. Pure.

Times: milliseconds, two digits of them, as text ("9.7", "14", "1.2e+02") -> how many took so long.
"""

from __future__ import annotations

import re

from sisyphus.figures import MOST

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from sisyphus._types import Json
    from sisyphus.upkeep.summary import Summary

    Times = dict[str, int]

_MOST_MS = 1e9
_DIGITS = 3
"""Of milliseconds that are kept; a journal has one."""

_PACKED = re.compile(r"(?:\d{1,3}(?:\.\d{1,8})?(?:e[+-]\d{2,3})? \d{1,15} )*")


class Cost:
    """Of the hooks of one event in one session. `hooks`: how many; `ms`: what they took together;
    `blocked`: how many held the session. Times stay packed: there are very many of them."""

    __slots__ = ("_packed", "_times", "blocked", "hooks", "ms")

    def __init__(self, known: object = None) -> None:
        found: Json = known if isinstance(known, dict) else {}
        self.hooks = int(number(found.get("hooks")))
        self.blocked = int(number(found.get("blocked")))
        self.ms = number(found.get("ms"))
        times = found.get("times")
        self._packed = times if isinstance(times, str) else ""
        self._times: Times | None = None

    @property
    def times(self) -> Times:
        return _unpack(self._packed) if self._times is None else self._times

    def add(self, ms: float, *, blocked: bool) -> str:
        """One more hook; `ms` 0 = nobody waited for it. Returns its time as it is counted, "" = it
        is not."""
        self.hooks += 1
        self.blocked += blocked
        if not 0 < ms < _MOST_MS:
            return ""
        if self._times is None:
            self._times = _unpack(self._packed)
        self.ms += ms
        took = f"{ms:.2g}"
        self._times[took] = self._times.get(took, 0) + 1
        return took

    def join(self, other: Cost) -> None:
        self.hooks += other.hooks
        self.blocked += other.blocked
        self.ms += other.ms
        times = self.times
        for took, many in other.times.items():
            times[took] = times.get(took, 0) + many
        self._times = times

    def as_json(self) -> Json:
        times = self._packed if self._times is None else _pack(self._times)
        ms = round(self.ms, _DIGITS)
        return {"hooks": self.hooks, "ms": ms, "blocked": self.blocked, "times": times}


def clean(value: object) -> Times:
    """Times from whatever was kept of them."""
    found = value.items() if isinstance(value, dict) else ()
    return {took: number for took, number in found if type(number) is int and _is_time(took)}


def together(times: Iterable[Mapping[str, int]]) -> Times:
    found: Times = {}
    for one in times:
        for took, number in one.items():
            found[took] = found.get(took, 0) + number
    return found


def median(times: Iterable[Mapping[str, int]]) -> float | None:
    """Of all times together, two digits of it; None = there is none."""
    counts = {float(took): number for took, number in together(times).items()}
    half, seen = sum(counts.values()) / 2, 0
    for took in sorted(counts):
        seen += counts[took]
        if seen >= half:
            return took
    return None


def number(value: object) -> float:
    """0 for whatever is none, is negative or is too large to be meant."""
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return 0
    return value if 0 <= value < MOST else 0


def rows(sums: Iterable[Summary]) -> list[Json]:
    """What the hooks of all these sessions cost: a row an event, the one that took most time first.
    `event`, `hooks`, `ms` together, `median_ms`, `blocked`."""
    found: dict[str, Cost] = {}
    for one in sums:
        for event, cost in one.events.items():
            found.setdefault(event, Cost()).join(cost)
    told = [
        {
            "event": event,
            "hooks": cost.hooks,
            "ms": cost.ms,
            "median_ms": median([cost.times]),
            "blocked": cost.blocked,
        }
        for event, cost in found.items()
    ]
    return sorted(told, key=lambda row: (-row["ms"], row["event"]))


def _pack(times: Times) -> str:
    return "".join(f"{took} {number} " for took, number in times.items())


def _unpack(packed: str) -> Times:
    words = packed.split(" ") if _PACKED.fullmatch(packed) else []
    return dict(zip(words[::2], map(int, words[1::2]), strict=False))


def _is_time(text: str) -> bool:
    try:
        return 0 < float(text) < _MOST_MS
    except ValueError:
        return False
