"""Days of this machine's time zone."""

from __future__ import annotations

from datetime import datetime, timedelta


def starts(now: float, count: int) -> list[float]:
    """Returns when the last days began, the oldest first, today last. A day may have 23 hours."""
    today = datetime.fromtimestamp(now).replace(hour=0, minute=0, second=0, microsecond=0)
    return [(today - timedelta(days=back)).timestamp() for back in reversed(range(count))]
