"""What a run remembers between two iterations, and its rows in the store.

The row of `loop` has what a run has in common with loops, the row of `run` the rest, and each
iteration its own row.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import Any

from sisyphus.ralph import loop as loops
from sisyphus.ralph.loop import Loop
from sisyphus.runner.options import RunOptions
from sisyphus.store import Store


@dataclass(slots=True, eq=False, repr=False)
class RunState:
    """Where a run stands.

    plan: the file with the items; "" = none. item: what the current iteration works on.
    todo, done: the items as last read. blocked: items → what the agent needs for them.
    gone: items that left the plan before they were done. before: those that were done when the run
    began.
    is_working: an iteration has begun, and its end is not noted. began_at: its begin.
    resume: the resume block that the next iteration gets; "" = none. checkpoint: the
    `context_checkpoint` of `ralph-state.json`; {} = none yet.
    action: what the agent did last. refused, tail: why the work did not count as done though it
    was said to be, and what the check printed. check_changed: files of the check that changed.
    stops: the counters of the breaker (`sessions.stops.Stops`). diff: a fingerprint of the last
    changes. errors: fingerprints of the last errors.
    cost: in dollars. head: git's HEAD when the run began; "" = no git.
    audits: rounds so far; clean_audits: the last ones in a row that found nothing; first_audit: the
    rounds before the run was last resumed.
    waits_until, waits_for: for an account's limit and the like; 0, "" = it does not wait. tries:
    the processes in a row that failed so.
    finished: how many iterations have ended. is_auditing: the next process is an auditor's.
    """

    plan: str = ""
    item: str = ""
    todo: list[str] = field(default_factory=list)
    done: list[str] = field(default_factory=list)
    blocked: dict[str, str] = field(default_factory=dict)
    gone: list[str] = field(default_factory=list)
    before: list[str] = field(default_factory=list)
    is_working: bool = False
    began_at: float = 0.0
    resume: str = ""
    checkpoint: dict[str, Any] = field(default_factory=dict)
    action: str = ""
    refused: str = ""
    tail: str = ""
    check_changed: list[str] = field(default_factory=list)
    stops: dict[str, Any] = field(default_factory=dict)
    diff: str = ""
    errors: list[str] = field(default_factory=list)
    cost: float = 0.0
    head: str = ""
    audits: int = 0
    clean_audits: int = 0
    first_audit: int = 0
    waits_until: float = 0.0
    waits_for: str = ""
    tries: int = 0
    finished: int = 0
    is_auditing: bool = False


@dataclass(slots=True, eq=False, repr=False)
class Run:
    """A run. session: the number of the row of the session that works at it, or did last; 0 = none
    yet. runner, client: our process and the client's, "PID START"; "" = none."""

    loop: Loop
    options: RunOptions
    state: RunState = field(default_factory=RunState)
    session: int = 0
    runner: str = ""
    client: str = ""


@dataclass(slots=True, eq=False, repr=False)
class Iteration:
    """One iteration of a run, as it is recorded. The fields are those of the table `iteration`."""

    number: int
    at: float
    decision: str
    why: str
    tokens: int = 0
    item: str = ""
    is_done: bool = False
    said: str = ""
    seconds: float = 0.0
    files: int = 0
    percent: int = 0
    cost: float = 0.0
    denied: list[str] = field(default_factory=list)


def insert(store: Store, run: Run) -> None:
    loops.insert(store, run.loop)
    store.run(
        "INSERT INTO run (loop, session, runner, client, options, state) "
        "SELECT n, NULL, ?, '', ?, ? FROM loop WHERE id = ?",
        run.runner, json.dumps(asdict(run.options)), json.dumps(asdict(run.state)), run.loop.id,
    )  # fmt: skip


def save(store: Store, run: Run) -> None:
    loops.save(store, run.loop)
    store.run(
        "UPDATE run SET session = ?, runner = ?, client = ?, options = ?, state = ? "
        "WHERE loop = (SELECT n FROM loop WHERE id = ?)",
        run.session or None, run.runner, run.client, json.dumps(asdict(run.options)),
        json.dumps(asdict(run.state)), run.loop.id,
    )  # fmt: skip


def save_process(store: Store, run: Run) -> None:
    """Saves who works at the run, and nothing else: the user may change the rest meanwhile."""
    store.run(
        "UPDATE run SET session = ?, runner = ?, client = ? "
        "WHERE loop = (SELECT n FROM loop WHERE id = ?)",
        run.session or None, run.runner, run.client, run.loop.id,
    )  # fmt: skip


def find(store: Store, id: str) -> Run | None:
    """Returns the run with the id of its loop; None if there is none."""
    loop = loops.find(store, id)
    row = store.one(
        "SELECT session, runner, client, options, state FROM run "
        "WHERE loop = (SELECT n FROM loop WHERE id = ?)",
        id,
    )
    if loop is None or row is None:
        return None
    session, runner, client, options, state = row
    return Run(
        loop,
        RunOptions(**json.loads(options)),
        RunState(**json.loads(state)),
        session or 0,
        runner,
        client,
    )


def latest(store: Store, project: str) -> Run | None:
    """Returns the last run of a project, whether it has ended or not."""
    row = store.one(
        "SELECT id FROM loop WHERE kind = 'run' AND project = ? ORDER BY n DESC LIMIT 1", project
    )
    return find(store, row[0]) if row else None


def record(store: Store, run: Run, iteration: Iteration) -> None:
    """Adds an iteration of the run."""
    values = {name: getattr(iteration, name) for name in Iteration.__slots__}
    values["denied"] = json.dumps(iteration.denied)
    marks = ", ".join("?" * len(values))
    store.run(
        f"INSERT INTO iteration (loop, session, {', '.join(values)}) "
        f"SELECT n, ?, {marks} FROM loop WHERE id = ?",
        run.session or None, *values.values(), run.loop.id,
    )  # fmt: skip


def iterations(store: Store, id: str) -> list[Iteration]:
    """Returns the iterations of a run, oldest first."""
    names = ", ".join(f"iteration.{name}" for name in Iteration.__slots__)
    rows = store.all(
        f"SELECT {names} FROM iteration JOIN loop ON loop.n = iteration.loop "
        "WHERE loop.id = ? ORDER BY iteration.rowid",
        id,
    )
    found = [Iteration(*row) for row in rows]
    for each in found:
        each.is_done = bool(each.is_done)
        each.denied = json.loads(str(each.denied))
    return found
