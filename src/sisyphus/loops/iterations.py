"""The iterations of loops and runs, and their rows in the store."""

from __future__ import annotations

from sisyphus.ground import quick_json
from sisyphus.ground.record import Record, asdict, field
from sisyphus.loops.loop import HOLD, RUN
from sisyphus.sessions import sessions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from sisyphus.ground.store import Store
    from sisyphus.hook.session import Session
    from sisyphus.loops.loop import Work


OF_LOOP = "iteration.loop = (SELECT n FROM loop WHERE id = ?)"
"""The condition that a row of `iteration` is of the loop with an id."""

SAID_CHARACTERS = 1_000
"""The most that is kept of a message."""


class Iteration(Record):
    """One iteration: of a loop or hold, that a Stop has ended; of a run, one client process. The
    fields are those of the table `iteration`, but for the last one.

    number: from 1. at: when it ended, in seconds since 1970. decision, why: how the loop went on,
    and why, in words. tokens: that it used; 0 = unknown, or those of a loop that the same Stop
    ended before. said: the end of the agent's last message; of a run, whose report may go to
    others, masked. seconds: how long it took; 0 = unknown. files: how many changed, of a loop those
    that the agent edited with a tool. percent: of its context, at the most; 0 = unknown. Those
    below are of runs alone.
    item: what it worked on; "" = nothing of a plan. cost: in US dollars, as the client counts.
    denied: the tool calls that the client did not allow, for people. evidence: what stands behind
    the tick of the item, see `boulder/evidence.py`; "" = it is not ticked, or has no box. client:
    the name of the one that made it, which its session knows; "" = unknown.
    """

    number: int
    at: float
    decision: str
    why: str
    tokens: int = 0
    said: str = ""
    seconds: float = 0.0
    files: int = 0
    percent: int = 0
    item: str = ""
    is_done: bool = False
    cost: float = 0.0
    denied: list[str] = field(default_factory=list)
    evidence: str = ""
    client: str = ""


_COLUMNS = tuple(name for name in Iteration.FIELDS if name != "client")


def record(store: Store, loop: Work, session: int, iteration: Iteration) -> None:
    """Adds an iteration. session: the number of the one that made it; 0 = none of ours."""
    values = asdict(iteration) | {"denied": quick_json.dumps(iteration.denied)}
    del values["client"]
    marks = ", ".join("?" * len(values))
    store.run(
        f"INSERT INTO iteration (loop, session, {', '.join(values)}) "
        f"SELECT n, ?, {marks} FROM loop WHERE id = ?",
        session or None, *values.values(), loop.owner,
    )  # fmt: skip


def of(store: Store, loop: Work) -> list[Iteration]:
    """Returns the iterations of a loop, hold or run, oldest first."""
    names = ", ".join(f"iteration.{name}" for name in _COLUMNS)
    rows = store.all(
        f"SELECT coalesce(iteration.session, 0), {names} FROM iteration "
        "JOIN loop ON loop.n = iteration.loop WHERE loop.id = ? ORDER BY iteration.rowid",
        loop.owner,
    )
    clients = sessions.clients_of(store, {session for session, *_ in rows})
    return [
        _iteration(dict(zip(_COLUMNS, row, strict=True)) | {"client": clients.get(session, "")})
        for session, *row in rows
    ]


def made(store: Store, loop: Work) -> int:
    """Returns how many iterations a loop has made: of a run, those that have ended."""
    return count(store, loop) if loop.kind == RUN else loop.counters.iteration


def count(store: Store, loop: Work) -> int:
    """Returns how many iterations of a loop have ended."""
    row = store.one(f"SELECT count(*) FROM iteration WHERE {OF_LOOP}", loop.owner)
    return int(row[0]) if row else 0


def tokens(store: Store, loop: Work) -> int:
    """Returns the tokens that a loop or hold has used. A loop counts those of each Stop, and those
    of loops nested in it. A hold has those of its iterations, which several sessions may make."""
    if loop.kind != HOLD:
        return loop.counters.tokens
    row = store.one(f"SELECT coalesce(sum(tokens), 0) FROM iteration WHERE {OF_LOOP}", loop.owner)
    return int(row[0]) if row else 0


def projects_since(store: Store, since: float, most: int) -> list[str]:
    """Returns the projects in which an iteration has ended since a time, the last one first."""
    rows = store.all(
        "SELECT project, max(iteration.at) FROM iteration JOIN loop ON loop.n = iteration.loop "
        "WHERE iteration.at >= ? GROUP BY project ORDER BY 2 DESC LIMIT ?",
        since, most,
    )  # fmt: skip
    return [project for project, _ in rows]


def sessions_at(store: Store, text: str) -> list[int]:
    """Returns the rows of the sessions that worked at a loop or run with a text in its task, or at
    an item with it. Each task is read once, however many iterations it has."""
    rows = store.all(
        "WITH worked AS (SELECT n, session FROM loop WHERE instr(lower(prompt), lower(?))) "
        "SELECT session FROM worked UNION SELECT session FROM iteration "
        "WHERE loop IN (SELECT n FROM worked) OR instr(lower(item), lower(?))",
        text, text,
    )  # fmt: skip
    return [row[0] for row in rows if row[0] is not None]


def by_session(store: Store, sessions: list[Session]) -> dict[int, tuple[str, int, str]]:
    """Returns the numbers of those of these sessions that an iteration of a run worked in, each
    with the id of the run, the number of the iteration and its item; "" = none. An iteration that
    was made again has several. One of a worker has no number, 0, until it has ended.

    SQLite keeps the order of cross joins. With 2,000 runs the query takes 0.01 s in this order, and
    0.15 s in the one that SQLite would choose.
    """
    rows = store.all(
        "WITH asked AS (SELECT value FROM json_each(?)), "
        "ids AS (SELECT value FROM json_each(?)) "
        "SELECT session, id, number, item FROM (SELECT iteration.session, id, number, item, "
        "iteration.rowid AS place FROM iteration JOIN loop ON loop.n = iteration.loop "
        "WHERE kind = 'run' AND iteration.session IN asked UNION ALL "
        "SELECT run.session, substr(id, 1, 5), "
        "iif(kind = 'worker', 0, json_extract(state, '$.finished') + 1), "
        "json_extract(state, '$.item'), 0 FROM run "
        "JOIN loop ON loop.n = run.loop WHERE run.session IN asked UNION ALL "
        "SELECT each.key, substr(loop.id, 1, 5), "
        "iif(kind = 'worker', 0, json_extract(each.value, '$[0]')), "
        "json_extract(each.value, '$[1]'), 0 FROM run "
        "CROSS JOIN json_each(state, '$.cut_sessions') AS each "
        "CROSS JOIN loop ON loop.n = run.loop WHERE each.key IN ids) ORDER BY place",
        quick_json.dumps([each.n for each in sessions]),
        quick_json.dumps([each.id for each in sessions]),
    )
    numbers: dict[int | str, int] = {each.id: each.n for each in sessions}
    return {numbers.get(key, key): (id, number, item) for key, id, number, item in rows}


def _iteration(row: dict[str, Any]) -> Iteration:
    row |= {"is_done": bool(row["is_done"]), "denied": quick_json.loads(row["denied"])}
    return Iteration(**row)


def as_dict(iteration: Iteration, loop: Work) -> dict[str, Any]:
    """Returns an iteration as `ralph log` shows it with --json."""
    names = ["at", "decision", "why", "tokens", "seconds", "files", "percent"]
    names += ["item", "is_done", "cost", "evidence", "client"] if loop.kind == RUN else []
    return {"iteration": iteration.number} | {name: getattr(iteration, name) for name in names}
