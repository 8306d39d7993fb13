"""The page of all plans, and the page of one."""

from __future__ import annotations

import time

from sisyphus.boulder import messages, plan_status, plans, ticks
from sisyphus.boulder.evidence import FAILED as CHECK_FAILS
from sisyphus.boulder.plan import FAILED, Plan
from sisyphus.boulder.plan_status import STALE, PlanStatus
from sisyphus.boulder.plans import ACTIVE, DISMISSED, MISSING, PlanRecord
from sisyphus.boulder.ticks import Tick
from sisyphus.dashboard import checks, paging
from sisyphus.dashboard.checks import Checks
from sisyphus.dashboard.page import Desk, NotThereError, Params
from sisyphus.ground.record import Record
from sisyphus.ground.store import Store
from sisyphus.ground.text import moment
from sisyphus.hook.session import Session
from sisyphus.loops import loops
from sisyphus.sessions import sessions

_TASKS = 500
_SESSIONS = 50
_HISTORY = 50
"""The most that the page of a plan shows."""


class PlanRow(Record, frozen=True):
    """A plan in the list, as we last saw it.

    number: of its row. state: of its record, or STALE. failed: how many more tasks are ticked, and
    their checks fail. used_at: 0 = no session has worked on it.
    sessions: the ids of the open ones that follow it, the last used first. hold: the id of its
    hold; "" = it has none.
    """

    number: int
    name: str
    file: str
    state: str
    completed: int
    total: int
    failed: int
    next_task: str
    used_at: float
    sessions: list[str]
    hold: str


class Project(Record, frozen=True):
    """The plans of a project. open: those with work, the last used first. others: those that are
    complete or cleared."""

    project: str
    open: list[PlanRow]
    others: list[PlanRow]


class Plans(Record, frozen=True):
    """All plans. The project with the plan that was used last comes first, those with none open
    last."""

    projects: list[Project]


class TaskLine(Record, frozen=True):
    """status: of `boulder.plan`. line: in the file, from 1. evidence: what stands behind its tick,
    see `boulder/evidence.py`; "" = it is not ticked, or nobody knows."""

    text: str
    status: str
    line: int
    evidence: str
    checks: Checks


class Story(Record, frozen=True):
    """A story, with its tasks in the order of the file. id: "" = tasks that belong to none."""

    id: str
    title: str
    completed: int
    total: int
    tasks: list[TaskLine]


class Wave(Record, frozen=True):
    """A wave. number: None = tasks that belong to none. is_current: the next task is in it."""

    number: int | None
    name: str
    completed: int
    total: int
    is_current: bool
    stories: list[Story]


class Note(Record, frozen=True):
    """A checkpoint. at: 0 = unknown. is_automatic: we wrote it. wave, story: where the user said
    that they were."""

    at: float
    message: str
    is_automatic: bool
    wave: int | None
    story: str


class Entry(Record, frozen=True):
    """What happened to a plan, and how far it was."""

    at: float
    what: str
    completed: int
    total: int


class Todo(Record, frozen=True):
    """An entry of the agent's own list."""

    text: str
    status: str


class Follower(Record, frozen=True):
    """A session that followed the plan. seen_at: its last event; None = it is not known any
    more. is_here: it follows the plan now."""

    id: str
    seen_at: float | None
    is_here: bool


class PlanPage(Record, frozen=True):
    """A plan, as its file is now.

    problem: why there are no tasks; "" = the file was read. tasks are in waves, at most 500 of
    them; more: how many others. failed: how many more than the completed ones are ticked, and their
    checks fail. evidence: what stands behind the ticks, by task. checks: of the whole plan. notes:
    the checkpoints. history: newest first. sessions: that followed it, the newest first. hold: the
    id of its hold; "" = it has none.
    """

    number: int
    name: str
    file: str
    project: str
    state: str
    completed: int
    total: int
    failed: int
    blocked: int
    evidence: dict[str, str]
    checks: Checks
    next_task: str
    started_at: float
    used_at: float
    problem: str
    waves: list[Wave]
    more: int
    notes: list[Note]
    history: list[Entry]
    todos: list[Todo]
    sessions: list[Follower]
    hold: str


# ---------------------------------------------------------------- all plans


def query(desk: Desk, params: Params) -> Plans:
    store = desk.store
    followers, holds = _followers(store), _holds(store)
    numbers: dict[str, int] = dict(
        (row[0], row[1]) for row in store.all("SELECT path, n FROM plan")
    )
    found: dict[str, Project] = {}
    for plan in plans.every(store):
        number = numbers[plan.path]
        row = PlanRow(
            number, plan.name, plan.path, _state(store, plan), plan.completed, plan.total,
            failing(plan), plan.next_task if plan.state == ACTIVE else "", plan.used_at,
            followers.get(number, []), holds.get(number, ""),
        )  # fmt: skip
        project = found.setdefault(plan.project, Project(plan.project, [], []))
        (project.open if plan.is_open else project.others).append(row)
    return Plans(sorted(found.values(), key=lambda project: not project.open))


def failing(plan: PlanRecord) -> int:
    """Returns how many tasks of a plan are ticked, and their checks fail."""
    return sum(task != ticks.OF_PLAN for task in plan.failed)


def _state(store: Store, plan: PlanRecord) -> str:
    is_stale = plan.state == ACTIVE and plans.is_stale(store, plan, time.time())
    return STALE if is_stale else plan.state


def _followers(store: Store) -> dict[int, list[str]]:
    followers: dict[int, list[str]] = {}
    for each in sessions.with_plans(store):
        followers.setdefault(each.plan or 0, []).append(each.id)
    return followers


def _holds(store: Store) -> dict[int, str]:
    return {hold.plan: hold.id for hold in loops.holds(store)}


# ---------------------------------------------------------------- one plan


def query_one(desk: Desk, params: Params) -> PlanPage:
    """params: `n`, the number of the plan's row."""
    store, number = desk.store, paging.number(params, "n")
    row = store.one("SELECT path FROM plan WHERE n = ?", number)
    record = plans.find(store, row[0]) if row else None
    if record is None:
        raise NotThereError(
            "No plan has this number here. The page Plans lists all that there are."
        )
    now = plan_status.of_record(store, record, time.time())
    record, (completed, total) = now.record or record, now.progress
    known = ticks.of_plan(store, record.path)
    tasks = _tasks(now, known)
    return PlanPage(
        number=number, name=record.name, file=record.path, project=record.project,
        state=DISMISSED if record.state == DISMISSED else now.state,
        completed=completed, total=total, failed=now.plan.counts[FAILED], blocked=record.blocked,
        evidence=now.evidence, checks=_of_plan(now.plan, known), next_task=now.plan.next_step,
        started_at=record.started_at, used_at=record.used_at, problem=_problem(now),
        waves=_waves(now.plan, tasks), more=len(now.plan.tasks) - len(tasks),
        notes=_notes(record), history=_history(store, record.path), todos=_todos(record),
        sessions=_sessions(store, number, record), hold=_holds(store).get(number, ""),
    )  # fmt: skip


def _problem(now: PlanStatus) -> str:
    """Returns why a plan has no tasks: its file cannot be read, or is gone."""
    if now.problem or now.state != MISSING or now.record is None:
        return now.problem and f"The file cannot be read: {now.problem}."
    return messages.gone(now.record)


def _tasks(now: PlanStatus, known: dict[str, Tick]) -> list[TaskLine]:
    """Returns the first tasks of a plan. known: what we noted of them, by name."""
    named = list(zip(now.plan.names, now.plan.tasks, strict=True))[:_TASKS]
    return [
        TaskLine(
            task.text, task.status, task.line, now.evidence.get(name, ""),
            checks.of(task.checks, known.get(name), fails=task.status == FAILED),
        )
        for name, task in named
    ]  # fmt: skip


def _of_plan(plan: Plan, known: dict[str, Tick]) -> Checks:
    """Returns the checks of a whole plan."""
    tick = known.get(ticks.OF_PLAN)
    return checks.of(plan.checks, tick, fails=bool(tick and tick.evidence == CHECK_FAILS))


def _waves(plan: Plan, lines: list[TaskLine]) -> list[Wave]:
    """Groups tasks by waves, and in these by stories, in the order of the file. lines: the first
    tasks."""
    groups: dict[int | None, dict[str, list[TaskLine]]] = {}
    for task, line in zip(plan.tasks, lines, strict=False):
        stories = groups.setdefault(task.wave, {})
        stories.setdefault(task.story, []).append(line)
    counts: dict[int | None, tuple[int, int]] = {
        wave.number: (wave.completed, wave.total) for wave in plan.waves
    }
    current = plan.next_task
    return [
        Wave(
            number, "" if number is None else plan.wave_names.get(number, ""),
            *counts.get(number, (0, 0)),
            current is not None and current.wave == number,
            [_story(plan, id, lines) for id, lines in stories.items()],
        )
        for number, stories in groups.items()
    ]  # fmt: skip


def _story(plan: Plan, id: str, tasks: list[TaskLine]) -> Story:
    known = next((story for story in plan.stories if id and story.id == id), None)
    if known is None:
        return Story("", "", 0, 0, tasks)
    return Story(id, known.title, known.completed, known.total, tasks)


def _notes(record: PlanRecord) -> list[Note]:
    return [
        Note(moment(each.timestamp), each.message, each is record.automatic, each.wave, each.story)
        for each in record.checkpoints
    ]


def _history(store: Store, path: str) -> list[Entry]:
    rows = store.all(
        "SELECT at, what, completed, total FROM history WHERE plan = ? ORDER BY n DESC LIMIT ?",
        path, _HISTORY,
    )  # fmt: skip
    return [Entry(*row) for row in rows]


def _todos(record: PlanRecord) -> list[Todo]:
    return [
        Todo(str(todo.get("content", "")), str(todo.get("status", ""))) for todo in record.todos
    ]


def _sessions(store: Store, plan: int, record: PlanRecord) -> list[Follower]:
    ids = record.session_ids[: -_SESSIONS - 1 : -1]
    return [_follower(Session.find(store, id), id, plan) for id in ids]


def _follower(session: Session, id: str, plan: int) -> Follower:
    is_here = session.plan == plan and session.ended_at is None
    return Follower(id, session.seen_at if session.n else None, is_here)
