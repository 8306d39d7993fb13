"""Numbers as files hold them: what somebody made up is not taken. Pure."""

from __future__ import annotations

MOST = 10**15
"""Whatever counts so many, or is so many seconds or milliseconds, was made up."""

_MOST_PERCENT = 1_000


def count(value: object) -> int | None:
    return value if type(value) is int and 0 <= value < MOST else None


def percent(value: object) -> float | None:
    """None for nothing at all as well: nobody measured it."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return float(value) if 0 < value <= _MOST_PERCENT else None
