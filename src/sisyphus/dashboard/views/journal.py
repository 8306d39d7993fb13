"""Pages of the journal, in plain words, the newest line first."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from sisyphus import journal
from sisyphus.clients.base import EVENTS
from sisyphus.dashboard.failures import INVALID_REQUEST, FailedError, not_found
from sisyphus.paths import is_safe_id
from sisyphus.text import one_line

if TYPE_CHECKING:
    from sisyphus._types import Json
    from sisyphus.journal import Event
    from sisyphus.memory import Memory

COUNT, MOST = 50, 500
"""Lines of a page."""

NAMES = (*EVENTS, journal.COMMAND)


class Asked(NamedTuple):
    """`session`: an id or how it begins, "" = all; `quiet`: also hooks that did nothing; `before`:
    what `older` of a newer page said, 0 = the newest page."""

    session: str = ""
    event: str = ""
    quiet: bool = False
    before: int = 0
    most: int = COUNT


def entries(memory: Memory, asked: Asked) -> Json:
    """`session_id`: which one that is, None = all; `entries`: see `row`; `older`: `before` of the
    next page, None = there is none. Raises `FailedError`."""
    if asked.event and asked.event not in NAMES:
        text = f"there is no such event: {one_line(asked.event, 80)}. Events: {', '.join(NAMES)}."
        raise FailedError(400, INVALID_REQUEST, text)
    session = find(memory, asked.session) if asked.session else ""
    found = journal.events(
        memory,
        session=session,
        event=asked.event,
        quiet=asked.quiet,
        before=asked.before,
        limit=asked.most + 1,
    )
    shown = found[::-1][: asked.most]
    return {
        "session_id": session or None,
        "entries": [row(one) for one in shown],
        "older": shown[-1].n if len(found) > len(shown) else None,
        "is_cut": False,
    }


def find(memory: Memory, named: str) -> str:
    """The only session whose id is or begins so."""
    found = journal.matching(memory, named) if is_safe_id(named) else []
    if len(found) > 1:
        text = f"{len(found)} sessions begin with {named}. Give more of the id."
        raise FailedError(400, INVALID_REQUEST, text)
    if not found:
        raise not_found("no session with such an id is known. It may have been purged.")
    return found[0]


def row(one: Event) -> Json:
    """`at` in epoch seconds, `ms` (None = not known), `event`, `agent` ("" = none), `blocked`,
    `sent` in characters, `said`: what the hook did and why, one sentence each."""
    return {
        "at": one.at or None,
        "session_id": one.session,
        "event": one.event,
        "agent": one.agent,
        "ms": one.ms or None,
        "blocked": one.blocked,
        "sent": one.sent,
        "said": one.said(),
    }
