"""What the log of enforcement comes to. Pure; tolerant of whatever a line holds."""

from __future__ import annotations

import re
from collections import Counter
from statistics import mean, median
from typing import TYPE_CHECKING

from sisyphus.clients.base import as_text
from sisyphus.dashboard.charts import days
from sisyphus.enforce import gates, log
from sisyphus.enforce.engine import FAILED, WORKED
from sisyphus.text import one_line, sound
from sisyphus.times import epoch

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sisyphus._types import Json

MOST_REASONS = 20

LAYERS = {gates.CLAIM: "claim", gates.IDLE: "idle"}
_WHATS = (log.ENFORCED, WORKED, FAILED, log.HELD_BACK, log.STOPPED, log.LIFTED, log.RESTS)
_KINDS = {WORKED: "good", FAILED: "bad", log.HELD_BACK: "idle"}

_QUOTED, _NUMBER = re.compile(r'"[^"]*"'), re.compile(r"\d[\d,.]*")
_CHARACTERS, _KIND_CHARACTERS = 200, 100


class Line:
    """One line. `at`: epoch seconds, 0 = it tells none; `layer`: "claim", "idle" or ""."""

    __slots__ = ("at", "claim", "layer", "session", "what", "why")

    def __init__(self, raw: Json) -> None:
        layer = raw.get("layer")
        self.at = epoch(raw.get("at"))
        self.session = as_text(raw.get("session_id"))[:_CHARACTERS]
        self.what = one_line(as_text(raw.get("what")), 40)
        self.why = sound(one_line(as_text(raw.get("why")), _CHARACTERS))
        self.claim = sound(one_line(as_text(raw.get("claim")), _CHARACTERS))
        self.layer = LAYERS.get(layer, "") if type(layer) is int else ""

    def as_json(self) -> Json:
        return {
            "at": self.at or None,
            "session_id": sound(self.session),
            "what": self.what,
            "why": self.why,
            "layer": self.layer or None,
            "claim": self.claim or None,
        }


def sums(lines: Sequence[Line], now: float) -> Json:
    """`lines` oldest first, `now` in epoch seconds.

    `counts`: how often what happened; `success_rate`: how many of the enforcements that were judged
    were followed by work, null = none was; `next_seconds`: from one enforcement of a session to its
    next, `average` and `median`; `longest_row`: of failures; `layers`: name -> counts; `reasons`:
    why something was held back; `days`: of the last fortnight, oldest first.
    """
    counts = Counter(one.what for one in lines)
    return {
        "counts": {what.replace(" ", "_"): counts[what] for what in _WHATS},
        "success_rate": _rate(counts[WORKED], counts[FAILED]),
        "next_seconds": _between(lines),
        "longest_row": _longest_row(lines),
        "layers": _layers(lines),
        "reasons": reasons(lines),
        "days": by_day(lines, now),
    }


def reasons(lines: Iterable[Line]) -> list[Json]:
    """The most frequent first: `reason` (a gate's name, or what was said without its quotes and
    numbers), `layers`, `count`, `last_at` and `last`: what was said then."""
    found: dict[str, Json] = {}
    for one in lines:
        if one.what == log.HELD_BACK:
            row = found.setdefault(_reason(one.why), {"layers": [], "count": 0})
            row["count"] += 1
            row |= {"last_at": one.at or None, "last": one.why}
            if one.layer and one.layer not in row["layers"]:
                row["layers"].append(one.layer)
    rows = [{"reason": reason, **row} for reason, row in found.items()]
    return sorted(rows, key=lambda row: -row["count"])[:MOST_REASONS]


def by_day(lines: Iterable[Line], now: float) -> list[tuple[str, dict[str, float]]]:
    """As `days.by_day` has it: how many enforcements were followed by work (`good`) or not (`bad`),
    and how many were held back (`idle`)."""
    told = ((one.at, _KINDS[one.what]) for one in lines if one.what in _KINDS)
    return days.by_day(told, now)


def _reason(why: str) -> str:
    told = _NUMBER.sub("…", _QUOTED.sub("“…”", why).partition(":")[0]).strip()
    return one_line(told, _KIND_CHARACTERS) or "no reason is noted"


def _rate(worked: int, failed: int) -> float | None:
    judged = worked + failed
    return worked / judged if judged else None


def _between(lines: Iterable[Line]) -> Json:
    last: dict[str, float] = {}
    gaps = []
    for one in lines:
        if one.what == log.ENFORCED and one.at:
            if one.session in last:
                gaps.append(max(one.at - last[one.session], 0))
            last[one.session] = one.at
    if not gaps:
        return {"average": None, "median": None}
    return {"average": round(mean(gaps)), "median": round(median(gaps))}


def _longest_row(lines: Iterable[Line]) -> int:
    row: Counter[str] = Counter()
    longest = 0
    for one in lines:
        if one.what == FAILED:
            row[one.session] += 1
            longest = max(longest, row[one.session])
        elif one.what == WORKED:
            row[one.session] = 0
    return longest


def _layers(lines: Iterable[Line]) -> Json:
    """What came of an enforcement counts for the layer that it was of."""
    found: Json = {}
    for name in LAYERS.values():
        found[name] = dict.fromkeys(("enforced", "worked", "failed", "held_back"), 0)
    last: dict[str, str] = {}
    for one in lines:
        if one.what == log.ENFORCED:
            last[one.session] = one.layer
        layer = last.get(one.session, "") if one.what in (WORKED, FAILED) else one.layer
        name = one.what.replace(" ", "_")
        if layer in found and name in found[layer]:
            found[layer][name] += 1
    for row in found.values():
        row["success_rate"] = _rate(row["worked"], row["failed"])
    return found
