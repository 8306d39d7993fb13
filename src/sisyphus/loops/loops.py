"""The rows of loops, holds and runs: the tables `loop` and `run`. A row is authoritative."""

from __future__ import annotations

from sisyphus.ground import quick_json
from sisyphus.ground.record import asdict
from sisyphus.hook.session import Session
from sisyphus.loops.loop import (
    CANCELLED,
    FATAL_ERROR,
    HOLD,
    LOOP,
    RUN,
    WORKER,
    Counters,
    Hold,
    Loop,
    Options,
    Work,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection
    from typing import Any, TypeVar

    from sisyphus.ground.store import Store, Value
    from sisyphus.loops.runs import Run, Worker

    T = TypeVar("T", bound=Work)

_COLUMNS = (
    "id, project, prompt, options, started_at, counters, status, outcome, why, ended_at, kind, "
    "session, plan, origin, left_at, file, stamp, by_model"
)
_PROCESS = ("session", "runner", "client", "action", "percent", "heard_at", "tokens", "cost")
"""The columns of `run` that say who works at it, and how far; they are fields of `Run`."""

_NO_ROW = (0, "", "", "", 0, 0.0, 0, 0.0, "{}", "{}")
"""Stands for the row of a run that somebody has deleted: what reads several goes on."""

_ROW = "loop = (SELECT n FROM loop WHERE id = ?)"


# ---------------------------------------------------------------- one of them


def find(store: Store, id: str) -> Work | None:
    """Returns the loop, hold or run with an id; None if there is none."""
    found = _select(store, Work, f"WHERE id = ? AND kind <> '{WORKER}'", id)
    return found[0] if found else None


def insert(store: Store, work: Work) -> None:
    marks = ", ".join("?" for _ in _COLUMNS.split(","))
    logged = 2 if work.kind in (HOLD, WORKER) else 0  # `sessions.jsonl` has none of these
    store.run(f"INSERT INTO loop ({_COLUMNS}, logged) VALUES ({marks}, {logged})", *_row(work))
    if work.kind in (RUN, WORKER):
        store.run(
            "INSERT INTO run (loop, runner, client, action, percent, heard_at, options, state) "
            "SELECT n, '', '', '', 0, 0, '{}', '{}' FROM loop WHERE id = ?",
            work.id,
        )
        _save_run(store, work)


def save(store: Store, work: Work) -> None:
    sets = ", ".join(f"{column.strip()} = ?" for column in _COLUMNS.split(","))
    store.run(f"UPDATE loop SET {sets} WHERE id = ?", *_row(work), work.id)
    if work.kind in (RUN, WORKER):
        _save_run(store, work)


def save_process(store: Store, run: Run) -> None:
    """Saves who works at the run, and nothing else: the user may change the rest meanwhile."""
    sets = ", ".join(f"{name} = ?" for name in _PROCESS)
    values = (getattr(run, name) for name in _PROCESS[1:])
    store.run(f"UPDATE run SET {sets} WHERE {_ROW}", run.session or None, *values, run.id)


def cancel(store: Store, work: Work, why: str, now: float) -> None:
    """Ends a loop or hold as cancelled. why: in words."""
    work.end(CANCELLED, why, now)
    save(store, work)


def delete(store: Store, work: Work) -> None:
    """Deletes a loop, hold or run, or a worker of one."""
    store.run("DELETE FROM loop WHERE id = ?", work.id)


# ---------------------------------------------------------------- loops


def current(store: Store, session: Session) -> Loop | None:
    """Returns the session's current loop, see `current_of`."""
    return current_of(live(store, session))


def current_of(loops: list[Loop]) -> Loop | None:
    """Returns the current one of a session's loops: the last that has not ended. One that is
    stalled is skipped if another waits for it."""
    left = [loop for loop in loops if loop.ended_at is None]
    while len(left) > 1 and left[-1].is_stalled:
        left.pop()
    return left[-1] if left else None


def live(store: Store, session: Session) -> list[Loop]:
    """Returns the loops of a session that have not ended, oldest first."""
    return _select(store, Loop, "WHERE session = ? AND ended_at IS NULL ORDER BY n", session.n)


def all_live(store: Store) -> list[Loop]:
    """Returns the loops of all sessions that have not ended, newest first."""
    return _select(store, Loop, f"WHERE kind = '{LOOP}' AND ended_at IS NULL ORDER BY n DESC")


def of_sessions_that_are_over(store: Store) -> list[Loop]:
    """Returns the loops that have not ended though their session has, or its process is gone; only
    those that were not found so before."""
    rest = f"WHERE kind = '{LOOP}' AND ended_at IS NULL AND left_at IS NULL ORDER BY n"
    found = _select(store, Loop, rest)
    return [loop for loop in found if Session.load(store, loop.session).is_over]


def left_in(store: Store, project: str) -> list[Loop]:
    """Returns the loops of a project that were left behind, the last one last."""
    return _select(
        store,
        Loop,
        f"WHERE kind = '{LOOP}' AND ended_at IS NULL AND left_at IS NOT NULL AND project = ? "
        "ORDER BY left_at, n",
        project,
    )


def has_started(store: Store, origins: frozenset[str]) -> bool:
    """Tells whether one of these origins has started a loop, in any session."""
    marks = ", ".join("?" * len(origins))
    return store.one(f"SELECT 1 FROM loop WHERE origin IN ({marks})", *origins) is not None


def latest_end(store: Store, session: Session) -> float:
    """Returns when the last loop of a session ended; 0 = none has."""
    row = store.one("SELECT max(ended_at) FROM loop WHERE session = ?", session.n)
    return float(row[0] or 0.0) if row else 0.0


def with_files(store: Store, session: Session) -> list[tuple[str, str]]:
    """Returns the loops of a session whose state files were written: id and file of each."""
    return store.all("SELECT id, file FROM loop WHERE session = ? AND file <> ''", session.n)


def note_file(store: Store, id: str, file: str, stamp: str) -> None:
    """Notes the state file of a loop as it was written; "" = it has none."""
    store.run("UPDATE loop SET file = ?, stamp = ? WHERE id = ?", file, stamp, id)


def has_file(store: Store, file: str) -> bool:
    """Tells whether a file is the state file of a loop."""
    return store.one("SELECT 1 FROM loop WHERE file = ?", file) is not None


# ---------------------------------------------------------------- holds


def holds(store: Store) -> list[Hold]:
    """Returns the holds that have not ended, newest first."""
    return _select(store, Hold, f"WHERE kind = '{HOLD}' AND ended_at IS NULL ORDER BY n DESC")


def hold_of(store: Store, session: Session) -> Hold | None:
    """Returns the hold of the plan that a session follows; None if there is none."""
    found = _select(
        store,
        Hold,
        f"WHERE kind = '{HOLD}' AND ended_at IS NULL AND plan = "
        "(SELECT plan.n FROM plan WHERE plan.n = ? AND state <> 'dismissed')",
        session.plan,
    )
    return found[0] if found else None


def hold_at(store: Store, plan: int | None) -> Hold | None:
    """Returns the hold of a plan, by the number of that; None if there is none."""
    rest = f"WHERE kind = '{HOLD}' AND ended_at IS NULL AND plan = ?"
    found = _select(store, Hold, rest, plan)
    return found[0] if found else None


def plan_file(store: Store, hold: Hold) -> str:
    """Returns the file of the plan of a hold."""
    row = store.one("SELECT path FROM plan WHERE n = ?", hold.plan)
    assert row is not None, "a hold goes with its plan"
    return str(row[0])


# ---------------------------------------------------------------- runs


def runs(store: Store) -> list[Run]:
    """Returns the runs that have not ended, newest first."""
    return _runs(store, f"WHERE kind = '{RUN}' AND ended_at IS NULL ORDER BY n DESC")


def failed_runs(store: Store) -> list[Run]:
    """Returns the runs that ended with a fatal error, if none began in their project since."""
    return _runs(
        store,
        f"WHERE kind = '{RUN}' AND outcome = ? AND n = (SELECT max(n) FROM loop AS last "
        f"WHERE last.kind = '{RUN}' AND last.project = loop.project) ORDER BY n DESC",
        FATAL_ERROR,
    )


def latest_run(store: Store, project: str) -> Run | None:
    """Returns the last run of a project, whether it has ended or not."""
    found = _runs(store, f"WHERE kind = '{RUN}' AND project = ? ORDER BY n DESC LIMIT 1", project)
    return found[0] if found else None


def find_run(store: Store, id: str) -> Run | None:
    """Returns the run, or the worker, with an id; None if there is none."""
    found = _runs(store, f"WHERE kind IN ('{RUN}', '{WORKER}') AND id = ?", id)
    return found[0] if found else None


def workers(store: Store, run: Run) -> list[Worker]:
    """Returns the workers of a run, in the order in which their items began."""
    from sisyphus.loops.runs import Worker

    return _select(
        store, Worker, f"WHERE kind = '{WORKER}' AND id GLOB ? ORDER BY n", f"{run.owner}-*"
    )


def forget_workers(store: Store, run: Work) -> None:
    """Removes the rows of a run's workers: nobody goes on with their items."""
    store.run(f"DELETE FROM loop WHERE kind = '{WORKER}' AND id GLOB ?", f"{run.id}-*")


def run_of(store: Store, session: Session) -> Run | None:
    """Returns the run, or the worker of one, that a session works at; None if it works at none
    now."""
    found = _runs(
        store,
        "WHERE ended_at IS NULL AND n IN (SELECT loop FROM run WHERE session = ? AND client <> '')",
        session.n,
    )
    return found[0] if found else None


# ---------------------------------------------------------------- several kinds


def unended(store: Store) -> list[Work]:
    """Returns the loops, holds and runs that have not ended, each kind newest first."""
    return [*all_live(store), *holds(store), *runs(store)]


def is_any_live(store: Store, id: str, session: int) -> bool:
    """Tells whether the one with an id, or a loop of a session, has not ended."""
    query = "SELECT 1 FROM loop WHERE ended_at IS NULL AND (id = ? OR session = ?)"
    return store.one(query, id, session) is not None


def all_files(store: Store) -> list[str]:
    """Returns the state files that were written of all loops."""
    return [file for (file,) in store.all("SELECT file FROM loop WHERE file <> ''")]


def count_ended(store: Store) -> dict[tuple[str, str], int]:
    """Returns how many have ended, by kind and result."""
    rows = store.all(
        "SELECT kind, outcome, count(*) FROM loop WHERE ended_at IS NOT NULL "
        f"AND kind <> '{WORKER}' GROUP BY 1, 2"
    )
    return {(kind, outcome): count for kind, outcome, count in rows}


def through(
    store: Store, sessions: list[int], most: int, characters: int
) -> list[tuple[int, int, str, str, str, str]]:
    """Returns the loops, holds and runs that went through sessions, by their numbers, the newest
    first: the session, how many there are, and of at most `most` of them the id, the kind, the
    beginning of the prompt, and the result or the status. A session of a worker is one of its
    run."""
    marks = ", ".join("?" * len(sessions))
    return store.all(
        "WITH through (session, loop) AS ("
        f"SELECT session, n FROM loop WHERE session IN ({marks}) "
        f"UNION SELECT session, loop FROM iteration WHERE session IN ({marks}) "
        "UNION SELECT run.session, lead.n FROM run JOIN loop AS own ON own.n = run.loop "
        "JOIN loop AS lead ON lead.id = CASE own.kind "
        f"WHEN '{WORKER}' THEN substr(own.id, 1, instr(own.id, '-') - 1) ELSE own.id END "
        f"WHERE run.session IN ({marks})) "
        "SELECT each.session, amount, id, kind, substr(ltrim(prompt), 1, ?), "
        "iif(outcome = '', status, outcome) FROM (SELECT session, loop, row_number() OVER "
        "(PARTITION BY session ORDER BY loop DESC) AS place, count(*) OVER (PARTITION BY session) "
        "AS amount FROM through) AS each "
        "JOIN loop ON loop.n = each.loop WHERE place <= ? ORDER BY each.session, place",
        *sessions * 3, characters, most,
    )  # fmt: skip


def ended(store: Store, limit: int, project: str = "", results: Collection[str] = ()) -> list[Work]:
    """Returns the loops, holds and runs that ended last, newest first. project: only those of this
    project; "" = of all. results: only those that ended with one of these; none = with any."""
    where = f"kind <> '{WORKER}' AND ended_at IS NOT NULL"
    where += " AND project = ?" if project else ""
    where += f" AND outcome IN ({', '.join('?' * len(results))})" if results else ""
    values: list[Value] = [*([project] if project else []), *results, limit]
    return _select(store, Work, f"WHERE {where} ORDER BY ended_at DESC LIMIT ?", *values)


def ended_since(store: Store, since: float) -> list[Work]:
    """Returns the loops and runs that ended after a time, oldest first."""
    rest = f"WHERE kind NOT IN ('{HOLD}', '{WORKER}') AND ended_at > ? ORDER BY ended_at"
    return _select(store, Work, rest, since)


def to_log(store: Store) -> list[tuple[Work, int]]:
    """Returns those whose start or end is not in `sessions.jsonl`, each with its `logged`."""
    rows = store.all(
        "SELECT id, logged FROM loop WHERE logged = 0 "
        "OR (logged IN (1, 3) AND ended_at IS NOT NULL) "
        "OR (logged = 1 AND left_at IS NOT NULL) ORDER BY n"
    )
    return [(work, logged) for id, logged in rows if (work := find(store, id))]


def note_logged(store: Store, work: Work, logged: int) -> None:
    """Notes which lines of it are in `sessions.jsonl`."""
    store.run("UPDATE loop SET logged = ? WHERE id = ?", logged, work.id)


# ---------------------------------------------------------------- rows and values


def _select(store: Store, kind: type[T], rest: str, *values: Value) -> list[T]:
    """Returns the rows of one class, or of all with `Work`."""
    rows = store.all(f"SELECT {_COLUMNS} FROM loop {rest}", *values)
    return [work for row in rows if isinstance(work := _work(store, row), kind)]


def _runs(store: Store, rest: str, *values: Value) -> list[Run]:
    from sisyphus.loops.runs import Run  # imported late: no Stop needs it

    return _select(store, Run, rest, *values)


def _row(work: Work) -> tuple[Value, ...]:
    """Returns the values of `_COLUMNS`."""
    loop = work if isinstance(work, Loop) else None
    return (
        work.id, work.project, work.prompt, quick_json.dumps(asdict(work.options)),
        work.started_at, quick_json.dumps(asdict(work.counters)), work.status, work.result,
        work.why, work.ended_at, work.kind,
        (loop.session or None) if loop else None, work.plan if isinstance(work, Hold) else None,
        loop.origin if loop else "", loop.left_at if loop else None, loop.file if loop else "",
        loop.stamp if loop else "", work.by_model,
    )  # fmt: skip


def _work(store: Store, row: tuple[Any, ...]) -> Work:
    """Returns the value of a row of `_COLUMNS`, of which the first are what all have in common."""
    common: dict[str, Any] = dict(zip(Work.FIELDS, row, strict=False))
    common["options"] = Options(**quick_json.loads(common["options"]))
    common["counters"] = Counters(**quick_json.loads(common["counters"]))
    kind, session, plan, origin, left_at, file, stamp, by_model = row[len(Work.FIELDS) :]
    if kind == HOLD:
        return Hold(**common, plan=plan)
    if kind in (RUN, WORKER):
        return _run(store, kind, common)
    return Loop(
        **common, session=session or 0, origin=origin, left_at=left_at, file=file, stamp=stamp,
        by_model=bool(by_model),
    )  # fmt: skip


def _run(store: Store, kind: str, common: dict[str, Any]) -> Run:
    from sisyphus.loops.runs import Run, Worker, options_of, state_of  # imported late, too

    columns = ", ".join(_PROCESS)
    query = f"SELECT {columns}, options, state FROM run WHERE {_ROW}"
    *process, options, state = store.one(query, common["id"]) or _NO_ROW
    own: dict[str, Any] = dict(zip(_PROCESS, process, strict=True))
    own["session"] = own["session"] or 0
    setup, stands = options_of(quick_json.loads(options)), state_of(quick_json.loads(state))
    made = Worker if kind == WORKER else Run
    return made(**common, setup=setup, state=stands, **own)


def _save_run(store: Store, run: Any) -> None:
    save_process(store, run)
    store.run(
        f"UPDATE run SET options = ?, state = ? WHERE {_ROW}",
        quick_json.dumps(asdict(run.setup)), quick_json.dumps(asdict(run.state)), run.id,
    )  # fmt: skip
