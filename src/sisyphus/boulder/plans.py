"""Stores what we remember of a plan, and which plan a session follows.

The tasks are in the plan's file. The record has what that does not say: which sessions followed the
plan and when, how far it was when we last looked, checkpoints, todos.
"""

from __future__ import annotations

from sisyphus.ground import log, quick_json
from sisyphus.ground.record import Record, asdict, field, replace
from sisyphus.sessions import sessions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from sisyphus.ground.store import Store, Value
    from sisyphus.hook.session import Session

ACTIVE, NO_TASKS, COMPLETE, MISSING, DISMISSED = (
    "active", "no_tasks", "complete", "missing", "dismissed",
)  # fmt: skip
"""States. DISMISSED: the user has cleared it; it returns if they start it or its file changes."""

STALE_SECONDS = 14 * 24 * 3600
"""After so long without a session, the next one asks before it continues the plan."""

_HISTORY = 5_000  # entries, of all plans
_IN_COLUMNS = ("path", "project", "name", "state", "stamp", "used_at")
_COLUMNS = ", ".join((*_IN_COLUMNS, "record"))


class Checkpoint(Record):
    """timestamp: ISO 8601 in UTC. wave, story: where the user says that they are."""

    timestamp: str
    message: str
    wave: int | None = None
    story: str = ""


class PlanRecord(Record):
    """What we remember of one plan.

    stamp: of the file when we last looked. total, completed, blocked (numbers of tasks), next_task,
    finished (names of complete waves and stories): what it said then. has_check_next: the next task
    is to make a check pass.
    failed: the names of the ticked tasks whose check fails; they count as open. failed_check: the
    check of the whole plan that fails, and how.
    problem: why its file could not be read when we last looked; "" = it could, or is not there.
    used_at: when a session last worked on it; 0 = none has. It stays 0 for a plan that a session
    only wrote while a plan of another project was open.
    session_ids: the sessions that followed it, as the client calls them.
    checkpoint: the user's. automatic: ours.
    in_repo: we also write `docs/kord/boulder.json`. kord: fingerprint of that file as we last wrote
    or read it.
    is_chosen: the user started it in a terminal; new sessions of the project prefer it.
    """

    path: str
    project: str
    name: str
    state: str = ACTIVE
    stamp: str = ""
    used_at: float = 0.0
    started_at: float = 0.0
    session_ids: list[str] = field(default_factory=list)
    total: int = 0
    completed: int = 0
    blocked: int = 0
    next_task: str = ""
    finished: list[str] = field(default_factory=list)
    checkpoint: Checkpoint | None = None
    automatic: Checkpoint | None = None
    todos: list[dict[str, Any]] = field(default_factory=list)
    in_repo: bool = False
    kord: str = ""
    is_chosen: bool = False
    problem: str = ""
    failed: list[str] = field(default_factory=list)
    failed_check: str = ""
    has_check_next: bool = False

    @property
    def is_open(self) -> bool:
        """Tells whether it is neither complete nor dismissed."""
        return self.state in (ACTIVE, NO_TASKS, MISSING)

    @property
    def checkpoints(self) -> list[Checkpoint]:
        """Returns those that have a message, the user's first, then ours."""
        return [one for one in (self.checkpoint, self.automatic) if one and one.message]

    def with_session(self, id: str) -> PlanRecord:
        if not id or id in self.session_ids:
            return self
        return replace(self, session_ids=[*self.session_ids, id])


def save(store: Store, record: PlanRecord) -> int:
    """Inserts or updates the plan's row; returns its number."""
    values = asdict(record)
    columns: list[Value] = [values.pop(name) for name in _IN_COLUMNS]
    row = store.one(
        f"INSERT INTO plan ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (path) "
        "DO UPDATE SET project = excluded.project, name = excluded.name, state = excluded.state, "
        "stamp = excluded.stamp, used_at = excluded.used_at, record = excluded.record RETURNING n",
        *columns, quick_json.dumps(values),
    )  # fmt: skip
    assert row is not None
    return int(row[0])


def find(store: Store, path: str) -> PlanRecord | None:
    records = _select(store, "WHERE path = ?", path)
    return records[0] if records else None


def of_project(store: Store, project: str) -> list[PlanRecord]:
    """Returns the plans of a project, the one used last first."""
    return _select(store, "WHERE project = ? ORDER BY used_at DESC, n DESC", project)


def every(store: Store) -> list[PlanRecord]:
    return _select(store, "ORDER BY used_at DESC, n DESC")


def latest(store: Store) -> PlanRecord | None:
    """Returns the plan used last, of all projects."""
    records = _select(store, "WHERE used_at > 0 ORDER BY used_at DESC, n DESC LIMIT 1")
    return records[0] if records else None


def named(store: Store, number: int | None) -> PlanRecord | None:
    """Returns the plan with the number of its row; None if there is none."""
    records = _select(store, "WHERE n = ?", number)
    return records[0] if records else None


def of_session(store: Store, session: Session) -> PlanRecord | None:
    """Returns the plan that a session follows."""
    return named(store, session.plan)


def is_held(store: Store, session: Session) -> bool:
    """Tells whether the user holds the session at the plan that it follows."""
    from sisyphus.loops import loops  # imported late: few edits ask

    return loops.hold_at(store, session.plan) is not None


def end_hold(store: Store, plan: int, why: str, now: float) -> bool:
    """Ends the hold of a plan that the user has cleared, by the number of its row; tells whether
    there was one."""
    from sisyphus.loops import loops  # imported late, too

    hold = loops.hold_at(store, plan)
    if hold:
        loops.cancel(store, hold, why, now)
    return hold is not None


def is_stale(store: Store, record: PlanRecord, now: float) -> bool:
    """Tells whether nobody has used it for long, and no session that follows it is alive."""
    if not record.used_at or now - record.used_at < STALE_SECONDS:
        return False
    row = store.one("SELECT n FROM plan WHERE path = ?", record.path)
    followers = sessions.following(store, row[0]) if row else []
    return not any(each.seen_at > now - STALE_SECONDS for each in followers if not each.ended_at)


def add_history(store: Store, record: PlanRecord, what: str, now: float) -> None:
    """Adds an entry to the history of plans. what: one of `follow.py`'s words, or what a command
    did: started, checkpoint, cleared."""
    store.run(
        "INSERT INTO history (at, project, plan, what, completed, total) VALUES (?, ?, ?, ?, ?, ?)",
        now, record.project, record.path, what, record.completed, record.total,
    )  # fmt: skip
    store.run("DELETE FROM history WHERE n <= (SELECT max(n) FROM history) - ?", _HISTORY)


def _select(store: Store, rest: str, *values: Value) -> list[PlanRecord]:
    return [_record(row) for row in store.all(f"SELECT {_COLUMNS} FROM plan {rest}", *values)]


def _record(row: tuple[Any, ...]) -> PlanRecord:
    """Returns the record in a row. If its JSON is damaged, that is lost, and the file is counted
    again."""
    try:
        values = quick_json.loads(row[-1])
        for name in ("checkpoint", "automatic"):
            if values[name]:
                values[name] = Checkpoint(**values[name])
        return PlanRecord(*row[:-1], **values)
    except (ValueError, TypeError, KeyError) as error:
        log.write(f"what we knew of the plan {row[0]} is damaged: {error!r}")
        record = PlanRecord(*row[:-1])
        return replace(record, stamp="") if record.is_open else record
