"""What every page and every answer of the API is drawn from: our files, each read once."""

from __future__ import annotations

import math
import os
import time
from typing import TYPE_CHECKING, NamedTuple

from sisyphus import journal
from sisyphus.boulder import listing
from sisyphus.dashboard import changes as ch
from sisyphus.dashboard.kept import Kept, Stamp, of_file, of_folder
from sisyphus.dashboard.views.series_book import SeriesBook
from sisyphus.dashboard.views.tally import Tally
from sisyphus.errors import SisyphusError
from sisyphus.memory import open_memory
from sisyphus.paths import client_home, project_id
from sisyphus.ralph import actions, store
from sisyphus.ralph.past import history
from sisyphus.ralph.past.reader import Reader
from sisyphus.state import debug
from sisyphus.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Callable

    from sisyphus._types import Json
    from sisyphus.journal import SessionSums
    from sisyphus.memory import Memory
    from sisyphus.ralph.past.records import Record

_HEALTH_SECONDS = 5
"""So long may a client have ended before a loop is said to be left behind."""

_REST_SECONDS = 0.25
"""Between two looks at files of which no change was told: with 10,000 loops a reading takes some 40
ms, and a page asks several times."""

_SUMS_SECONDS = 10
"""What hooks cost by event is no older: that asks every event."""


class Loops(NamedTuple):
    """What is known of all loops at one moment. `history`: every one, newest first. `rows`: those
    that have not ended, as `ralph list --json` has them."""

    history: list[Record]
    rows: list[Json]


class Desk:
    """`home`: the client's folder; `ours`: our folder in it; `now`: the clock, in epoch seconds.

    `known`: the loops. `sessions`: with their sums, the latest last. `boulders`: every plan
    that is followed, as `boulder list --json` has them; `plans_past`: as `boulder history --all
    --json` has it, oldest first. `costs`: of the hooks of all sessions, a row an event.
    `series`: how full contexts were. `tally`: what came since the start.
    """

    def __init__(self, home: str = "", now: Callable[[], float] = time.time) -> None:
        self.home = home or client_home()
        self.ours = os.path.join(self.home, ".sisyphus")
        self.now = now
        self.changes = ch.Changes()
        self._reader = Reader(self.ours)
        self._loops: Kept[Loops] = Kept(self._read_loops, self._stamp_of_loops)
        self.known: Kept[Loops] = Kept(
            self._loops, lambda: self._seen(_REST_SECONDS, ch.LOOPS, ch.HISTORY)
        )
        self.sessions: Kept[list[SessionSums]] = Kept(
            lambda: journal.sessions(self.memory), lambda: self._seen(_REST_SECONDS, ch.JOURNAL)
        )
        self.boulders: Kept[list[Json]] = Kept(
            lambda: listing.boulders(self.space(self.home)),
            lambda: self._seen(_HEALTH_SECONDS, ch.BOULDERS),
        )
        self.plans_past: Kept[list[Json]] = Kept(
            lambda: listing.history(self.space(self.home), everywhere=True),
            lambda: self._seen(math.inf, ch.BOULDERS),
        )
        self.costs: Kept[list[Json]] = Kept(
            lambda: [cost.as_json() for cost in journal.costs(self.memory)],
            lambda: self._seen(_SUMS_SECONDS, ch.JOURNAL),
        )
        self.series = SeriesBook()
        self.tally = Tally()

    @property
    def memory(self) -> Memory:
        """Each thread has its own."""
        return open_memory(self.ours)

    def history(self) -> list[Record]:
        return self.known().history

    def loops(self) -> list[Json]:
        return self.known().rows

    def space(self, root: str) -> Workspace:
        """The project at `root`. Where its folder is gone, none above it is taken for it."""
        return Workspace(root, root=root, now=self.now())

    def projects(self) -> dict[str, str]:
        """Id -> root of every project that something is known of."""
        roots = {row["project_root"] for row in self.boulders()}
        roots |= {record.project for record in self.history()}
        roots |= {one.project for one in self.sessions()}
        return {project_id(root): root for root in sorted(filter(os.path.isabs, roots))}

    def project(self, named: str) -> Workspace:
        """The project of this id. Raises `SisyphusError`."""
        root = self.projects().get(named)
        if root is None:
            raise SisyphusError("no such project is known. The list of projects names them all.")
        return self.space(root)

    def warm(self) -> None:
        """Reads what takes long before anybody waits for it. What cannot be read is told by the
        pages that need it."""
        for read in (self.known, self.sessions, self.boulders, self.count):
            try:
                read()
            except Exception as error:  # noqa: BLE001
                debug.log(f"dashboard: {type(error).__name__}: {error}")

    def count(self) -> None:
        """What is there now, before it is gone."""
        self.tally.see(self.memory, self.history)

    def forget(self) -> None:
        """Somebody has just changed something by this desk."""
        for kept in (self._loops, self.known, self.boulders):
            kept.forget()

    def _read_loops(self) -> Loops:
        records, found = self._reader.look()
        return Loops(records, actions.rows_of(found, self.ours, self.now(), self._stale_hours()))

    def _stamp_of_loops(self) -> Stamp:
        """Of the files themselves: a change is told only some time after it."""
        paths = (history.log_path(self.ours), history.archive_path(self.ours))
        folder = of_folder(store.folder(self.ours))
        return (self.now() // _HEALTH_SECONDS, *map(of_file, paths), *folder)

    def _seen(self, seconds: float, *topics: str) -> Stamp:
        """As old as the last change of these topics, and no older than that."""
        if not self.changes.are_seen:
            return (object(),)
        return (self.changes.count(*topics), self.now() // seconds)

    def _stale_hours(self) -> float:
        hours: float = self.space(self.home).settings.get("ralph.stale_hours")
        return hours
