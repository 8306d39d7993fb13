"""Entries and limits that hold nothing but what a test is about."""

from __future__ import annotations

from sisyphus.enforce.limits import Limits
from sisyphus.enforce.record import Entry
from sisyphus.settings import SETTINGS

MOMENT = 1_795_200_000_000  # milliseconds
SECOND = 1_000


def limits_of(**settings: object) -> Limits:
    """The defaults, some replaced."""
    given = {f"enforce.{name}": value for name, value in settings.items()}
    return Limits(lambda key: given[key] if key in given else SETTINGS[key].default)


def an_entry(**keys: object) -> Entry:
    """Of a session that was at work at `MOMENT`."""
    return Entry({"lastActivity": MOMENT, **keys})
