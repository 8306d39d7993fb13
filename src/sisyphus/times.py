"""Times and durations as people read them. Files hold UTC; people read their own clock."""

from __future__ import annotations

import time

_MOST = 253_402_300_800  # the year 10000
_MARCH = 3
_SECONDS_END = len("2026-11-20T15:00:00")
_DAYS_BEFORE_1970 = 719_468  # from March 1 of the year 0
_ISO = (
    r"\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])"
    r"T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,6})?Z"
)
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
    """Seconds since 1970 of a time in ISO 8601, 0 for whatever is none. One without a zone is UTC.

    Times as `iso` spells them are worked out here: `datetime` costs a hook 2 ms.
    """
    if not isinstance(at, str):
        return 0.0
    if is_time(at):
        year, month, day = int(at[:4]), int(at[5:7]), int(at[8:10])
        hour, minute, second = int(at[11:13]), int(at[14:16]), int(at[17:19])
        fraction = float(f"0{at[_SECONDS_END:-1]}")
        years = year - (month < _MARCH)  # a year that begins in March has its odd day at its end
        days = years * 365 + years // 4 - years // 100 + years // 400
        days += (153 * ((month + 9) % 12) + 2) // 5 + day - 1 - _DAYS_BEFORE_1970
        return max(((days * 24 + hour) * 60 + minute) * 60 + second + fraction, 0.0)
    from datetime import UTC, datetime

    try:
        found = datetime.fromisoformat(at)
    except ValueError:
        return 0.0
    return max((found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp(), 0.0)


def is_time(at: str) -> bool:
    """Whether it is spelled as `iso` does, in seconds or finer."""
    import re

    return re.fullmatch(_ISO, at) is not None


def is_before(at: str, moment: str) -> bool:
    """Whether the time `at` of a line lies before `moment`; a line without a time does."""
    return not is_time(at) or at < moment


def ago(at: object, now: float) -> str:
    """`2 h 3 min ago`; "" for whatever is no time. `now` in epoch seconds."""
    seconds = epoch(at)
    if not seconds:
        return ""
    return f"{duration(now - seconds)} ago" if seconds < now else "just now"


def clock(at: object) -> str:
    """On the clock of this machine; "" for whatever is no time."""
    return local(epoch(at))
