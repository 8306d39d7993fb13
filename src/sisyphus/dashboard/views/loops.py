"""Loops to choose from: which there are, in which order, a page of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from sisyphus.numbers import count
from sisyphus.paths import project_id
from sisyphus.ralph import iterations
from sisyphus.ralph.checklists import checklist_store, criteria
from sisyphus.times import epoch, is_before

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from sisyphus._types import Json
    from sisyphus.dashboard.desk import Desk
    from sisyphus.ralph.past.records import Record

ACTIVE, ARCHIVED, ALL = "active", "archived", "all"
STATES = (ACTIVE, ARCHIVED, ALL)
NEWEST, OLDEST, ENDED, LONGEST, ITERATIONS, PROJECT = (
    "newest", "oldest", "ended", "longest", "iterations", "project",
)  # fmt: skip
SORTS = (NEWEST, OLDEST, ENDED, LONGEST, ITERATIONS, PROJECT)

COUNT, MOST = 50, 500
"""Rows of a page: usually, and at most."""

_OF_ACTIVE = (
    "status", "health", "paused_by", "waiting", "description", "is_outer", "tokens", "last_stop_at",
    "paused_since",
)  # fmt: skip


class Project(NamedTuple):
    id: str
    name: str
    root: str


class Listing(NamedTuple):
    """`rows`: of this page, what `row` gives. `total`: on all pages. `counts`: by state, whatever
    their outcome. `projects` and `outcomes`: what may be asked for in this state."""

    rows: list[Json]
    total: int
    page: int
    pages: int
    counts: dict[str, int]
    projects: list[Project]
    outcomes: list[str]


def chosen(  # one a field of the form
    desk: Desk,
    *,
    state: str = ACTIVE,
    q: str = "",
    project: str = "",
    outcome: str = "",
    sort: str = NEWEST,
    page: int = 1,
    count: int = COUNT,
) -> Listing:
    """`q`: words that all stand in a loop's texts; `project`: its id; what is none of the known
    states and orders is the first of them. A page behind the last is the last."""
    every, count = desk.history(), min(max(count, 1), MOST)
    projects = _projects(every)
    asked = _matching(every, q, {p.root for p in projects if p.id == project} if project else None)
    in_state = [one for one in asked if _is_in(one, state)]
    outcomes = {one.result for one in in_state}
    found = [one for one in in_state if outcome in ("", one.result)]
    pages = max(-(-len(found) // count), 1)
    page = min(max(page, 1), pages)
    ordered = _sorted(desk, found, sort)
    return Listing(
        rows=rows(desk, ordered[(page - 1) * count : page * count]),
        total=len(found),
        page=page,
        pages=pages,
        counts={name: sum(_is_in(one, name) for one in asked) for name in STATES},
        projects=projects,
        outcomes=sorted(outcomes | ({outcome} - {""})),
    )


def rows(desk: Desk, records: Iterable[Record]) -> list[Json]:
    """Each record with `project_id`, `result`, `is_active`, `seconds` (at work), `tokens` (None =
    nobody counted), `checklist` (`done` of `total`, None = it has none) and, of one that has not
    ended, `live`: what `ralph list --json` has of it."""
    live = by_name(desk.loops())
    return [_row(desk, record, live) for record in records]


def by_name(listed: Iterable[Json]) -> dict[tuple[str, str], Json]:
    """Ids of five letters may meet again: two sessions may each have a loop of the same id."""
    return {(row["loop_id"], row["session_id"]): row for row in listed}


def seconds(record: Record, live: Json | None, now: float) -> float | None:
    """How long it was at work, its pauses not counted; None = nobody knows. `live`: its row of
    `ralph list --json`, while it has not ended."""
    if live:
        worked: float | None = live["work_seconds"]
        return worked
    if record.is_active and (began := epoch(record.started_at)):
        return max(now - began, 0)
    return record.duration_seconds


def live_row(record: Record, live: Mapping[tuple[str, str], Json]) -> Json | None:
    """None of a loop that has ended."""
    return live.get((record.loop_id, record.session_id)) if record.is_active else None


def of_moment(live: Json | None) -> Json | None:
    """What the list shows of a loop that has not ended."""
    return {name: live[name] for name in _OF_ACTIVE} if live else None


def _noted(ours: str, record: Record, live: Json | None) -> Json:
    """`iterations` and `tokens`; of a loop that is over, as far as its iterations tell."""
    if live:
        return {"iterations": record.iterations, "tokens": live["tokens"]}
    rows = [row for row in iterations.rows(ours, record.loop_id) if _is_of(row, record)]
    numbers = [n for row in rows if (n := count(row.get("iteration")))]
    spent = [n for row in rows if (n := count(row.get("tokens"))) is not None]
    last = max(numbers, default=None) if record.iterations is None else record.iterations
    return {"iterations": last, "tokens": sum(spent) if spent else None}


def _is_of(row: Json, record: Record) -> bool:
    """Not another loop's of the same id, as far as its time tells."""
    at = row.get("ended_at")
    if not isinstance(at, str):
        return True
    return at >= record.started_at and (not record.ended_at or at <= record.ended_at)


def progress(ours: str, loop_id: str) -> Json | None:
    """How many criteria of a loop's checklist are done."""
    found = criteria.listed(checklist_store.read(ours, loop_id) or {})
    return {"done": sum(c.is_done for c in found), "total": len(found)} if found else None


def _row(desk: Desk, record: Record, live: Mapping[tuple[str, str], Json]) -> Json:
    mine = live_row(record, live)
    return {
        **record.as_json(),
        "project_id": project_id(record.project) if record.project else "",
        "result": record.result,
        "is_active": record.is_active,
        "seconds": seconds(record, mine, desk.now()),
        **_noted(desk.ours, record, mine),
        "checklist": progress(desk.ours, record.loop_id),
        "live": of_moment(mine),
    }


def _projects(records: Iterable[Record]) -> list[Project]:
    """By name; without those whose folder is not known."""
    names = {one.project: one.project_name for one in records if one.project}
    found = [Project(project_id(root), name or root, root) for root, name in names.items()]
    return sorted(found, key=lambda one: (one.name.casefold(), one.root))


def _matching(records: Sequence[Record], q: str, roots: set[str] | None) -> Sequence[Record]:
    words = q.casefold().split()
    if roots is not None:
        records = [one for one in records if one.project in roots]
    return [one for one in records if _has(one, words)] if words else records


def _has(record: Record, words: Sequence[str]) -> bool:
    texts = (
        record.loop_id, record.task, record.completion_promise, record.project_name,
        record.error_reason,
    )  # fmt: skip
    text = "\n".join(filter(None, texts)).casefold()
    return all(word in text for word in words)


def _is_in(record: Record, state: str) -> bool:
    return state == ALL or record.is_active is (state != ARCHIVED)


def _sorted(desk: Desk, found: list[Record], sort: str) -> list[Record]:
    """`found` is sorted by age already, and stays so among equals. What is not known comes last."""
    if sort == OLDEST:
        return found[::-1]
    if sort == ENDED:
        return sorted(found, key=_end, reverse=True)
    if sort == LONGEST:
        moment, live = desk.now(), by_name(desk.loops())
        return sorted(found, key=lambda one: -_or_less(seconds(one, live_row(one, live), moment)))
    if sort == ITERATIONS:
        return sorted(found, key=lambda one: -_or_less(one.iterations))
    if sort == PROJECT:
        return sorted(found, key=lambda one: (not one.project, one.project_name.casefold()))
    return found


def _end(record: Record) -> str:
    """What is no time is no end."""
    return "" if record.is_active or is_before(record.ended_at, "") else record.ended_at


def _or_less(value: float | None) -> float:
    return -1 if value is None else value
