"""What enforcement did in a session, and in which projects it is on."""

from __future__ import annotations

from sisyphus.ground.record import Record
from sisyphus.hook.session import Session
from sisyphus.sessions import sessions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from sisyphus.ground.store import Store

CLAIM, WAKE = "claim", "wake"
"""The kinds of notes about a session that was made to go on: it said that it was done, or it had
been idle."""

_COLUMNS = "iteration, failures, at, is_pending, is_stopped"


class Enforcement(Record):
    """What enforcement did in one session.

    iteration: how often it made the session go on. failures: of these, the last ones in a row that
    no tool call followed. at: the last time; 0 = never. is_pending: the session has not stopped
    since. is_stopped: the user stopped it until their next prompt.
    """

    iteration: int = 0
    failures: int = 0
    at: float = 0.0
    is_pending: bool = False
    is_stopped: bool = False

    def count(self, now: float) -> None:
        """Counts one more enforcement, which the next Stop judges."""
        self.iteration += 1
        self.at, self.is_pending = now, True


def load(store: Store, session: Session) -> Enforcement:
    row = store.one(f"SELECT {_COLUMNS} FROM enforcement WHERE session = ?", session.n)
    if row is None:
        return Enforcement()
    iteration, failures, at, is_pending, is_stopped = row
    return Enforcement(iteration, failures, at, bool(is_pending), bool(is_stopped))


def save(store: Store, session: Session, enforcement: Enforcement) -> None:
    values = (getattr(enforcement, name) for name in Enforcement.FIELDS)
    store.run(
        f"INSERT OR REPLACE INTO enforcement (session, {_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?)",
        session.n, *values,
    )  # fmt: skip


def enforced_since(store: Store, project: str) -> float:
    """Returns since when enforcement is on in a project; 0 = it is off."""
    row = store.one("SELECT at FROM enforced WHERE project = ?", project)
    return float(row[0]) if row else 0.0


def switch(store: Store, project: str, *, is_on: bool, now: float) -> None:
    """Switches enforcement on or off in a project."""
    store.run("DELETE FROM enforced WHERE project = ?", project)
    if is_on:
        store.run("INSERT INTO enforced (project, at) VALUES (?, ?)", project, now)


def restart(store: Store, project: str) -> None:
    """Lets the project's sessions begin to count again, as a user wants who switches it on."""
    for session in sessions.in_project(store, project):
        store.run(
            "UPDATE enforcement SET iteration = 0, failures = 0, is_pending = 0, is_stopped = 0 "
            "WHERE session = ?",
            session.n,
        )


def latest(store: Store, project: str) -> Session:
    """Returns the session that was enforced last in a project: an open one if there is any. If none
    was enforced, the one used last; one that is not in the store if there is no session."""
    found = _by_time(store, project)
    last = next(found, Session())
    return next((each for each in found if not each.is_over), last) if last.is_over else last


def _by_time(store: Store, project: str) -> Iterator[Session]:
    """Yields the sessions of a project, those that were enforced last first, then the others."""
    enforced = store.all("SELECT session FROM enforcement WHERE at > 0 ORDER BY at DESC")
    found = (Session.load(store, n) for (n,) in enforced)
    yield from (each for each in found if each.project == project and not each.agent)
    yield from (each for each in sessions.in_project(store, project) if not each.agent)


def stopped(store: Store, project: str) -> list[str]:
    """Returns the ids of the open sessions that their user stopped until their next prompt."""
    return [each.id for each in sessions.open_in(store, project) if load(store, each).is_stopped]
