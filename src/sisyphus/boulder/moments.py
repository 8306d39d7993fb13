"""Times of records, which are UTC and in the form of ISO 8601, as people read them. Pure."""

from __future__ import annotations

from datetime import UTC

from sisyphus.times import duration, local


def epoch(at: object) -> float:
    """Seconds since 1970; 0 for whatever is no such time."""
    from datetime import datetime

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
