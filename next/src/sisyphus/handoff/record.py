"""The row of a handoff: whose it is, where its document is, and whether somebody has got it."""

from __future__ import annotations

from dataclasses import dataclass

from sisyphus.processes import is_alive
from sisyphus.sessions.usage import CHECKPOINT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus.store import Store

OPEN, GIVEN, CLOSED = "open", "given", "closed"
"""States. OPEN: no session has got it yet. CLOSED: a later one took its place."""

_COLUMNS = "session, loop, project, file, state, level, percent, at, resume, summary, files"


@dataclass(slots=True, eq=False, repr=False)
class Handoff:
    """One handoff.

    session: the number of the session's row. loop: the id of the loop, hold or run that it is
    about; "" = none. file: its document. level, percent: of the context when it was written; 0 =
    unknown. resume: what the next session gets. summary: its next step; "" = unknown. files: the
    files to resume, as JSON: a list of [path, lines].
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


def insert(store: Store, handoff: Handoff) -> None:
    """Inserts a handoff, in place of the session's open one."""
    store.run(
        "UPDATE handoff SET state = ? WHERE session = ? AND state = ?",
        CLOSED, handoff.session, OPEN,
    )  # fmt: skip
    values = [getattr(handoff, name) for name in Handoff.__slots__]
    marks = ", ".join("?" * len(values))
    store.run(f"INSERT OR REPLACE INTO handoff ({_COLUMNS}) VALUES ({marks})", *values)


def give(store: Store, handoff: Handoff) -> None:
    """Notes that a session has got it."""
    store.run("UPDATE handoff SET state = ? WHERE file = ?", GIVEN, handoff.file)


def open_of(store: Store, session: int) -> Handoff | None:
    """Returns the session's open handoff; None if it has none."""
    return _first(store, "session = ? AND state = ?", session, OPEN)


def checkpoint_of(store: Store, session: int) -> str:
    """Returns the document of a full context that no session has got yet; "" = none."""
    handoff = open_of(store, session)
    return handoff.file if handoff and handoff.level >= CHECKPOINT else ""


def left_in(store: Store, project: str, session: int) -> Handoff | None:
    """Returns the newest open handoff of a project whose session is over: a new session may take
    it. A run that has not ended keeps its own. session: the one that asks."""
    rows = store.all(
        "SELECT session.n, ended_at IS NOT NULL, process FROM handoff JOIN session "
        "ON session.n = handoff.session WHERE handoff.project = ? AND state = ? AND session.n <> ? "
        "AND NOT EXISTS (SELECT 1 FROM loop WHERE loop.id = handoff.loop AND kind = 'run' "
        "AND loop.ended_at IS NULL) ORDER BY at DESC",
        project, OPEN, session,
    )  # fmt: skip
    for owner, has_ended, process in rows:
        if has_ended or (process and not is_alive(process)):
            return open_of(store, owner)
    return None


def _first(store: Store, where: str, *values: str | int) -> Handoff | None:
    row = store.one(
        f"SELECT {_COLUMNS} FROM handoff WHERE {where} ORDER BY at DESC, n DESC", *values
    )
    return Handoff(*row) if row else None
