"""What is old goes: rows of the memory, and files that features keep beside it.

Each feature names its files in a table `KEPT` (rows: `_types.Kept`) and yields with `needed` what
sessions, loops and runs that go on need. Whatever no table names stays for ever: settings,
`installs.json`, plans, runs, the state of enforcement, the history of loops, and files of others.
A file goes under its lock and only as it was found. No link is followed.
"""

from __future__ import annotations

import os
import re
import stat
import time
from contextlib import suppress

from sisyphus.checkpoint.store import KEPT as OF_CHECKPOINTS
from sisyphus.clients import all_clients
from sisyphus.clients.base import Outcome
from sisyphus.enforce.marks import KEPT as OF_ENFORCEMENT
from sisyphus.errors import LockedError
from sisyphus.memory import PURGED, open_memory
from sisyphus.paths import is_safe_id
from sisyphus.ralph.store import KEPT as OF_LOOPS
from sisyphus.runner.keep.places import KEPT as OF_RUNS
from sisyphus.session import store
from sisyphus.state import debug
from sisyphus.state.lock import Lock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from sisyphus._types import Kept, Owner
    from sisyphus.clients.base import Payload
    from sisyphus.memory import Memory
    from sisyphus.workspace import Workspace

    Tell = Callable[[int], object]

DAY = 86_400
MOMENT = 3_600
"""Seconds for which nothing goes that was written, whatever was asked for: clients that we cannot
ask about write at least that often while somebody works with them."""

INDEX_DAYS = 30
"""A rule index that was made before goes with the rest: a hook of its project makes it anew."""

HOOK_SECONDS = 0.5
"""Claude Code 2.1.329 kills its hooks 1.5 s after a signal has ended it; nothing that is cut off
there is half done."""
HOOK_FILES = 2_000

TELL_EVERY = 500
"""Files between two looks at the clock, or two words about how far we are."""

IN_USE = "somebody is using it"
CHANGED = "it has changed meanwhile"

_LEFT_OVER: Kept = {"path": "", "kind": "files of killed writers"}
_LOCK: Kept = {"path": "", "kind": "locks"}
_CORRUPT: Kept = {"path": "", "kind": "unreadable files set aside", "on_request": True}


_OLD_SESSIONS = "SELECT n, id FROM session WHERE coalesce(seen_at, 0) < ?"


# Which files there are


def tables(*, by_hand: bool) -> list[Kept]:
    """What may go, in the order of removal: a session's transcript before what it was sent, so that
    what is cut off says nothing twice. `by_hand`: with what only people decide on."""
    rows = [row for client in all_clients() for row in client.KEPT]
    rows += [*store.KEPT, *OF_CHECKPOINTS, *OF_ENFORCEMENT, *OF_LOOPS, *OF_RUNS, *debug.KEPT]
    if by_hand:
        from sisyphus.install.edited import KEPT as OF_INSTALLATIONS

        rows += OF_INSTALLATIONS
    return rows


class File:
    """A file as it was found. `guarded`: the path whose lock guards it, "" = none; `stamp`: what
    tells whether somebody has written it since."""

    __slots__ = ("changed", "guarded", "owner", "path", "row", "size", "stamp")

    def __init__(
        self, path: str, row: Kept, owner: Owner, found: os.stat_result, guarded: str = ""
    ) -> None:
        self.path = path
        self.row = row
        self.owner = owner
        self.guarded = guarded
        self.changed = found.st_mtime
        self.size = found.st_size
        self.stamp = _stamp(found)

    @property
    def kind(self) -> str:
        return self.row["kind"]


def _stamp(found: os.stat_result) -> tuple[int, int, int]:
    return found.st_mtime_ns, found.st_size, found.st_ino


_NOBODY = ("", "")
_WORDS = {
    "SESSION": r"(?P<session>[\w.-]+)(?:@[\w.-]+)?",  # behind the @ stands a subagent
    "LOOP": r"(?P<loop>[\w.-]+)",
    "HANDOFF": r"(?P<handoff>[^/]+\.md)",
    "COPY": r"(?P<copy>[^/]+)",
    "ID": r"(?P<project>[^/]+)",
    "N": r"\d+",
    "*": r"[^/]+",
}
_WORD = re.compile("(" + "|".join(map(re.escape, _WORDS)) + ")")
_patterns: dict[str, re.Pattern[str]] = {}


def _owner(pattern: str, path: str) -> Owner | None:
    """Whose the file is that the pattern of a row names; None where it does not name it."""
    if pattern not in _patterns:
        words = (_WORDS.get(part) or re.escape(part) for part in _WORD.split(pattern))
        _patterns[pattern] = re.compile("".join(words), re.ASCII)
    found = _patterns[pattern].fullmatch(path)
    if found is None:
        return None
    whose, name = next(iter(found.groupdict().items()), _NOBODY)
    return None if whose in ("session", "loop") and not is_safe_id(name) else (whose, name)


def _every_file(ours: str, rows: Iterable[Kept], tell: Tell) -> list[File]:
    """What the rows name, as it is now. `tell` hears how many files were found, and may raise."""
    by_folder: dict[str, list[Kept]] = {}
    for row in rows:
        for folder in _folders(ours, "", row["path"].split("/")[:-1]):
            by_folder.setdefault(folder, []).append(row)
    found: list[File] = []
    for folder, named in by_folder.items():
        for name, state in _regular_files(os.path.join(ours, folder)):
            file = _file(ours, folder, name, named, state)
            if file is not None:
                found.append(file)
                if not len(found) % TELL_EVERY:
                    tell(len(found))
    return found


def _folders(ours: str, above: str, parts: list[str]) -> Iterator[str]:
    """The folders of ours that the parts of a pattern lead to from `above`; none behind a link."""
    if not parts:
        yield above
        return
    names = [parts[0]]
    if _WORD.search(parts[0]):
        names = [n for n in _names(os.path.join(ours, above)) if _owner(parts[0], n)]
    for name in names:
        folder = f"{above}/{name}" if above else name
        with suppress(OSError):
            if stat.S_ISDIR(os.lstat(os.path.join(ours, folder)).st_mode):
                yield from _folders(ours, folder, parts[1:])


def _names(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []


def _regular_files(folder: str) -> Iterator[tuple[str, os.stat_result]]:
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                with suppress(OSError):  # gone meanwhile
                    found = entry.stat(follow_symlinks=False)
                    if stat.S_ISREG(found.st_mode):
                        yield entry.name, found
    except OSError:
        return


def _file(
    ours: str, folder: str, name: str, rows: Iterable[Kept], found: os.stat_result
) -> File | None:
    """The file as a row names it, or as what lies beside one: a lock, what a killed writer left,
    what was set aside. None = it is nothing that ever goes."""
    path, whole = f"{folder}/{name}", os.path.join(ours, folder, name)
    for row in rows:
        owner = _owner(row["path"], path)
        if owner and row["kind"]:
            lock = row.get("lock")
            guarded = whole if lock == "" else os.path.join(ours, folder, lock) if lock else ""
            return File(whole, row, owner, found, guarded)
    for row in rows:
        if name.endswith(".tmp") and (owner := _owner(row["path"], path[: -len(".tmp")])):
            return File(whole, _LEFT_OVER, owner, found)
        if name.endswith(".lock") and row.get("lock") == "":
            guarded = whole[: -len(".lock")]
            if owner := _owner(row["path"], path[: -len(".lock")]):
                return File(whole, _LOCK, owner, found, guarded)
    base, mark, _ = path.partition(".corrupt-")
    owners = (_owner(row["path"], base) for row in rows)
    return File(whole, _CORRUPT, next(filter(None, owners), _NOBODY), found) if mark else None


# What may go


class Rows:
    """What the memory need not keep: the numbers of sessions, with how many lines each has in the
    journal. `ended`: those that go whole; `resumable`: those of which the lines go alone, for the
    client can still resume them, and what they were sent stays noted."""

    __slots__ = ("ended", "resumable")

    def __init__(self) -> None:
        self.ended: dict[int, int] = {}
        self.resumable: dict[int, int] = {}

    @property
    def events(self) -> int:
        return sum(self.ended.values()) + sum(self.resumable.values())

    def __bool__(self) -> bool:
        return bool(self.ended or self.events)

    def __str__(self) -> str:
        count = len(self.ended)
        return f"{count:,} session{'s' * (count != 1)}, {self.events:,} lines of the journal"


class Found:
    """What nobody needs, and nobody has used since `limit` (epoch seconds); false = nothing."""

    __slots__ = ("files", "limit", "rows")

    def __init__(self, limit: float) -> None:
        self.limit = limit
        self.files: list[File] = []
        self.rows = Rows()

    def __bool__(self) -> bool:
        return bool(self.files or self.rows)

    def keep_to(self, agreed: Found) -> None:
        """Leaves out what nobody has agreed to: it was not listed."""
        paths = {file.path for file in agreed.files}
        self.files = [file for file in self.files if file.path in paths]
        rows, listed = self.rows, agreed.rows
        rows.ended = {n: rows.ended[n] for n in rows.ended if n in listed.ended}
        rows.resumable = {n: rows.resumable[n] for n in rows.resumable if n in listed.resumable}


def find(
    ours: str,
    now: float,
    days: int,
    *,
    by_hand: bool = True,
    everything: bool = False,
    tell: Tell = bool,
) -> Found:
    """What was not used for so many days. `by_hand`: a person asked, who may want `everything`."""
    found = Found(now - max(days * DAY, MOMENT))
    memory = open_memory(ours)
    rows = tables(by_hand=by_hand)
    every = _every_file(ours, rows, tell)
    old = [one for one in _old(every, found.limit) if everything or not one.row.get("on_request")]
    sessions = memory.rows(_OLD_SESSIONS, found.limit)
    if not old and not sessions:  # as on most days
        return found
    needed = _needed(ours, found.limit, by_hand=by_hand)
    free = [file for file in old if not _is_needed(file, needed)]
    going = {file.path for file in free}
    staying = {file.path for file in every} - going
    kinds = [row["kind"] for row in (*rows, _LEFT_OVER, _LOCK, _CORRUPT)]
    found.files = sorted(
        (file for file in free if file.row is not _LOCK or file.guarded not in staying),
        key=lambda file: (kinds.index(file.kind), file.path),
    )
    for n, session in sessions:
        if ("session", session) not in needed:
            is_resumable = ("resumable", session) in needed
            group = found.rows.resumable if is_resumable else found.rows.ended
            group[n] = _events(memory, n)
    return found


def _events(memory: Memory, n: int) -> int:
    row = memory.row("SELECT count(*) FROM event WHERE session = ?", n)
    return int(row[0]) if row else 0


def _old(files: Iterable[File], limit: float) -> list[File]:
    """A session or loop is as old as its youngest file; of nobody's files each is by itself."""
    every = list(files)
    last: dict[Owner, float] = {}
    for file in every:
        last[file.owner] = max(last.get(file.owner, 0), file.changed)
    last.pop(_NOBODY, None)
    return [file for file in every if last.get(file.owner, file.changed) < limit]


def _needed(ours: str, limit: float, *, by_hand: bool) -> set[Owner]:
    """What goes on, and what that needs: sessions that a client is in or that a hook ran in since,
    those that can be resumed ("resumable"), and what features say."""
    from sisyphus.checkpoint import handoffs
    from sisyphus.ralph.past import living
    from sisyphus.runner import report
    from sisyphus.session.client_process import open_sessions
    from sisyphus.session.transcripts import resumable

    seen = open_memory(ours).rows("SELECT DISTINCT id FROM session WHERE seen_at >= ?", limit)
    needed: set[Owner] = {("session", session) for (session,) in seen}
    needed |= {("session", session) for session in open_sessions(ours)}
    needed |= {("resumable", session) for session in resumable(os.path.dirname(ours))}
    needed.update(living.needed(ours), report.needed(ours), handoffs.needed(ours))
    if by_hand:
        from sisyphus.install import edited

        needed.update(edited.needed(ours))
    return needed


def _is_needed(file: File, needed: set[Owner]) -> bool:
    whose, name = file.owner
    if file.row.get("resumable") and ("resumable", name) in needed:
        return True
    return file.owner in needed or (whose, "*") in needed


# Its removal


class Removed:
    """`files` went, and so did `rows`; `stays`: path -> why a file did not."""

    __slots__ = ("files", "rows", "stays")

    def __init__(self) -> None:
        self.files: list[File] = []
        self.rows = Rows()
        self.stays: dict[str, str] = {}


def remove(found: Found, memory: Memory, now: float, deadline: float | None = None) -> Removed:
    """`deadline` in monotonic seconds: a file that has not gone by then has its turn another time.

    Of a session or loop of which a file stays, whatever comes behind it stays as well: somebody is
    at it.
    """
    done = Removed()
    busy: set[Owner] = set()
    for file in found.files:
        if deadline is not None and time.monotonic() > deadline:
            break
        why = IN_USE if file.owner in busy else _take(file)
        if why:
            done.stays[file.path] = why
            busy |= {file.owner} - {_NOBODY}
        else:
            done.files.append(file)
    if found.rows:
        done.rows = _remove_rows(found, memory, now)
    return done


def _remove_rows(found: Found, memory: Memory, now: float) -> Rows:
    """Rows of sessions in which no hook has run meanwhile."""
    gone = Rows()
    with memory.transaction():
        still = {n for n, _ in memory.rows(_OLD_SESSIONS, found.limit)}
        for going, group in (
            (found.rows.ended, gone.ended), (found.rows.resumable, gone.resumable),
        ):  # fmt: skip
            for n in still.intersection(going):
                group[n] = memory.write("DELETE FROM event WHERE session = ?", n)
        store.delete(memory, gone.ended)
        made = (now - INDEX_DAYS * DAY) * 10**9
        memory.write("DELETE FROM rule_index WHERE made < ?", made)
    return gone


def _take(file: File) -> str:
    """Why it stays; "" = it is gone."""
    try:
        if file.guarded and os.path.lexists(file.guarded + ".lock"):
            return _take_under_lock(file)
        return _unlink(file)
    except FileNotFoundError:
        return ""
    except LockedError:
        return IN_USE
    except OSError as error:
        return error.strerror or str(error)


def _take_under_lock(file: File) -> str:
    """What it guards gone, the lock goes too: `Lock` sees that the one it was given has."""
    with Lock(file.guarded, wait=0):
        why = "" if file.row is _LOCK else _unlink(file)
        if os.path.lexists(file.guarded):
            return IN_USE if file.row is _LOCK else why
        with suppress(OSError):  # Windows keeps what is open
            os.unlink(file.guarded + ".lock")
        return why


def _unlink(file: File) -> str:
    found = os.lstat(file.path)
    if not stat.S_ISREG(found.st_mode) or _stamp(found) != file.stamp:
        return CHANGED
    os.unlink(file.path)
    folder = file.path
    with suppress(OSError):  # it is not empty
        for _ in range(file.row.get("folders", 0)):
            folder = os.path.dirname(folder)
            os.rmdir(folder)
    return ""


def total(files: Iterable[File]) -> str:
    """`27 files, 3.4 MB`"""
    sizes = [file.size for file in files]
    return f"{len(sizes):,} file{'s' if len(sizes) != 1 else ''}, {size(sum(sizes))}"


def size(count: int) -> str:
    """`740 B`, `1.2 MB`: a thousand bytes to the kB."""
    if count < _STEP:
        return f"{count} B"
    power = next((n for n in (1, 2) if count < _STEP ** (n + 1)), 3)
    return f"{count / _STEP**power:,.1f} {_UNITS[power]}"


_STEP, _UNITS = 1_000, ("B", "kB", "MB", "GB")


# Once a day the end of a session removes what is old


class _LateError(Exception):
    """There is more to look through than a hook has time for."""


def on_session_end(_: Payload, space: Workspace) -> Outcome | None:
    """Removes what `sisyphus purge` would, apart from what only people are to decide on. The day is
    noted first of all: what fails or is killed is not tried again at every end."""
    deadline = time.monotonic() + HOOK_SECONDS
    space.memory.write("INSERT OR REPLACE INTO note VALUES (?, ?)", PURGED, str(space.now))
    days: int = space.settings.get("state.keep_days")

    def tell(count: int) -> None:
        if time.monotonic() > deadline:
            raise _LateError(f"{count:,} files and more are too many to look through here")

    try:
        found = find(space.ours, space.now, days, by_hand=False, tell=tell)
    except _LateError as error:
        return Outcome(notes=[f"nothing old was removed: {error}; `sisyphus purge` does"])
    every = len(found.files)
    del found.files[HOOK_FILES:]
    done = remove(found, space.memory, space.now, deadline)
    gone = [str(done.rows)] if done.rows else []
    gone += [total(done.files)] if done.files else []
    if not gone:
        return None
    left = every - len(done.files)
    rest = f"; {left:,} files stay for another day" if left else ""
    return Outcome(notes=[f"removed what was not used for {days} days: {', '.join(gone)}{rest}"])
