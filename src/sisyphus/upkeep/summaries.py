"""The summaries of all journals. What was read once is kept in `cache/sessions.json`, so that only
what is new is read: of a journal that has grown, its new lines.

    {"version": 1, "sessions": {SESSION: {"stamp": [mtime in ns, size, inode], "offset", …}}}
"""

from __future__ import annotations

import json
import os

from sisyphus import journals
from sisyphus.errors import SisyphusError, UnreadableError
from sisyphus.reading import open_regular
from sisyphus.state import debug
from sisyphus.state.files import STATE_BYTES, Staged, check_version, ensure_folder, read_json
from sisyphus.state.jsonl import complete, parse
from sisyphus.state.lock import Lock
from sisyphus.upkeep.summary import Summary

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from sisyphus._types import Json

    Files = Collection[tuple[str, str, list[int]]]
    Each = Callable[[Files], Iterable[tuple[str, str, list[int]]]]

_VERSION = 1
_SHAPE = frozenset(("events", "texts"))
"""What an entry of an older version lacks: its journal is read anew."""

_WORTH = 100
"""So many journals are read again before a reader that goes on writes the whole cache again."""


def cache_path(ours: str) -> str:
    return os.path.join(ours, "cache", "sessions.json")


def read(ours: str, each: Each = iter) -> list[Summary]:
    """Every session that has a journal, the one that began first first. `each`: passes on the
    journals that have to be read, and may tell how far that is."""
    return Reader(ours).read(each, worth=1)


class Reader:
    """Reads again and again: what it has read it holds, so that only new lines cost anything.

    A summary that was given out does not change. Not for two threads at once.
    """

    def __init__(self, ours: str) -> None:
        self._ours = ours
        self._held: dict[str, _Held] | None = None
        self._changed: set[str] = set()
        self._version: object = None

    def read(self, each: Each = iter, worth: int = _WORTH) -> list[Summary]:
        """As `read` does; `worth`: of how many changes on the cache is written."""
        before = self._known() if self._held is None else self._held
        files = _journals(os.path.join(self._ours, "logs"))
        same = {s: before[s] for s, _, stamp in files if s in before and before[s].stamp == stamp}
        fresh = {}
        for session, path, stamp in each([file for file in files if file[0] not in same]):
            fresh[session] = _read(session, path, stamp, before.get(session))
        self._changed |= fresh.keys() | (before.keys() - same.keys())
        if files and self._changed and (self._held is None or len(self._changed) >= worth):
            self._keep([*same.values(), *fresh.values()])
        self._held = {**same, **fresh}
        found = [held.summary for held in self._held.values()]
        return sorted(found, key=lambda one: (one.began, one.session))

    def _known(self) -> dict[str, _Held]:
        """What the cache holds, as far as it is of this shape."""
        found = read_json(cache_path(self._ours)) or {}
        self._version = found.get("version")
        sessions = found.get("sessions")
        return {
            session: _Held(Summary(session, entry), entry["stamp"], entry["offset"], entry)
            for session, entry in (sessions.items() if isinstance(sessions, dict) else ())
            if isinstance(entry, dict) and entry.keys() >= _SHAPE and _is_stamped(entry)
        }

    def _keep(self, every: list[_Held]) -> None:
        self._changed.clear()
        path = cache_path(self._ours)
        try:
            check_version(path, {"version": self._version}, _VERSION)
            ensure_folder(os.path.dirname(path))
            with Lock(path):
                Staged(path, _as_bytes(every)).commit()
        except (OSError, SisyphusError) as error:
            debug.log(f"summaries of sessions are not kept: {error}")


class _Held:
    """A summary, of which journal it is, and how far in bytes that was read; `entry`: as the cache
    has it."""

    __slots__ = ("_entry", "offset", "stamp", "summary")

    def __init__(
        self, summary: Summary, stamp: list[int], offset: int, entry: Json | None = None
    ) -> None:
        self.summary = summary
        self.stamp = stamp
        self.offset = offset
        self._entry = entry

    def has_grown(self, stamp: list[int]) -> bool:
        """Whether `stamp` is that of the same file, with more in it."""
        return self.stamp[2] == stamp[2] and 0 <= self.offset <= stamp[1]

    def as_json(self) -> Json:
        if self._entry is not None:
            return self._entry
        return {**self.summary.as_json(), "stamp": self.stamp, "offset": self.offset}


def _is_stamped(entry: Json) -> bool:
    stamp, whole = entry.get("stamp"), ("mtime", "size", "inode")
    is_whole = isinstance(stamp, list) and len(stamp) == len(whole)
    return is_whole and type(entry.get("offset")) is int


def _read(session: str, path: str, stamp: list[int], before: _Held | None) -> _Held:
    """What a journal comes to, from where it was read to before if it has only grown."""
    old = before if before and before.has_grown(stamp) else None
    summary = Summary(session, old.summary.as_json() if old else None)
    offset = old.offset if old else 0
    try:
        with open_regular(path) as file:
            file.seek(offset)
            for line, size in complete(file):
                offset += size
                if entry := parse(line):
                    summary.take(entry)
    except (UnreadableError, OSError) as error:
        debug.log(f"{path} is not summed up: {error}")
    return _Held(summary, stamp, offset)


def _journals(folder: str) -> list[tuple[str, str, list[int]]]:
    """Session, path and stamp of every journal."""
    return [
        (session, path, [state.st_mtime_ns, state.st_size, state.st_ino])
        for session, path, state in journals.listed(folder)
    ]


def _as_bytes(every: list[_Held]) -> bytes:
    """The cache; of so many sessions that it could not be read again, the latest."""
    latest = sorted(every, key=lambda held: held.stamp[0])
    while True:
        sessions = {held.summary.session: held.as_json() for held in latest}
        data = json.dumps({"version": _VERSION, "sessions": sessions}) + "\n"
        if len(data) <= STATE_BYTES:
            return data.encode()
        latest = latest[len(latest) // 2 + 1 :]
