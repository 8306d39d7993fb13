"""What happened on each of the last days, by the calendar of this machine. Pure."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING

from sisyphus.times import local

if TYPE_CHECKING:
    from collections.abc import Iterable

DAYS = 14

_DATE = "%Y-%m-%d"


def last_days(now: float) -> list[date]:
    """Oldest first. Dates, since days of 23 or 25 hours come with every clock change."""
    today = date.fromtimestamp(now)  # noqa: DTZ012  # local
    return [today - timedelta(days=back) for back in range(DAYS - 1, -1, -1)]


def since(now: float) -> float:
    """When the first of them begins, in epoch seconds."""
    first = last_days(now)[0]
    return datetime(first.year, first.month, first.day).timestamp()  # noqa: DTZ001  # local


def by_day(events: Iterable[tuple[float, str]], now: float) -> list[tuple[str, dict[str, float]]]:
    """`events`: epoch seconds and kind. The days up to `now` (`11-20`), oldest first, each with how
    many there were of each kind; what lies before, or ahead of `now`, is none of them."""
    days = last_days(now)
    found: dict[str, dict[str, float]] = {day.strftime(_DATE): {} for day in days}
    for at, kind in events:
        counts = found.get(local(at, _DATE)) if at <= now else None
        if counts is not None:
            counts[kind] = counts.get(kind, 0) + 1
    return [(day.strftime("%m-%d"), found[day.strftime(_DATE)]) for day in days]
