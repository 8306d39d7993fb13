"""The row of a handoff: whose it is, where its document is, and whether somebody has got it."""

from __future__ import annotations

import os

from sisyphus.ground.record import Record
from sisyphus.hook.session import Session
from sisyphus.loops import loops
from sisyphus.sessions import sessions
from sisyphus.sessions.usage import CHECKPOINT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus.ground.store import Store, Value

OPEN, GIVEN, CLOSED = "open", "given", "closed"
"""States. OPEN: no session has got it yet. CLOSED: a later one took its place, or its work has
ended."""

_WEEK = 7 * 24 * 3600
"""Seconds after which a handoff that was given stays so. The client deletes old transcripts, and
then nothing says whether the session has used it."""

_COLUMNS = (
    "session, loop, project, file, state, level, percent, at, resume, summary, files, plan, why, "
    "taker, said"
)


class Handoff(Record):
    """One handoff.

    session: the number of the session's row. loop: the id of the loop, hold or run that it is
    about; "" = none. file: its document. level, percent: of the context when it was written; 0 =
    unknown. resume: what the next session gets. summary: its next step; "" = unknown. files: the
    files to resume, as JSON: a list of [path, lines]. plan: the file of the open plan that it is
    about; "" = none. why: see `messages.CONTEXT`. taker: the number of the session that got it; 0 =
    none, or a run. said: what the agent said last of its work; "" = nothing.
    """

    session: int
    loop: str
    project: str
    file: str
    state: str
    level: int
    percent: int
    at: float
    resume: str
    summary: str = ""
    files: str = "[]"
    plan: str = ""
    why: str = ""
    taker: int = 0
    said: str = ""


def insert(store: Store, handoff: Handoff) -> None:
    """Inserts a handoff, in place of the session's open one."""
    store.run(
        "UPDATE handoff SET state = ? WHERE session = ? AND state = ?",
        CLOSED, handoff.session, OPEN,
    )  # fmt: skip
    values = [getattr(handoff, name) for name in Handoff.FIELDS]
    marks = ", ".join("?" * len(values))
    store.run(f"INSERT OR REPLACE INTO handoff ({_COLUMNS}) VALUES ({marks})", *values)


def give(store: Store, handoff: Handoff, taker: int = 0) -> bool:
    """Notes that a session or a run (0) gets it, as it is now; tells whether nobody has got it
    meanwhile."""
    changed = store.run(
        "UPDATE handoff SET state = ?, taker = ?, resume = ?, summary = ?, files = ?, said = ? "
        "WHERE file = ? AND state = ? AND taker = ?",
        GIVEN, taker, handoff.resume, handoff.summary, handoff.files, handoff.said,
        handoff.file, handoff.state, handoff.taker,
    )  # fmt: skip
    return changed > 0


def close(store: Store, handoff: Handoff) -> None:
    store.run("UPDATE handoff SET state = ? WHERE file = ?", CLOSED, handoff.file)


def has_ended(store: Store, handoff: Handoff) -> bool:
    """Tells whether the work of a handoff has ended: its loop, hold or run, and all loops of its
    session; or its plan is complete or cleared, or its session follows another; or its session was
    an iteration of a run that has ended. Work that we have no name for has not, unless the user has
    deleted the document."""
    if not os.path.isfile(handoff.file):
        return True
    if handoff.loop:
        return not loops.is_any_live(store, handoff.loop, handoff.session)
    session = Session.load(store, handoff.session)
    if not handoff.plan:
        is_done = store.one("SELECT 1 FROM plan WHERE n = ? AND state = 'complete'", session.plan)
        return bool(is_done) or sessions.is_of_ended_run(store, session)
    return not store.one(
        "SELECT 1 FROM plan WHERE path = ? AND n = ? AND state NOT IN ('complete', 'dismissed')",
        handoff.plan, session.plan,
    )  # fmt: skip


def find(store: Store, file: str) -> Handoff | None:
    """Returns the handoff with a document; None if there is none."""
    return _first(store, "file = ?", file)


def open_of(store: Store, session: Session) -> Handoff | None:
    """Returns the session's open handoff; None if it has none."""
    return _first(store, "session = ? AND state = ?", session.n, OPEN)


def checkpoint_of(store: Store, session: Session) -> str:
    """Returns the document of a full context that no session has got yet; "" = none."""
    handoff = open_of(store, session)
    return handoff.file if handoff and handoff.level >= CHECKPOINT else ""


def before(store: Store, session: Session, at: float) -> Handoff | None:
    """Returns the last handoff before a time that a session has written or got; None if there is
    none."""
    return _first(store, "(session = ? OR taker = ?) AND at < ?", session.n, session.n, at)


def left_in(store: Store, project: str, session: Session) -> list[Handoff]:
    """Returns the open handoffs of a project whose sessions are over, newest first: a new session
    may take one. A run that has not ended keeps its own. session: the one that asks."""
    handoffs = _select(
        store,
        "project = ? AND state = ? AND session <> ?",
        project, OPEN, session.n,
    )  # fmt: skip
    over = [each for each in handoffs if Session.load(store, each.session).is_over]
    runs = {run.id for run in loops.runs(store)} if over else set()
    return [each for each in over if each.loop not in runs]


def given_to_the_gone(store: Store, project: str, now: float) -> list[Handoff]:
    """Returns the handoffs of a project, of the last week, that a session has got which is over,
    newest first."""
    handoffs = _select(
        store, "project = ? AND state = ? AND taker > 0 AND at > ?", project, GIVEN, now - _WEEK
    )
    return [handoff for handoff in handoffs if Session.load(store, handoff.taker).is_over]


def _first(store: Store, where: str, *values: Value) -> Handoff | None:
    return next(iter(_select(store, where, *values)), None)


def _select(store: Store, where: str, *values: Value) -> list[Handoff]:
    rows = store.all(
        f"SELECT {_COLUMNS} FROM handoff WHERE {where} ORDER BY at DESC, n DESC", *values
    )
    return [Handoff(*row) for row in rows]
