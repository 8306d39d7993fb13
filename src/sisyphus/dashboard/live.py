"""What changes on disk reaches the pages that are open, as server-sent events."""

from __future__ import annotations

import asyncio
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

from fastapi import APIRouter
from fastapi.sse import EventSourceResponse, ServerSentEvent
from starlette.requests import Request

from sisyphus.dashboard import changes as ch
from sisyphus.dashboard.watching import Watch

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Iterator

    from sisyphus.dashboard.desk import Desk

MOST_LISTENERS = 64
"""A page that is one too many hears `ready` alone, comes back, and is drawn anew each time."""

TICK_SECONDS = 20
"""Between two times that whoever shows ages, or whether a client lives, is told to look again."""

RETRY_MS = 5_000
"""A browser that lost us, or was one too many, comes back after that."""

router = APIRouter()


class Live:
    """Watches the files of a desk and tells whoever listens which topics changed."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._listeners: set[Listener] = set()
        self._plans: frozenset[str] = frozenset()
        self._ours = os.path.realpath(desk.ours)
        self._watches = (
            Watch(lambda: [self._ours], self._ours_changed, self._ours_turned, recursive=True),
            Watch(self._plan_folders, self._plans_changed, self._plans_turned, recursive=False),
        )
        self.has_begun = asyncio.Event()
        self._is_over = asyncio.Event()

    async def run(self) -> None:
        """Until `close`. Where files cannot be watched, pages show what is there when they are
        loaded."""
        await asyncio.gather(self._tick(), *(watch.run() for watch in self._watches))

    def close(self) -> None:
        self._is_over.set()
        for watch in self._watches:
            watch.close()
        for listener in self._listeners:
            listener.close()

    def tell(self, topics: Iterable[str]) -> None:
        found = {topic for topic in topics if topic}
        if found:
            self._desk.changes.note(found)
            for listener in self._listeners:
                listener.tell(found)

    @contextmanager
    def listening(self) -> Iterator[Listener]:
        """One that hears of everything from now on; of nothing, where there are too many."""
        listener = Listener()
        if len(self._listeners) >= MOST_LISTENERS:
            listener.close()
        else:
            self._listeners.add(listener)
        try:
            yield listener
        finally:
            self._listeners.discard(listener)

    async def _tick(self) -> None:
        """Time passes, and no file has changed: so it is told, not noted."""
        while not self._is_over.is_set():
            try:
                await asyncio.wait_for(self._is_over.wait(), TICK_SECONDS)
            except TimeoutError:
                for listener in self._listeners:
                    listener.tell({ch.TIME})

    def _ours_changed(self, paths: set[str]) -> None:
        topics = {ch.topic_of(path, self._ours) for path in paths}
        self.tell(topics)
        if ch.BOULDERS in topics:
            self._watches[1].look_again()

    def _ours_turned(self, is_there: bool) -> None:
        self._desk.changes.are_seen = is_there
        self.has_begun.set()
        self.tell(ch.TOPICS)

    def _plan_folders(self) -> set[str]:
        """Plans lie in projects: their folders alone, as far as they are known now."""
        rows = self._desk.boulders()
        self._plans = frozenset(os.path.realpath(row["active_plan"]) for row in rows)
        return set(map(os.path.dirname, self._plans))

    def _plans_changed(self, paths: set[str]) -> None:
        if paths & self._plans:
            self.tell([ch.BOULDERS])

    def _plans_turned(self, _: bool) -> None:
        self.tell([ch.BOULDERS])


class Listener:
    """The topics that changed since the last time, as often as there are some.

    Whoever is slow hears once of what changed several times.
    """

    def __init__(self) -> None:
        self._pending: set[str] = set()
        self._wake = asyncio.Event()
        self._is_closed = False

    def tell(self, topics: set[str]) -> None:
        self._pending |= topics
        self._wake.set()

    def close(self) -> None:
        self._is_closed = True
        self._wake.set()

    async def __aiter__(self) -> AsyncIterator[list[str]]:
        while True:
            await self._wake.wait()
            self._wake.clear()
            if self._is_closed:
                return
            found, self._pending = sorted(self._pending), set()
            yield found


@router.get("/events", response_class=EventSourceResponse, include_in_schema=False)
async def events(request: Request) -> AsyncIterator[ServerSentEvent]:
    """`ready`, with how much had changed until then, which a page has as well; `changed`, with the
    list of topics, whenever files do."""
    live: Live = request.app.state.live
    changes: ch.Changes = request.app.state.desk.changes
    with live.listening() as listener:
        yield ServerSentEvent(event="ready", data=changes.total, retry=RETRY_MS)
        async for topics in listener:
            yield ServerSentEvent(event="changed", data=topics)
