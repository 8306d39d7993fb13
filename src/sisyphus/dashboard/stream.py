"""Tells open pages that something has changed: a stream of server-sent events."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from sisyphus.dashboard.page import Desk

LOOK_SECONDS = 0.5
_ALIVE_SECONDS = 15
"""How often a stream says something, so that a browser that has gone is noticed."""


async def changes(desk: Desk, seen: str) -> AsyncIterator[str]:
    """Yields an event whenever the store has changed: by others, as SQLite counts, or by us.

    seen: the version that the page shows. What came before the page listened is not lost.
    """
    quiet = 0.0
    yield ": ready\n\n"
    while not desk.is_ending:
        now = version(desk)
        if now != seen:
            seen, quiet = now, 0.0
            yield "event: change\ndata:\n\n"
        elif quiet >= _ALIVE_SECONDS:
            quiet = 0.0
            yield ": alive\n\n"
        await asyncio.sleep(LOOK_SECONDS)
        quiet += LOOK_SECONDS


def version(desk: Desk) -> str:
    """Returns what is different after each change, as long as this server runs."""
    row = desk.store.one("PRAGMA data_version")
    return f"{row[0] if row else 0}-{desk.changes}"
