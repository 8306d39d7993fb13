"""The summaries of all journals. What was read once is kept in `cache/sessions.json`, so that only
what is new is read: of a journal that has grown, its new lines.

    {"version": 1, "sessions": {SESSION: {"stamp": [mtime in ns, size, inode], "offset", …}}}
"""

from __future__ import annotations

import os

from sisyphus import journals
from sisyphus.errors import SisyphusError, UnreadableError
from sisyphus.reading import open_regular
from sisyphus.state import debug
from sisyphus.state.files import read_json, update_json
from sisyphus.state.jsonl import complete, parse
from sisyphus.upkeep.summary import Summary

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from sisyphus._types import Json

    Files = Collection[tuple[str, str, list[int]]]
    Each = Callable[[Files], Iterable[tuple[str, str, list[int]]]]


def cache_path(ours: str) -> str:
    return os.path.join(ours, "cache", "sessions.json")


def read(ours: str, each: Each = iter) -> list[Summary]:
    """Every session that has a journal, the one that began first first. `each`: passes on the
    journals that have to be read, and may tell how far that is."""
    known = (read_json(cache_path(ours)) or {}).get("sessions")
    entries: dict[str, Json] = known if isinstance(known, dict) else {}
    files = _journals(os.path.join(ours, "logs"))
    kept = {s: entries[s] for s, _, stamp in files if _is_same(entries.get(s), stamp)}
    fresh = {}
    for session, path, stamp in each([file for file in files if file[0] not in kept]):
        fresh[session] = _read(session, path, stamp, entries.get(session))
    if fresh or len(kept) < len(entries):
        _keep(ours, {**kept, **fresh})
    found = [Summary(session, entry) for session, entry in {**kept, **fresh}.items()]
    return sorted(found, key=lambda one: (one.began, one.session))


def _read(session: str, path: str, stamp: list[int], known: object) -> Json:
    """The entry of a journal, from where it was read to before if it has only grown."""
    old = known if isinstance(known, dict) and _has_grown(known, stamp) else {}
    summary, offset = Summary(session, old), old.get("offset", 0)
    try:
        with open_regular(path) as file:
            file.seek(offset)
            for line, size in complete(file):
                offset += size
                if entry := parse(line):
                    summary.take(entry)
    except (UnreadableError, OSError) as error:
        debug.log(f"{path} is not summed up: {error}")
    return {**summary.as_json(), "stamp": stamp, "offset": offset}


def _is_same(known: object, stamp: list[int]) -> bool:
    return isinstance(known, dict) and known.get("stamp") == stamp


def _has_grown(known: Json, stamp: list[int]) -> bool:
    old, offset = known.get("stamp"), known.get("offset")
    if not isinstance(old, list) or len(old) != len(stamp) or type(offset) is not int:
        return False
    return old[2] == stamp[2] and 0 <= offset <= stamp[1]


def _journals(folder: str) -> list[tuple[str, str, list[int]]]:
    """Session, path and stamp of every journal."""
    return [
        (session, path, [state.st_mtime_ns, state.st_size, state.st_ino])
        for session, path, state in journals.listed(folder)
    ]


def _keep(ours: str, sessions: dict[str, Json]) -> None:
    try:
        update_json(cache_path(ours), lambda _: {"sessions": sessions})
    except (OSError, SisyphusError) as error:
        debug.log(f"summaries of sessions are not kept: {error}")
