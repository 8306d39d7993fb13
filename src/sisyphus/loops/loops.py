"""A loop, a hold or a run: its options, its progress, and its row in the store.

The row is authoritative. A session may have several loops that have not ended. The last is its
current loop, and the earlier ones wait for it.

A hold is a loop without a session, a task or a promise. It holds every session that follows its
plan until the plan is complete (`boulder/holds.py`).
"""

from __future__ import annotations

import os

from sisyphus.ground import quick_json
from sisyphus.ground.record import Record, asdict, field
from sisyphus.hook.session import Session

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from sisyphus.ground.store import Store, Value

LOOP, HOLD, RUN = "loop", "hold", "run"
"""Kinds of rows."""

ACTIVE, PAUSED, BLOCKED, STUCK, ENDED = "active", "paused", "blocked", "stuck", "ended"
"""Statuses. A loop blocks its session's Stops while it is active. PAUSED: by the user. BLOCKED:
the agent needs something from the user. STUCK: by the breaker, or at the client's limit of blocked
Stops."""

SUCCESS, CANCELLED, MAX_ITERATIONS, LIMIT = "success", "cancelled", "max_iterations", "limit"
FATAL_ERROR, UNUSABLE = "fatal_error", "error"
"""Results of a loop that has ended. FATAL_ERROR: of runs alone. UNUSABLE: its row in the database
could not be used any more."""

ABANDONED = "abandoned"
"""What `sessions.jsonl` says of a loop whose session is over. The loop has not ended."""

DEFAULT_ITERATIONS = 100
DEFAULT_MINUTES = 24 * 60
"""The default limits. A loop that nobody watches must end some day."""

UNBOUNDED_ITERATIONS = 20
"""The iteration limit of a loop without a promise, a check, a plan or a limit of its own."""

MAX_DEPTH = 5
"""The most loops that a session may have at once. Only the model nests loops in each other."""

PROMISE_CHARACTERS = 200
"""The longest promise. Each reply to a Stop repeats it, and a reply must fit into a pipe."""

_ID_CHARACTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
_COLUMNS = (
    "id, session, project, prompt, options, started_at, origin, counters, status, outcome, "
    "why, ended_at, left_at, file, stamp, by_model, kind, plan"
)


class Options(Record):
    """What ends a loop, as its user asked for it; 0 = no limit, "" = nothing.

    verify: a shell command that must exit 0. verify_plan: the session's plan must be complete.
    wait_for_user: the agent may stop to ask a question.
    """

    promise: str = ""
    max_iterations: int = DEFAULT_ITERATIONS
    max_minutes: int = DEFAULT_MINUTES
    max_tokens: int = 0
    verify: str = ""
    verify_plan: bool = False
    wait_for_user: bool = False


class Counters(Record):
    """How far a loop is.

    iteration: the current one, from 1.
    tokens: used so far by the main agent.
    evidence: the files of its check → their digests at the start (`loops/check_files.py`).
    paused_at, paused_seconds: pauses, which do not count towards max_minutes. resumed_at: the end
    of the last one; 0 = there was none.
    is_untold: the agent has not heard of it: it was started outside of the session, and nothing was
    sent yet.
    foreign: keys that other programs added to its state file; we keep them.
    """

    iteration: int = 1
    tokens: int = 0
    evidence: dict[str, str] = field(default_factory=dict)
    paused_at: float = 0.0
    paused_seconds: float = 0.0
    resumed_at: float = 0.0
    is_untold: bool = False
    foreign: dict[str, Any] = field(default_factory=dict)


class Loop(Record):
    """One loop, hold or run.

    session: the number of the session's row; 0 for a hold and a run.
    prompt: the task; of a hold, a sentence for lists.
    origin: the client's id of the prompt, tool call or line that started it; "" = a command line.
    result: one of the results above; "" = it has not ended.
    why: the result in words, or why the loop is paused.
    left_at: when we found that its session was over; None = it is not, as far as we know.
    file, stamp: its state file as last written; "" = it has none.
    by_model: the model started it, not the user.
    kind: LOOP, HOLD or RUN. plan: the number of a hold's plan, else None.
    """

    id: str
    session: int
    project: str
    prompt: str
    options: Options
    started_at: float
    origin: str = ""
    counters: Counters = field(default_factory=Counters)
    status: str = ACTIVE
    result: str = ""
    why: str = ""
    ended_at: float | None = None
    left_at: float | None = None
    file: str = ""
    stamp: str = ""
    by_model: bool = False
    kind: str = LOOP
    plan: int | None = None

    @property
    def is_hold(self) -> bool:
        return self.kind == HOLD

    @property
    def is_run(self) -> bool:
        return self.kind == RUN

    @property
    def is_active(self) -> bool:
        return self.status == ACTIVE

    @property
    def is_stalled(self) -> bool:
        """Tells whether the model started it, and it is paused or stuck. What waits for it then
        decides, or the model could free a session from what its user set up."""
        return self.by_model and self.status in (PAUSED, STUCK)

    @property
    def task(self) -> str:
        """Returns the first line of the prompt that is not blank."""
        return next((line.strip() for line in self.prompt.splitlines() if line.strip()), "")

    def seconds(self, now: float) -> float:
        """Returns how long it has run, without its pauses."""
        end = self.counters.paused_at or self.ended_at or now
        return max(0.0, end - self.started_at - self.counters.paused_seconds)

    def limit(self, now: float, tokens: int = 0) -> tuple[str, str] | None:
        """Returns the result with which it ends at a limit, and why; None = it has reached none.
        tokens: used by all agents in it."""
        options = self.options
        if options.max_iterations and self.counters.iteration >= options.max_iterations:
            return MAX_ITERATIONS, f"iteration {self.counters.iteration} was the last"
        if options.max_minutes and self.seconds(now) >= options.max_minutes * 60:
            return LIMIT, f"its {options.max_minutes:,} minutes are up"
        if options.max_tokens and tokens >= options.max_tokens:
            return LIMIT, f"its {options.max_tokens:,} tokens are used up"
        return None

    def end(self, result: str, why: str, now: float) -> None:
        self.status, self.result, self.why, self.ended_at = ENDED, result, why, now

    def pause(self, status: str, why: str, now: float) -> None:
        self.status, self.why = status, why
        self.counters.paused_at = self.counters.paused_at or now

    def resume(self, now: float) -> None:
        """Makes it active again."""
        counters = self.counters
        if counters.paused_at:
            counters.paused_seconds += now - counters.paused_at
            counters.resumed_at = now
        counters.paused_at = 0.0
        self.status, self.why = ACTIVE, ""


def new_id() -> str:
    """Returns five random letters and digits: 900 million ids."""
    number = int.from_bytes(os.urandom(8))
    return "".join(_ID_CHARACTERS[number // 62**place % 62] for place in range(5))


def insert(store: Store, loop: Loop) -> None:
    marks = ", ".join("?" for _ in _COLUMNS.split(","))
    logged = 2 if loop.is_hold else 0  # `sessions.jsonl` has no holds
    store.run(f"INSERT INTO loop ({_COLUMNS}, logged) VALUES ({marks}, {logged})", *_row(loop))


def save(store: Store, loop: Loop) -> None:
    sets = ", ".join(f"{column.strip()} = ?" for column in _COLUMNS.split(","))
    store.run(f"UPDATE loop SET {sets} WHERE id = ?", *_row(loop), loop.id)


def cancel(store: Store, loop: Loop, why: str, now: float) -> None:
    """Ends a loop or hold because its user says so, or starts another in its place."""
    loop.end(CANCELLED, why, now)
    save(store, loop)


def current(store: Store, session: Session) -> Loop | None:
    """Returns the session's current loop: the last that has not ended. One that is stalled is
    skipped if another waits for it."""
    loops = live(store, session)
    while len(loops) > 1 and loops[-1].is_stalled:
        loops.pop()
    return loops[-1] if loops else None


def waits_for(store: Store, loop: Loop) -> Loop | None:
    """Returns the loop that has to end before this one, which is active, goes on; None = none."""
    inner = current(store, Session.load(store, loop.session))
    return inner if inner and inner.id != loop.id else None


def live(store: Store, session: Session) -> list[Loop]:
    """Returns the loops of a session that have not ended, oldest first."""
    return _select(store, "WHERE session = ? AND ended_at IS NULL ORDER BY n", session.n)


def all_live(store: Store) -> list[Loop]:
    """Returns the loops of all sessions that have not ended, newest first."""
    return _select(store, "WHERE kind = 'loop' AND ended_at IS NULL ORDER BY n DESC")


def hold_of(store: Store, session: Session) -> Loop | None:
    """Returns the hold of the plan that a session follows; None if there is none."""
    holds = _select(
        store,
        "WHERE kind = 'hold' AND ended_at IS NULL AND plan = "
        "(SELECT plan.n FROM plan WHERE plan.n = ? AND state <> 'dismissed')",
        session.plan,
    )
    return holds[0] if holds else None


def holds(store: Store) -> list[Loop]:
    """Returns the holds that have not ended, newest first."""
    return _select(store, "WHERE kind = 'hold' AND ended_at IS NULL ORDER BY n DESC")


def runs(store: Store) -> list[Loop]:
    """Returns the runs that have not ended, newest first."""
    return _select(store, "WHERE kind = 'run' AND ended_at IS NULL ORDER BY n DESC")


def failed_runs(store: Store) -> list[Loop]:
    """Returns the runs that ended with a fatal error, if none began in their project since."""
    return _select(
        store,
        "WHERE kind = 'run' AND outcome = ? AND n = (SELECT max(n) FROM loop AS last "
        "WHERE last.kind = 'run' AND last.project = loop.project) ORDER BY n DESC",
        FATAL_ERROR,
    )


def last_run(store: Store, project: str, since: float) -> Loop | None:
    """Returns the last run of a project, if it ended after a time."""
    found = _select(
        store,
        "WHERE kind = 'run' AND ended_at > ? AND n = (SELECT max(n) FROM loop AS last "
        "WHERE last.kind = 'run' AND last.project = ?)",
        since, project,
    )  # fmt: skip
    return found[0] if found else None


def run_of(store: Store, session: Session) -> Loop | None:
    """Returns the run that a session works at; None if it works at none now."""
    found = _select(
        store,
        "WHERE ended_at IS NULL AND n IN (SELECT loop FROM run WHERE session = ? AND client <> '')",
        session.n,
    )
    return found[0] if found else None


def plan_file(store: Store, hold: Loop) -> str:
    """Returns the file of the plan of a hold."""
    row = store.one("SELECT path FROM plan WHERE n = ?", hold.plan)
    assert row is not None, "a hold goes with its plan"
    return str(row[0])


def ended(store: Store, limit: int) -> list[Loop]:
    """Returns the loops that ended last, newest first."""
    return _select(store, "WHERE ended_at IS NOT NULL ORDER BY ended_at DESC LIMIT ?", limit)


def ended_since(store: Store, since: float) -> list[Loop]:
    """Returns the loops that ended after a time, oldest first; holds are none."""
    return _select(store, "WHERE kind <> 'hold' AND ended_at > ? ORDER BY ended_at", since)


def find(store: Store, id: str) -> Loop | None:
    loops = _select(store, "WHERE id = ?", id)
    return loops[0] if loops else None


def of_sessions_that_are_over(store: Store) -> list[Loop]:
    """Returns the loops that have not ended though their session has, or its process is gone; only
    those that were not found so before."""
    found = _select(
        store, "WHERE kind = 'loop' AND ended_at IS NULL AND left_at IS NULL ORDER BY n"
    )
    return [loop for loop in found if Session.load(store, loop.session).is_over]


def left_in(store: Store, project: str) -> list[Loop]:
    """Returns the loops of a project that were left behind, the last one last."""
    query = (
        "SELECT id FROM loop WHERE kind = 'loop' AND ended_at IS NULL AND left_at IS NOT NULL "
        "AND project = ? ORDER BY left_at, n"
    )
    return [loop for (id,) in store.all(query, project) if (loop := find(store, id))]


def delete(store: Store, loop: Loop) -> None:
    store.run("DELETE FROM loop WHERE id = ?", loop.id)


def has_started(store: Store, origins: frozenset[str]) -> bool:
    """Tells whether one of these origins has started a loop, in any session."""
    marks = ", ".join("?" * len(origins))
    return store.one(f"SELECT 1 FROM loop WHERE origin IN ({marks})", *origins) is not None


def latest_end(store: Store, session: Session) -> float:
    """Returns when the last loop of a session ended; 0 = none has."""
    row = store.one("SELECT max(ended_at) FROM loop WHERE session = ?", session.n)
    return float(row[0] or 0.0) if row else 0.0


def _select(store: Store, rest: str, *values: Value) -> list[Loop]:
    return [_loop(row) for row in store.all(f"SELECT {_COLUMNS} FROM loop {rest}", *values)]


def _row(loop: Loop) -> tuple[Value, ...]:
    """Returns the values in the order of `_COLUMNS`, which is the order of the fields."""
    values = {name: getattr(loop, name) for name in Loop.FIELDS}
    values["options"] = quick_json.dumps(asdict(loop.options))
    values["counters"] = quick_json.dumps(asdict(loop.counters))
    values["session"] = loop.session or None
    return tuple(values.values())


def _loop(row: tuple[Any, ...]) -> Loop:
    loop = Loop(*row)
    loop.options = Options(**quick_json.loads(str(loop.options)))
    loop.counters = Counters(**quick_json.loads(str(loop.counters)))
    loop.by_model = bool(loop.by_model)
    loop.session = loop.session or 0
    return loop
