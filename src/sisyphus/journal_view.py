"""The journal in plain words: what each hook of a session decided and why."""

from __future__ import annotations

import os
import time

from sisyphus.errors import SisyphusError, UnreadableError
from sisyphus.paths import is_safe_id
from sisyphus.plain import one_line
from sisyphus.state import jsonl
from sisyphus.state.journal import journal_path
from sisyphus.times import local

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from sisyphus._types import Json

POLL_SECONDS = 0.3

_START, _END = "journal-", ".jsonl"
_EVENT_WIDTH = 18
_INDENT = " " * (8 + 2 + _EVENT_WIDTH + 2)


class Wanted:
    """Which lines to show: one event's, or all; `quiet` ones, of hooks that did nothing, too."""

    __slots__ = ("event", "quiet")

    def __init__(self, event: str = "", *, quiet: bool = False) -> None:
        self.event = event
        self.quiet = quiet

    def takes(self, entry: Json) -> bool:
        is_quiet = not (entry.get("notes") or entry.get("blocked") or entry.get("sent"))
        return self.event in ("", entry.get("event")) and (self.quiet or not is_quiet)


def find_session(folder: str, session: str) -> str:
    """The session of this name, or the one whose journal in `folder` was written last.

    Raises `SisyphusError` where it has no journal.
    """
    if session and not is_safe_id(session):
        raise SisyphusError(f"{session!r} is no session id. See the client's /status.")
    written = _journals(folder)
    if session and session not in written:
        raise SisyphusError(f"no hook ran in session {session}. {_known(written)}")
    if not written:
        raise SisyphusError(f"no hook ran yet in any session. {_known(written)}")
    return session or max(written, key=lambda name: written[name])


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


def day(entry: Json) -> str:
    return local(entry.get("at"), "%Y-%m-%d")


def text(entry: Json) -> str:
    """The entry with one line a note, the later ones indented."""
    notes = entry.get("notes")
    said = [one_line(str(note)) for note in notes] if isinstance(notes, list) else []
    first, *more = said or [_silent(entry)]
    agent = entry.get("agent")
    whose = f"(subagent {one_line(str(agent))}) " if agent else ""
    clock = local(entry.get("at"), "%H:%M:%S") or "--:--:--"
    event = one_line(str(entry.get("event", "?")))
    return "\n".join(
        [f"{clock}  {event:<{_EVENT_WIDTH}}  {whose}{first}", *(_INDENT + m for m in more)]
    )


def _silent(entry: Json) -> str:
    if entry.get("blocked"):
        return "blocked"
    sent = entry.get("sent")
    return f"{sent:,} characters sent" if sent and isinstance(sent, int) else "nothing to say"


def _take(lines: Iterator[bytes], last: int, wanted: Wanted) -> Iterator[Json]:
    needle = f'"{wanted.event}"'.encode() if wanted.event else b""
    for line in lines:
        if last <= 0:
            return
        entry = jsonl.parse(line) if needle in line else None
        if entry is not None and wanted.takes(entry):
            last -= 1
            yield entry


def _journals(folder: str) -> dict[str, float]:
    """Sessions that have a journal -> when it was written last."""
    try:
        with os.scandir(folder) as found:
            return {
                entry.name[len(_START) : -len(_END)]: entry.stat().st_mtime
                for entry in found
                if entry.name.startswith(_START) and entry.name.endswith(_END) and entry.is_file()
            }
    except OSError:
        return {}


def _known(written: dict[str, float]) -> str:
    if not written:
        return "Are the hooks wired in? `sisyphus plugin-path` says where the plugin is."
    latest = max(written, key=lambda name: written[name])
    return f"The latest session is {latest}: name it with --session-id."
