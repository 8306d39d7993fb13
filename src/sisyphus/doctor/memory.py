"""The memory: whether it is there, can be read and written, of which version it is, what waits."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing

from sisyphus.doctor.finding import Finding, count, ok, problem, typed, warning
from sisyphus.memory import VERSION, memory_path
from sisyphus.paths import NOWHERE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from sisyphus.doctor.case import Case

CHECK, QUEUE, EARLIER = "memory", "queue", "earlier files"

QUEUE_DAYS = 30
"""For so long a session may be resumed and get what waits for it."""

CORRUPT = ".corrupt-"
_DAY = 86_400
_LOCK_SECONDS = 2.0
_BESIDE = ("-wal", "-shm")
_OLD = ("queue", "sessions", "ralph/sessions")
_OLD_LOGS = "journal-"


def check(case: Case) -> Iterator[Finding]:
    """It is only read: what is unreadable is left for a hook to set aside."""
    path = memory_path(case.space.ours)
    yield from _set_aside(case, path)
    if case.space.home == NOWHERE:
        hint = "Set HOME, or CLAUDE_CONFIG_DIR, to a folder of your own"
        yield problem(CHECK, "off: there is no home folder to keep it in", hint)
    elif os.path.lexists(path):
        yield _judged(case, path)
    elif case.space.memory.problem if os.path.isdir(case.space.ours) else "":
        yield problem(CHECK, f"off: {case.space.memory.problem}", _WRITABLE)
    else:
        yield ok(CHECK, f"{case.shown(path)} is made by the first hook")


_WRITABLE = "Make that folder writable for you; until then hooks remember nothing"


def _judged(case: Case, path: str) -> Finding:
    shown = case.shown(path)
    if not os.access(path, os.R_OK | os.W_OK) or not os.access(os.path.dirname(path), os.W_OK):
        return problem(CHECK, f"off: {shown} cannot be written by you", _WRITABLE)
    try:
        return _looked_into(shown, path)
    except sqlite3.OperationalError as error:
        if "locked" in str(error):
            return ok(CHECK, f"{shown} is being written just now: not looked into")
        return _damaged(shown, str(error))
    except sqlite3.DatabaseError as error:
        text = f"{shown} is unreadable: {error}"
        return warning(CHECK, text, "The next hook sets it aside and begins anew")


def _looked_into(shown: str, path: str) -> Finding:
    """Raises `sqlite3.Error`."""
    with closing(_opened(path)) as database:
        version = int(database.execute("PRAGMA user_version").fetchone()[0])
        if version > VERSION:
            text = f"off: {shown} was made by a newer sisyphus (version {version})"
            return warning(CHECK, text, "Install that sisyphus again, or a newer one")
        said = database.execute("PRAGMA quick_check(1)").fetchone()[0]
        if said != "ok":
            return _damaged(shown, str(said))
        tables = "SELECT count(*) FROM sqlite_master WHERE name = 'session'"
        if not database.execute(tables).fetchone()[0]:
            return ok(CHECK, f"{shown} is empty: the next hook fills it")
        sessions = database.execute("SELECT count(*) FROM session").fetchone()[0]
    size = sum(_size(path + beside) for beside in ("", *_BESIDE))
    return ok(CHECK, f"{shown}, {size / 1e6:,.1f} MB, {count(sessions, 'session')}")


def _damaged(shown: str, said: str) -> Finding:
    hint = f"Move it away and a new one begins: `mv {typed(shown)} {typed(shown)}.old`"
    return problem(CHECK, f"{shown} is damaged: {said}", hint)


def _opened(path: str) -> sqlite3.Connection:
    named = path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")
    return sqlite3.connect(f"file:{named}?mode=ro", uri=True, timeout=_LOCK_SECONDS)


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return 0


def _set_aside(case: Case, path: str) -> Iterator[Finding]:
    folder, name = os.path.split(path)
    found = [one for one in _names(folder) if one.startswith(name + CORRUPT)]
    for one in found:
        if not one.endswith(_BESIDE):
            shown = case.shown(os.path.join(folder, one))
            files = " ".join(typed(f"{shown}{end}") for end in ("", *_BESIDE) if one + end in found)
            hint = f"Sessions began anew with an empty one; `rm {files}`"
            yield warning(CHECK, f"{shown} was unreadable and set aside", hint)


def queue(case: Case) -> Iterator[Finding]:
    """Texts that wait for sessions which are over."""
    rows = case.space.memory.rows(
        "SELECT max(seen_at) FROM waiting JOIN session ON session.n = waiting.session "
        "GROUP BY session.n"
    ) if os.path.isfile(memory_path(case.space.ours)) else []  # fmt: skip
    since = case.space.now - QUEUE_DAYS * _DAY
    old = sum(seen is not None and seen < since for (seen,) in rows)
    if old:
        text = f"texts wait for {count(old, 'session')} of over {QUEUE_DAYS} days ago"
        yield warning(QUEUE, text, "`sisyphus purge` removes them")
    else:
        yield ok(QUEUE, f"texts wait for {count(len(rows), 'session')}" if rows else "empty")


def earlier(case: Case) -> Iterator[Finding]:
    """What versions before the memory kept in files: harmless, and nobody reads it."""
    ours = case.space.ours
    there = [os.path.join(ours, name) for name in _OLD if os.path.isdir(os.path.join(ours, name))]
    logs = os.path.join(ours, "logs")
    journals = sum(name.startswith(_OLD_LOGS) for name in _names(logs))
    if there or journals:
        words = [typed(case.shown(path)) for path in there]
        words += [f"{typed(case.shown(logs))}/{_OLD_LOGS}*"] if journals else []
        text = "an earlier sisyphus left files that nothing reads any more"
        yield Finding(EARLIER, "ok", text, f"`rm -r {' '.join(words)}`")


def _names(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []
