"""The page of all loops, holds and runs, and what every page shows of one."""

from __future__ import annotations

import time
from typing import Any

from sisyphus import attention
from sisyphus.attention import Waiting
from sisyphus.boulder import evidence
from sisyphus.boulder.evidence import UNCHANGED, UNPROVEN
from sisyphus.dashboard import days, paging
from sisyphus.dashboard.page import Desk, Params
from sisyphus.dashboard.paging import Pages
from sisyphus.ground.errors import SisyphusError
from sisyphus.ground.paths import display
from sisyphus.ground.record import Record, asdict
from sisyphus.ground.store import Store
from sisyphus.ground.text import one_line
from sisyphus.hook.session import Session
from sisyphus.loops import loops, runs, user_actions
from sisyphus.loops.loops import (
    ACTIVE,
    BLOCKED,
    CANCELLED,
    FATAL_ERROR,
    HOLD,
    LIMIT,
    LOOP,
    MAX_ITERATIONS,
    PAUSED,
    RUN,
    STUCK,
    SUCCESS,
    UNUSABLE,
    Loop,
)
from sisyphus.loops.runs import Run
from sisyphus.sessions import dialog
from sisyphus.sessions.hooks import FAILURE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from sisyphus.ground.store import Value

LEFT, WAITING = "left", "waiting"
"""States besides the statuses. LEFT: of a loop whose session is over, and of a run whose process is
gone. WAITING: of a loop that is active, and whose session can do nothing without its user."""

_TROUBLES = (FAILURE, dialog.KIND, attention.QUESTION)
"""What such a session waits for, as a kind of `attention`."""

KINDS = (LOOP, RUN, HOLD)
LIVE_STATES = (ACTIVE, WAITING, PAUSED, BLOCKED, STUCK, LEFT)
RESULTS = (SUCCESS, CANCELLED, MAX_ITERATIONS, LIMIT, FATAL_ERROR, UNUSABLE)
PERIODS = ("today", "7 days", "30 days")
"""What the list can be narrowed down to."""

PAGE_ROWS = 50

TASK_CHARACTERS = 200
_WORDS = 10
"""The most words of a search that count."""


class Row(Record, frozen=True):
    """A loop, hold or run in a list.

    state: active, WAITING, paused, blocked, stuck, LEFT or, if it has ended, its result. why: the
    same in words. iteration: the current one; last: of how many, 0 = no limit. done, total: the
    items of a run; failed: how many more of them are ticked, and their checks fail; not_proven: how
    many of those that it did have which evidence that proves nothing. tokens, cost: used so far.
    seconds: how long it has run, without pauses. session: the id of the one that works at it; "" =
    none. is_working: its agent works now, as far as we know. action: what a run's agent did last.
    heard_at: when the agent was last heard of, in seconds since 1970; 0 = it is none, or has no
    session.
    """

    id: str
    kind: str
    task: str
    project: str
    state: str
    why: str
    iteration: int
    last: int
    done: int
    total: int
    failed: int
    not_proven: dict[str, int]
    tokens: int
    cost: float
    seconds: float
    started_at: float
    ended_at: float | None
    session: str
    is_working: bool
    action: str
    heard_at: float


class Filters(Record, frozen=True):
    """What the list is narrowed down to; "" = all.

    q: words that are all in the task, the id or the project. kind: one of KINDS. state: one of
    LIVE_STATES or RESULTS; LIMIT is MAX_ITERATIONS too. project: its folder. since: one of PERIODS;
    what has not ended counts as of now.
    """

    q: str = ""
    kind: str = ""
    state: str = ""
    project: str = ""
    since: str = ""


class Loops(Record, frozen=True):
    """A page of the list.

    projects: the folders in which there are any, the latest first.
    """

    rows: list[Row]
    pages: Pages
    filters: Filters
    projects: list[str]


def query(desk: Desk, params: Params) -> Loops:
    """Returns loops, holds and runs: those that have not ended first, then the others, each the
    newest first."""
    store, now = desk.store, time.time()
    filters = Filters(**{name: params.get(name, "").strip() for name in asdict(Filters())})
    held_up = troubles(attention.waiting(store, now))
    where, values = _where(store, filters, now, held_up)
    count = store.one(f"SELECT count(*) FROM loop WHERE {where}", *values)
    pages = paging.choose(params, count[0] if count else 0, PAGE_ROWS)
    ids = store.all(
        f"SELECT id FROM loop WHERE {where} ORDER BY ended_at IS NOT NULL, "
        "coalesce(ended_at, started_at) DESC, n DESC LIMIT ? OFFSET ?",
        *values, PAGE_ROWS, PAGE_ROWS * (pages.number - 1),
    )  # fmt: skip
    found = [loop for row in ids if (loop := loops.find(store, row[0]))]
    projects = store.all("SELECT project FROM loop GROUP BY project ORDER BY max(n) DESC")
    return Loops(
        rows=[row_of(store, loop, now, held_up) for loop in found],
        pages=pages,
        filters=filters,
        projects=[row[0] for row in projects],
    )


def _where(
    store: Store, filters: Filters, now: float, held_up: Mapping[str, Waiting]
) -> tuple[str, list[Value]]:
    """Returns a condition on rows of `loop`, and its values. Raises `SisyphusError`."""
    parts = ["1"]
    values: list[Value] = []
    for word in filters.q.split()[:_WORDS]:
        escaped = "".join(f"\\{c}" if c in "%_\\" else c for c in word)
        names = ("prompt", "id", "project")
        parts.append(f"({' OR '.join(f'{name} LIKE ? ESCAPE {_ESCAPE}' for name in names)})")
        values += [f"%{escaped}%"] * len(names)
    if filters.kind:
        _need(filters.kind, KINDS, "kind")
        parts.append("kind = ?")
        values.append(filters.kind)
    if filters.project:
        parts.append("project = ?")
        values.append(filters.project)
    if filters.since:
        _need(filters.since, PERIODS, "time")
        parts.append("(ended_at IS NULL OR ended_at >= ?)")
        values.append(_start(filters.since, now))
    if filters.state:
        _need(filters.state, (*LIVE_STATES, *RESULTS), "state")
        parts.append(_has_state(store, filters.state, held_up))
    return " AND ".join(parts), values


_ESCAPE = "'\\'"


def _need(value: str, known: tuple[str, ...], what: str) -> None:
    if value not in known:
        raise SisyphusError(f"There is no such {what}. Give one of {', '.join(known)}.")


def _start(period: str, now: float) -> float:
    """Returns when a period began."""
    if period == "today":
        return days.starts(now, 1)[0]
    return now - int(period.split(maxsplit=1)[0]) * 24 * 3600


def shortest_period(since: float, now: float) -> str:
    """Returns the shortest period that began before a moment, or the longest one."""
    return next((each for each in PERIODS if _start(each, now) <= since), PERIODS[-1])


def _has_state(store: Store, state: str, held_up: Mapping[str, Waiting]) -> str:
    """Returns the condition that a loop is in a state. state: a known one. held_up: see
    `troubles`."""
    if state in RESULTS:
        both = f"'{LIMIT}', '{MAX_ITERATIONS}'"
        return f"outcome IN ({both})" if state == LIMIT else f"outcome = '{state}'"
    left = f"id IN ({', '.join(repr(each.id) for each in _left(store))})"
    if state == LEFT:
        return left
    status = ACTIVE if state == WAITING else state
    condition = f"ended_at IS NULL AND status = '{status}' AND NOT {left}"
    if status != ACTIVE:
        return condition
    sessions = [Session.find(store, id).n for id in held_up]
    waits = f"(kind = '{LOOP}' AND session IN ({', '.join(map(str, sessions))}))"
    return f"{condition} AND {waits}" if state == WAITING else f"{condition} AND {waits} IS NOT 1"


def troubles(waiting: Iterable[Waiting]) -> dict[str, Waiting]:
    """Returns what keeps sessions from working until their users come, by the id of the session.
    waiting: all that waits."""
    return {each.session: each for each in waiting if each.kind in _TROUBLES}


def _left(store: Store) -> list[Loop]:
    """Returns those that are LEFT."""
    live = [*loops.all_live(store), *loops.runs(store)]
    return [loop for loop in live if user_actions.is_left(store, loop)]


def row_of(store: Store, loop: Loop, now: float, held_up: Mapping[str, Waiting]) -> Row:
    """held_up: see `troubles`."""
    if loop.is_run:
        return _of_run(store, loop, now)
    has_no_session = user_actions.is_left(store, loop)
    session = Session.load(store, loop.session)
    is_idle = not session.n or session.idle_since is not None
    is_active = loop.is_active and not has_no_session
    trouble = held_up.get(session.id) if is_active else None
    state = LEFT if has_no_session else WAITING if trouble else loop.result or loop.status
    return Row(
        **_common(loop, now), why=trouble.text if trouble else loop.why, state=state, done=0,
        total=0, failed=0, not_proven={}, cost=0.0, session=session.id, action="",
        heard_at=session.seen_at, is_working=is_active and not trouble and not is_idle,
    )  # fmt: skip


def _of_run(store: Store, loop: Loop, now: float) -> Row:
    run = runs.of(store, loop)
    stands = run.state
    is_at_work = run.is_at_work
    has_no_process = loop.is_active and not is_at_work
    last = run.action if is_at_work else stands.action
    iteration = loop.counters.iteration if loop.ended_at is None else stands.finished
    return Row(
        **_common(loop, now) | {"seconds": run.seconds(now), "iteration": iteration}, why=loop.why,
        state=LEFT if has_no_process else loop.result or loop.status,
        done=len(stands.done), total=stands.total, cost=stands.cost,
        failed=sum(item in stands.failed for item in stands.todo),
        not_proven=_not_proven(run),
        session=Session.load(store, run.session).id,
        is_working=loop.is_active and not has_no_process,
        action=action(*last.partition(" ")[::2], loop.project), heard_at=run.heard_at,
    )  # fmt: skip


def _not_proven(run: Run) -> dict[str, int]:
    """Returns how many items of a run are ticked though nothing proves them, by evidence."""
    items = (item for item in run.state.done if item not in run.state.before)
    found = evidence.counts(run.state.evidence.get(item, "") for item in items)
    return {word: found[word] for word in (UNCHANGED, UNPROVEN) if word in found}


def action(tool: str, target: str, project: str) -> str:
    """Says on a line what an agent did. target: what the tool worked on, a path as people write
    it."""
    return one_line(f"{tool} {display(target, project)}", TASK_CHARACTERS)


def _common(loop: Loop, now: float) -> dict[str, Any]:
    counters = loop.counters
    return {
        "id": loop.id, "kind": loop.kind, "task": one_line(loop.task, TASK_CHARACTERS),
        "project": loop.project, "iteration": counters.iteration,
        "last": loop.options.max_iterations, "tokens": counters.tokens,
        "seconds": loop.seconds(now), "started_at": loop.started_at, "ended_at": loop.ended_at,
    }  # fmt: skip


def live(store: Store, now: float, held_up: Mapping[str, Waiting]) -> list[Row]:
    """Returns all that have not ended, the newest first. held_up: see `troubles`."""
    found = [*loops.all_live(store), *loops.holds(store), *loops.runs(store)]
    rows = [row_of(store, loop, now, held_up) for loop in found]
    return sorted(rows, key=lambda row: -row.started_at)
