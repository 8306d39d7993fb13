"""Reads the history of loops, again and again. What its files held is kept while they stay as they
are, so that a loop that goes on costs no look at those that are over."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Generic, TypeVar

from sisyphus.ralph.past import history
from sisyphus.ralph.past.living import living
from sisyphus.ralph.past.records import Merge
from sisyphus.state import jsonl

if TYPE_CHECKING:
    from collections.abc import Callable

    from sisyphus._types import Json
    from sisyphus.ralph.loop import Loop
    from sisyphus.ralph.past.records import Record

T = TypeVar("T")


class Reader:
    def __init__(self, ours: str) -> None:
        self._ours = ours
        self._log = _File(history.log_path(ours), lambda lines: lines)
        self._archive = _File(history.archive_path(ours), _merged)

    def read(self) -> list[Record]:
        """Every loop that is known, newest first."""
        return self.look()[0]

    def look(self) -> tuple[list[Record], list[tuple[Loop, str]]]:
        """The same, and those that have a state file, with its path: both of one moment."""
        lines = self._log.read()  # first: what moves meanwhile is found in the archive
        known = self._archive.read()
        alive = living(self._ours)
        names = [line.get("loop_id") for line in lines] + [loop.loop_id for loop, _ in alive]
        found = known.fork({name for name in names if isinstance(name, str)})
        for line in lines:
            found.take(line)
        return found.settle(alive), alive


class _File(Generic[T]):
    """What is made of the lines of a file."""

    def __init__(self, path: str, make: Callable[[list[Json]], T]) -> None:
        self._path = path
        self._make = make
        self._known: tuple[object, T] | None = None

    def read(self) -> T:
        stamp = _stamp(self._path)
        if self._known is None or self._known[0] != stamp:
            self._known = (stamp, self._make(list(jsonl.read(self._path))))
        return self._known[1]


def _merged(lines: list[Json]) -> Merge:
    merge = Merge()
    for line in lines:
        merge.take(line)
    return merge


def _stamp(path: str) -> object:
    """What tells a file from itself in another state."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
