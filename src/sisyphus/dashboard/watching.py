"""Folders that come and go are watched, by whatever the system offers for it."""

from __future__ import annotations

import asyncio
import os
from contextlib import aclosing, suppress
from typing import TYPE_CHECKING

from watchfiles import awatch

from sisyphus.state import debug

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

GATHER_MS, STEP_MS = 400, 50
"""Changes that come together are told together."""

LOOK_SECONDS = 5
"""Between two looks whether the folders are still those that are watched."""

POLL_MS = 2_000
"""Between two looks at every file, where the system tells of none."""

Identities = dict[str, tuple[int, int]]


class Watch:
    """Tells of changes in folders.

    `folders`: names them; those that are not there yet are waited for. `told`: hears the paths that
    changed. `turned`: hears whether there are some that are watched now, also when they are others
    than before: then of what changed meanwhile nothing was told.
    """

    def __init__(
        self,
        folders: Callable[[], Collection[str]],
        told: Callable[[set[str]], None],
        turned: Callable[[bool], None],
        *,
        recursive: bool,
    ) -> None:
        self._folders = folders
        self._told = told
        self._turned = turned
        self._recursive = recursive
        self._again = asyncio.Event()
        self._is_closed = False
        self._is_there: bool | None = None
        self._said: set[str] = set()

    def look_again(self) -> None:
        """There may be other folders now."""
        self._again.set()

    def close(self) -> None:
        self._is_closed = True
        self._again.set()

    async def run(self) -> None:
        """Until `close`."""
        while not self._is_closed:
            self._again.clear()
            await self._until_others(await asyncio.to_thread(self._identities))

    async def _until_others(self, known: Identities) -> None:
        try:
            if known:
                await self._follow(known)
                return
        except (OSError, RuntimeError) as error:
            self._log(f"dashboard: files are not watched: {error}")
        if self._is_there is not False:
            self._turn(False)
        await self._rest()

    async def _follow(self, known: Identities) -> None:
        """Until there are others."""
        others = asyncio.Event()
        looking = asyncio.create_task(self._look(known, others))
        try:
            await self._tell(known, others)
        finally:
            looking.cancel()

    async def _look(self, known: Identities, others: asyncio.Event) -> None:
        """A watch that goes on misses nothing: it is set up anew only where it has to be."""
        while not self._is_closed:
            await self._rest()
            self._again.clear()
            if await asyncio.to_thread(self._identities) != known:
                break
        others.set()

    async def _tell(self, known: Identities, others: asyncio.Event) -> None:
        try:
            await self._notice(known, others, polls=None)
        except (OSError, RuntimeError) as error:
            self._log(f"dashboard: files are looked at every {POLL_MS} ms: {error}")
            await self._notice(known, others, polls=True)

    async def _notice(
        self, known: Identities, others: asyncio.Event, *, polls: bool | None
    ) -> None:
        """`polls` None: as the environment says."""
        watch = awatch(
            *known, watch_filter=None, debounce=GATHER_MS, step=STEP_MS, stop_event=others,
            force_polling=polls, poll_delay_ms=POLL_MS, recursive=self._recursive,
            ignore_permission_denied=True,
        )  # fmt: skip
        async with aclosing(watch) as found:
            coming = asyncio.ensure_future(anext(found, None))
            await asyncio.sleep(0)  # its first step sets the watch up, then it waits
            if not coming.done():
                self._turn(True)
            changes = await coming
            while changes is not None:
                self._told({path for _, path in changes})
                changes = await anext(found, None)

    def _turn(self, is_there: bool) -> None:
        self._is_there = is_there
        self._turned(is_there)

    async def _rest(self) -> None:
        with suppress(TimeoutError):
            await asyncio.wait_for(self._again.wait(), LOOK_SECONDS)

    def _log(self, text: str) -> None:
        """Once: it is tried again and again."""
        if text not in self._said:
            self._said.add(text)
            debug.log(text)

    def _identities(self) -> Identities:
        """The folders that are there, by what tells them from others of the same name."""
        try:
            named = self._folders()
        except Exception as error:  # noqa: BLE001  # whatever one file does, the others are followed
            self._log(f"dashboard: {type(error).__name__}: {error}")
            return {}
        return {folder: found for folder in named if (found := _identity(folder))}


def _identity(folder: str) -> tuple[int, int] | None:
    try:
        found = os.stat(folder)
    except OSError:
        return None
    return (found.st_dev, found.st_ino) if os.path.isdir(folder) else None
