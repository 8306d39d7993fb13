"""The page of all loops, holds and runs, and what every page shows of one."""

from __future__ import annotations

import time

from sisyphus import work
from sisyphus.dashboard import days, paging
from sisyphus.dashboard.page import Desk, Params
from sisyphus.dashboard.paging import Pages
from sisyphus.ground.errors import SisyphusError
from sisyphus.ground.record import Record, asdict
from sisyphus.ground.store import Store
from sisyphus.loops import loops
from sisyphus.loops.loop import (
    ACTIVE,
    BLOCKED,
    HOLD,
    LIMIT,
    LOOP,
    MAX_ITERATIONS,
    PAUSED,
    RESULTS,
    RUN,
    STUCK,
    WORKER,
)
from sisyphus.work import LEFT, WAITING, Status

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus.ground.store import Value

KINDS = (LOOP, RUN, HOLD)
LIVE_STATES = (ACTIVE, WAITING, PAUSED, BLOCKED, STUCK, LEFT)
PERIODS = ("today", "7 days", "30 days")
"""What the list can be narrowed down to."""

PAGE_ROWS = 50

TASK_CHARACTERS = 200
_WORDS = 10
"""The most words of a search that count."""


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

    rows: list[Status]
    pages: Pages
    filters: Filters
    projects: list[str]


def query(desk: Desk, params: Params) -> Loops:
    """Returns loops, holds and runs: those that have not ended first, then the others, each the
    newest first."""
    store, now = desk.store, time.time()
    filters = Filters(**{name: params.get(name, "").strip() for name in asdict(Filters())})
    where, values = _where(store, filters, now)
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
        rows=[work.of(store, loop, now) for loop in found],
        pages=pages,
        filters=filters,
        projects=[row[0] for row in projects],
    )


def _where(store: Store, filters: Filters, now: float) -> tuple[str, list[Value]]:
    """Returns a condition on rows of `loop`, and its values. Raises `SisyphusError`."""
    parts = [f"kind <> '{WORKER}'"]  # the page of its run shows it
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
        parts.append(_has_state(store, filters.state, now))
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


def _has_state(store: Store, state: str, now: float) -> str:
    """Returns the condition that a loop is in a state. state: a known one."""
    if state in RESULTS:
        both = f"'{LIMIT}', '{MAX_ITERATIONS}'"
        return f"outcome IN ({both})" if state == LIMIT else f"outcome = '{state}'"
    ids = [repr(each.id) for each in work.live(store, now) if each.state == state]
    return f"id IN ({', '.join(ids)})"
