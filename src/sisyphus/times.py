"""Times and durations as people read them. Files hold UTC; people read their own clock."""

from __future__ import annotations

import time

_MOST = 253_402_300_800  # the year 10000
_MINUTE, _HOUR, _DAY = 60, 3_600, 86_400
_UNITS = ((_DAY, "d", _HOUR, "h"), (_HOUR, "h", _MINUTE, "min"), (_MINUTE, "min", 1, "s"))


def local(epoch: object, form: str = "%Y-%m-%d %H:%M") -> str:
    """A moment in epoch seconds on the clock of this machine; "" for whatever is no moment."""
    if not isinstance(epoch, (int, float)) or not 0 < epoch < _MOST:
        return ""
    return time.strftime(form, time.localtime(epoch))


def duration(seconds: float) -> str:
    """The two largest units: `1 h 12 min`, `2 min 10 s`, `45 s`."""
    whole = max(round(seconds), 0)
    for size, name, smaller, its_name in _UNITS:
        if whole >= size:
            rest = whole % size // smaller
            return f"{whole // size:,} {name}" + (f" {rest} {its_name}" if rest else "")
    return f"{whole} s"


def iso(epoch: float) -> str:
    """A moment as transcripts spell it, UTC with milliseconds: the texts compare as times do."""
    seconds, milliseconds = divmod(int(epoch * 1_000), 1_000)
    return f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(seconds))}.{milliseconds:03}Z"


def epoch(at: object) -> float:
    """Seconds since 1970; 0 for whatever is no such time."""
    from datetime import UTC, datetime

    try:
        found = datetime.fromisoformat(at) if isinstance(at, str) else None
    except ValueError:
        found = None
    if found is None:
        return 0.0
    return max((found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp(), 0.0)


def ago(at: object, now: float) -> str:
    """`2 h 3 min ago`; "" for whatever is no time. `now` in epoch seconds."""
    seconds = epoch(at)
    if not seconds:
        return ""
    return f"{duration(now - seconds)} ago" if seconds < now else "just now"


def clock(at: object) -> str:
    """On the clock of this machine; "" for whatever is no time."""
    return local(epoch(at))
