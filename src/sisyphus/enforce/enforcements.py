"""What enforcement did in a session, and in which projects it is on."""

from __future__ import annotations

from sisyphus.ground.record import Record
from sisyphus.sessions import sessions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus.ground.store import Store

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


def load(store: Store, session: int) -> Enforcement:
    row = store.one(f"SELECT {_COLUMNS} FROM enforcement WHERE session = ?", session)
    if row is None:
        return Enforcement()
    iteration, failures, at, is_pending, is_stopped = row
    return Enforcement(iteration, failures, at, bool(is_pending), bool(is_stopped))


def save(store: Store, session: int, enforcement: Enforcement) -> None:
    values = (getattr(enforcement, name) for name in Enforcement.FIELDS)
    store.run(
        f"INSERT OR REPLACE INTO enforcement (session, {_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?)",
        session, *values,
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
    store.run(
        "UPDATE enforcement SET iteration = 0, failures = 0, is_pending = 0, is_stopped = 0 "
        "WHERE session IN (SELECT n FROM session WHERE project = ?)",
        project,
    )


def latest(store: Store, project: str) -> tuple[int, Enforcement]:
    """Returns the session that was enforced last in a project, and what is known of it: an open one
    if there is any. If none was enforced, the one used last; 0 if there is no session."""
    rows = store.all(
        "SELECT session.n FROM session LEFT JOIN enforcement ON enforcement.session = session.n "
        "WHERE session.agent = '' AND project = ? ORDER BY coalesce(at, 0) DESC, seen_at DESC",
        project,
    )
    numbers = [int(row[0]) for row in rows]
    is_open = (number for number in numbers if not sessions.is_over(store, number))
    picked = next(is_open, numbers[0] if numbers else 0)
    return picked, load(store, picked)


def stopped(store: Store, project: str) -> list[str]:
    """Returns the ids of the open sessions that their user stopped until their next prompt."""
    ids = sessions.open_ids(store, project)
    rows = store.all(
        "SELECT id FROM session JOIN enforcement ON enforcement.session = session.n "
        "WHERE session.agent = '' AND project = ? AND is_stopped",
        project,
    )
    return [row[0] for row in rows if row[0] in ids]
