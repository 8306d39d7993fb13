"""The journal in plain words: what each hook of a session decided and why."""

from __future__ import annotations

import os
import time

from sisyphus.errors import SisyphusError, UnreadableError
from sisyphus.journals import listed
from sisyphus.paths import is_safe_id
from sisyphus.plain import one_line
from sisyphus.reading import read_head
from sisyphus.state import jsonl
from sisyphus.state.journal import journal_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from sisyphus._types import Json

POLL_SECONDS = 0.3
LOOK_SECONDS = 2.0
"""How often every journal is looked at: one that rested for long may be written again."""

_NAMED = 5
_HEAD_BYTES = 64_000
_RESTS_SECONDS = 3_600


class Wanted:
    """Which lines to show: one event's, or all; `quiet` ones, of hooks that did nothing, too."""

    __slots__ = ("event", "quiet")

    def __init__(self, event: str = "", *, quiet: bool = False) -> None:
        self.event = event
        self.quiet = quiet

    def takes(self, entry: Json) -> bool:
        is_quiet = not (entry.get("notes") or entry.get("blocked") or entry.get("sent"))
        return self.event in ("", entry.get("event")) and (self.quiet or not is_quiet)


def find_session(folder: str, named: str) -> str:
    """The session whose name begins so, or the one whose journal in `folder` was written last.

    Raises `SisyphusError` where it has no journal, or several begin so.
    """
    if named and not is_safe_id(named):
        raise SisyphusError(
            f"{one_line(named, 80)!r} is no session id. `sisyphus sessions` shows them."
        )
    written = journals(folder)
    found = matching(written, named)
    if not found:
        of = f"of session {named} " if named else ""
        raise SisyphusError(
            f"no journal {of}is there: no hook ran yet, or it was purged. {_known(written)}"
        )
    if named and len(found) > 1:
        names = ", ".join(found[:_NAMED]) + (", …" if len(found) > _NAMED else "")
        raise SisyphusError(
            f"{len(found)} sessions begin with {named}: {names}. Name one of them with --session."
        )
    return max(found, key=lambda name: written[name])


def matching(written: dict[str, float], named: str) -> list[str]:
    """The sessions whose name begins so, the latest first; the one that is called so alone."""
    if named in written:
        return [named]
    found = [name for name in written if name.startswith(named)]
    return sorted(found, key=lambda name: written[name], reverse=True)


def about(session: str) -> Json:
    """Where the session began: `project`, `client` and, of a fresh-context run, `run`, as far as
    its first lines tell."""
    try:
        head = read_head(journal_path(session), _HEAD_BYTES)
    except UnreadableError:
        return {}
    found: Json = {}
    for line in head.split(b"\n"):
        entry = jsonl.parse(line) if b'"project"' in line else None
        if entry:
            found = {name: entry[name] for name in ("project", "client", "run") if name in entry}
            break
    return found


def tail(session: str, last: int, wanted: Wanted) -> tuple[list[Json], int]:
    """The `last` entries that are wanted, oldest first, and where in bytes the journal ends.

    The journal is read from its end, as far as it takes. Raises `SisyphusError`.
    """
    path = journal_path(session)
    try:
        end = os.path.getsize(path)
        lines = jsonl.backwards(path, end)
        unfinished = next(lines, b"")
        latest = list(_take(lines, last, wanted))
        return latest[::-1], end - len(unfinished)
    except (UnreadableError, OSError) as error:
        raise SisyphusError(f"the journal cannot be read: {error}. Look at its rights.") from error


def follow(session: str, offset: int, wanted: Wanted) -> Iterator[Json]:
    """The wanted entries behind byte `offset` as they come, for ever."""
    while True:
        entries, offset = jsonl.appended(journal_path(session), offset)
        yield from filter(wanted.takes, entries)
        time.sleep(POLL_SECONDS)


def follow_all(folder: str, wanted: Wanted, ends: dict[str, int]) -> Iterator[tuple[str, Json]]:
    """The wanted entries of every session, also of those that begin meanwhile, as they come, for
    ever. `ends`: session -> the byte behind which its journal is new, as `ends_of` tells."""
    watch = _Watch(folder, ends)
    while True:
        found = [(name, entry) for name in watch.changed() for entry in watch.read(name)]
        found.sort(key=lambda one: _moment(one[1]))
        yield from (one for one in found if wanted.takes(one[1]))
        time.sleep(POLL_SECONDS)


def ends_of(folder: str) -> dict[str, int]:
    """Every session's journal, and how long it is in bytes."""
    ends = {}
    for session in journals(folder):
        try:
            ends[session] = os.path.getsize(journal_path(session))
        except OSError:
            continue
    return ends


class _Watch:
    """Journals of a folder, most of which rest: these are looked at less often."""

    def __init__(self, folder: str, ends: dict[str, int]) -> None:
        self._folder = folder
        self._ends = ends
        self._awake: list[str] = []
        self._stamp: object = None
        self._looked = -LOOK_SECONDS

    def changed(self) -> list[str]:
        """Those that may have been written since."""
        stamp, now = _stamp(self._folder), time.monotonic()
        if stamp != self._stamp or now - self._looked >= LOOK_SECONDS:
            self._stamp, self._looked = stamp, now
            since = time.time() - _RESTS_SECONDS
            self._awake = [name for name, at in journals(self._folder).items() if at > since]
        return self._awake

    def read(self, session: str) -> list[Json]:
        """What is new; a journal that was not there before is new from its start."""
        entries, end = jsonl.appended(journal_path(session), self._ends.get(session, 0))
        self._ends[session] = end
        return entries


def journals(folder: str) -> dict[str, float]:
    """Sessions that have a journal -> when it was written last."""
    return {session: state.st_mtime for session, _, state in listed(folder)}


def _moment(entry: Json) -> float:
    at = entry.get("at")
    return at if isinstance(at, (int, float)) else 0.0


def _stamp(folder: str) -> object:
    try:
        return os.stat(folder).st_mtime_ns
    except OSError:
        return None


def _take(lines: Iterator[bytes], last: int, wanted: Wanted) -> Iterator[Json]:
    needle = f'"{wanted.event}"'.encode() if wanted.event else b""
    for line in lines:
        if last <= 0:
            return
        entry = jsonl.parse(line) if needle in line else None
        if entry is not None and wanted.takes(entry):
            last -= 1
            yield entry


def _known(written: dict[str, float]) -> str:
    if not written:
        return "Are the hooks wired in? `sisyphus doctor` looks, `sisyphus install` wires them."
    latest = max(written, key=lambda name: written[name])
    return f"The latest session is {latest}; `sisyphus sessions` shows them all."
