"""What a turn that failed says about the account's limits. Pure.

Claude Code 2.1.329 names the error and writes `You've hit your 5-hour limit · resets 12:25am
(Europe/Berlin)`, with a date where it is more than a day ahead; its transcript has the same moment.
An older form is `… usage limit reached|1763680000`.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from datetime import tzinfo

    from sisyphus._types import Json
    from sisyphus.transcript import Record

RATE_LIMIT = "rate_limit"
PASSING = (RATE_LIMIT, "overloaded", "server_error")
"""Errors that go away by waiting."""

LONGEST = 8 * 86_400
"""A reset that lies further ahead is a misunderstanding: the longest limit is that of a week."""

_EPOCH = re.compile(r"\|(\d{10})\b")
_RESETS = re.compile(
    r"resets (?:at )?(?:([A-Z][a-z]{2}) (\d{1,2})(?:, (\d{4}))?,? )?(?:at )?"
    r"(1[0-2]|0?[1-9])(?::([0-5]\d))?\s?([ap]m)\b(?: \(([^()]{1,64})\))?"
)
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_UNIVERSAL = ("UTC", "Etc/UTC", "GMT")
"""Known without the database of zones, which not every machine has."""


def waiting(error: str, message: str, records: Sequence[Record], now: float) -> Json:
    """What the loop waits for: `for` in words, `since` and `until` in epoch seconds, 0 = unknown.

    {} where waiting does not help. `records`: the transcript's last ones, latest last.
    """
    if error not in PASSING:
        return {}
    if error != RATE_LIMIT:
        return {"for": "server's trouble", "since": int(now), "until": 0}
    until = _structured(records, now) or reset_time(message, now)
    what = "usage limit" if until or "hit your" in message else "rate limit"
    return {"for": what, "since": int(now), "until": int(until)}


def reset_time(message: str, now: float) -> float:
    """The moment that the message names, in epoch seconds; 0 where it names none that can be.

    A time without a zone is one of this machine's clock, as is the client's.
    """
    if found := _EPOCH.search(message):
        return _sensible(float(found[1]), now)
    found = _RESETS.search(message)
    if found is None:
        return 0.0
    try:
        return _first(_moments(found, now), now)
    except (ValueError, LookupError, OSError, OverflowError):  # no such day, no such zone
        return 0.0


def _moments(found: re.Match[str], now: float) -> Iterator[float]:
    """The moments that are meant perhaps: where clocks are changed, an hour comes twice, or not."""
    month, day, year, hour, minute, half, zone = found.groups()
    place = _zone(zone) if zone else None
    clock = datetime.fromtimestamp(now, place)
    hours = int(hour) % 12 + (12 if half == "pm" else 0)
    named = clock.replace(hour=hours, minute=int(minute or 0), second=0, microsecond=0)
    days = [named, named + timedelta(days=1)]
    if month:
        number = _MONTHS.index(month) + 1
        in_year = int(year) if year else named.year + (number < named.month)
        days = [named.replace(in_year, number, int(day))]
    for moment in (one.replace(fold=fold) for one in days for fold in (0, 1)):
        if datetime.fromtimestamp(moment.timestamp(), place) == moment:
            yield moment.timestamp()


def _zone(name: str) -> tzinfo:
    return UTC if name in _UNIVERSAL else ZoneInfo(name)


def _first(moments: Iterable[float], now: float) -> float:
    return min((moment for moment in moments if _sensible(moment, now)), default=0.0)


def _structured(records: Sequence[Record], now: float) -> float:
    """What the last record says; those before it are of other turns."""
    return _sensible(records[-1].resets_at, now) if records else 0.0


def _sensible(moment: float, now: float) -> float:
    return float(moment) if now < moment <= now + LONGEST else 0.0
