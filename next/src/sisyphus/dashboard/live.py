"""Tells open pages that something has changed: a stream of server-sent events."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from sisyphus.dashboard.desk import Desk

LOOK_SECONDS = 0.5
_ALIVE_SECONDS = 15
"""How often a stream says something, so that a browser that has gone is noticed."""


async def changes(desk: Desk) -> AsyncIterator[str]:
    """Yields an event whenever the store has changed: by others, as SQLite counts, or by us."""
    seen, quiet = _version(desk), 0.0
    yield ": ready\n\n"
    while not desk.is_ending:
        await asyncio.sleep(LOOK_SECONDS)
        quiet += LOOK_SECONDS
        version = _version(desk)
        if version != seen:
            seen, quiet = version, 0.0
            yield "event: change\ndata:\n\n"
        elif quiet >= _ALIVE_SECONDS:
            quiet = 0.0
            yield ": alive\n\n"


def _version(desk: Desk) -> tuple[object, int]:
    row = desk.store.one("PRAGMA data_version")
    return row and row[0], desk.changes
