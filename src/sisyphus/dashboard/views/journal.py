"""Pages of the journal, in plain words, the newest line first."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from sisyphus import journals
from sisyphus.clients.base import EVENTS
from sisyphus.dashboard.failures import INVALID_REQUEST, FailedError, not_found
from sisyphus.errors import UnreadableError
from sisyphus.journal_view import Wanted, matching
from sisyphus.journal_words import Words
from sisyphus.paths import is_safe_id
from sisyphus.plain import one_line
from sisyphus.state import jsonl

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sisyphus._types import Json

COUNT, MOST = 50, 500
"""Lines of a page."""

MOST_JOURNALS = 20
"""So many journals, those that were written last, are looked at where no session is named."""

MOST_LINES, MOST_LINES_EACH = 50_000, 5_000
"""Of a journal are read for one page; of each of several."""

NAMES = (*EVENTS, "command")

_MS, _MOST_SECONDS = 1_000, 1e11


class Asked(NamedTuple):
    """`session`: an id or how it begins, "" = the latest of all; `quiet`: also hooks that did
    nothing; `before`: what `older` of a newer page said, 0 = the newest page."""

    session: str = ""
    event: str = ""
    quiet: bool = False
    before: int = 0
    most: int = COUNT


class Journal(NamedTuple):
    session: str
    path: str
    written: int  # nanoseconds since 1970


class Line(NamedTuple):
    session: str
    at: int  # milliseconds since 1970
    start: int  # byte of its journal
    entry: Json


def entries(ours: str, asked: Asked) -> Json:
    """`session_id`: which one that is, None = several; `entries`: see `row`; `older`: `before` of
    the next page, None = there is none; `is_cut`: but lines of several sessions that were not
    looked at. Raises `FailedError`."""
    if asked.event and asked.event not in NAMES:
        text = f"there is no such event: {one_line(asked.event, 80)}. Events: {', '.join(NAMES)}."
        raise FailedError(400, INVALID_REQUEST, text)
    there = _there(ours)
    session = find(there, asked.session) if asked.session else None
    if session:
        lines, older = _of_one(there[session], asked)
        is_cut = False
    else:
        lines, older, is_cut = _of_latest(there, asked)
    return {
        "session_id": session,
        "entries": [row(line) for line in lines],
        "older": older,
        "is_cut": is_cut and older is None,
    }


def _there(ours: str) -> dict[str, Journal]:
    found = journals.listed(os.path.join(ours, "logs"))
    return {session: Journal(session, path, state.st_mtime_ns) for session, path, state in found}


def find(there: dict[str, Journal], named: str) -> str:
    """The only session whose id is or begins so."""
    written = {session: float(one.written) for session, one in there.items()}
    found = matching(written, named) if is_safe_id(named) else []
    if len(found) > 1:
        text = f"{len(found)} sessions begin with {named}. Give more of the id."
        raise FailedError(400, INVALID_REQUEST, text)
    if not found:
        raise not_found("no session with such an id has a journal. It may have been purged.")
    return found[0]


def row(line: Line) -> Json:
    """`at` in epoch seconds, `ms` (either None = not known), `event`, `agent` ("" = none),
    `blocked`, `sent` in characters, `said`: what the hook did and why, one sentence each."""
    entry, words = line.entry, Words(line.entry)
    sent, ms = entry.get("sent"), entry.get("ms")
    return {
        "at": line.at / _MS or None,
        "session_id": line.session,
        "event": words.event,
        "agent": one_line(str(entry.get("agent") or "")),
        "ms": float(ms) if words.took and isinstance(ms, (int, float)) else None,
        "blocked": entry.get("blocked") is True,
        "sent": sent if type(sent) is int and sent > 0 else 0,
        "said": words.said,
    }


def _of_one(journal: Journal, asked: Asked) -> tuple[list[Line], int | None]:
    """`before` is a byte of the journal."""
    found: list[Line] = []
    for count, line in enumerate(_lines(journal, asked.before), 1):
        if _takes(asked, line):
            if len(found) == asked.most:
                return found, found[-1].start
            found.append(line)
        if count == MOST_LINES:
            return found, line.start or None
    return found, None


def _of_latest(there: dict[str, Journal], asked: Asked) -> tuple[list[Line], int | None, bool]:
    """`before` is in milliseconds since 1970: of one page are all lines of one moment. The last
    part: whether a journal has lines that were not looked at."""
    latest = sorted(there.values(), key=lambda one: one.written, reverse=True)[:MOST_JOURNALS]
    looks = [_Look(journal, asked) for journal in latest]
    found = [line for look in looks for line in look.lines]
    found.sort(key=lambda line: (line.at, line.session, line.start), reverse=True)
    shown = found[: asked.most]
    shown += [line for line in found[asked.most :] if line.at == shown[-1].at]
    has_more = len(found) > len(shown)
    is_cut = len(latest) < len(there) or any(look.is_cut for look in looks)
    return shown, (shown[-1].at or None) if has_more else None, is_cut


class _Look:
    """`lines` of a journal for a page, and one more where there is one, so that it is known whether
    there are older ones; `is_cut`: there are lines that were not looked at for it."""

    def __init__(self, journal: Journal, asked: Asked) -> None:
        self.lines: list[Line] = []
        self.is_cut = False
        for count, line in enumerate(_lines(journal, 0), 1):
            if count > MOST_LINES_EACH:
                self.is_cut = True
            elif (not asked.before or line.at < asked.before) and _takes(asked, line):
                self.lines.append(line)
            if self.is_cut or len(self.lines) > asked.most:
                return


def _takes(asked: Asked, line: Line) -> bool:
    return Wanted(asked.event, quiet=asked.quiet).takes(line.entry)


def _lines(journal: Journal, before: int) -> Iterator[Line]:
    """The lines of a journal before that byte (0 = its end), the newest first; one that cannot be
    read has none."""
    try:
        size = os.path.getsize(journal.path)
        end = min(before, size) if before else size
        for line in jsonl.backwards(journal.path, end):
            start = end - len(line)
            end = start - 1
            entry = jsonl.parse(line)
            if entry is not None:
                yield Line(journal.session, _moment(entry), start, entry)
    except (UnreadableError, OSError):
        return


def _moment(entry: Json) -> int:
    at = entry.get("at")
    if not isinstance(at, (int, float)) or isinstance(at, bool) or not 0 < at < _MOST_SECONDS:
        return 0
    return round(at * _MS)
