"""The first page: what waits for the user, what has happened since they last looked, what works."""

from __future__ import annotations

import time
from typing import Any

from sisyphus import work
from sisyphus.boulder import plans
from sisyphus.dashboard import actions, last_visit
from sisyphus.dashboard import days as calendar
from sisyphus.dashboard import loop as loop_page
from sisyphus.dashboard import loops as loop_pages
from sisyphus.dashboard import plans as plan_pages
from sisyphus.dashboard.page import Desk, Params
from sisyphus.ground import git
from sisyphus.ground.record import Record
from sisyphus.ground.store import Store
from sisyphus.loops import iterations, loops
from sisyphus.loops.loop import RUN
from sisyphus.loops.runs import Run
from sisyphus.runner import asides
from sisyphus.runner.messages import trailer
from sisyphus.work import Need, Status

_DAYS = 7
_SHOWN = 8
_COMMITS = 5
"""The most loops that live, loops that ended and plans, and the most projects that git is asked
about."""

_QUESTIONS = 3
"""The most blocked items of a run that are answered on this page; its own page has all."""

_FIRST_SECONDS = 24 * 3600
"""What is new to a user who looks for the first time."""


class Question(Record, frozen=True):
    """What an agent needs of its user. key: of the item. item: of a run, which the answer is for;
    "" = the loop itself."""

    key: str
    item: str
    need: str


class AnswerBox(Record, frozen=True):
    """What the user can answer of a loop or run. most_characters: of an answer. more: how many
    other blocked items a run has that nobody has answered."""

    questions: list[Question]
    more: int
    most_characters: int


class Findings(Record, frozen=True):
    """What a person should see to of a run. text: in Markdown, as its report says it."""

    row: Status
    text: str


class PlanProgress(Record, frozen=True):
    """number: of its row. project: its folder. failed: how many more tasks are ticked, and their
    checks fail."""

    number: int
    name: str
    project: str
    completed: int
    total: int
    failed: int
    next_task: str
    used_at: float


class News(Record, frozen=True):
    """What has happened since a moment, in seconds since 1970.

    is_first: this is the user's first visit, so it is a day ago. ended: loops and runs, the newest
    first; more: how many others. plans: the names of those that were completed. tasks: of plans,
    how many more are ticked. items: of runs, that were done. commits: that runs made.
    files: how many were changed, counted in each iteration. period: the shortest one of
    `loops.PERIODS` in which all of it lies.
    """

    since: float
    is_first: bool
    period: str
    ended: list[Status]
    more: int
    plans: list[str]
    tasks: int
    items: int
    iterations: int
    tokens: int
    cost: float
    files: int
    commits: int

    @property
    def is_empty(self) -> bool:
        return not (self.ended or self.plans or self.tasks or self.iterations or self.commits)


class Day(Record, frozen=True):
    """What loops and runs used on a day, which began at a moment."""

    at: float
    tokens: int
    cost: float


class Overview(Record, frozen=True):
    """is_wired: a hook has ever acted; else the page says how to begin. is_installed: the first
    step of that is done. waiting: the latest first. boxes: ids of loops that take an answer → what
    the user answers to. look_at: of the runs that have not ended, and of those that have ended
    since the user last looked. live: what has not ended, first what works now; more: how many
    others."""

    is_wired: bool
    is_installed: bool
    waiting: list[Need]
    boxes: dict[str, AnswerBox]
    look_at: list[Findings]
    news: News
    live: list[Status]
    more: int
    plans: list[PlanProgress]
    days: list[Day]


def query(desk: Desk, params: Params) -> Overview:
    store, now = desk.store, time.time()
    statuses = work.live(store, now)
    live = sorted(statuses, key=lambda each: (not each.is_working, -each.started_at))
    waiting, news = work.needs(store, now, statuses)[::-1], _news(store, now)
    return Overview(
        is_wired=store.one("SELECT 1 FROM event LIMIT 1") is not None,
        is_installed=store.one("SELECT 1 FROM installed LIMIT 1") is not None,
        waiting=waiting,
        boxes={id: box for each in waiting if (id := each.loop) and (box := _box(store, id))},
        look_at=_look_at(store, [*live, *news.ended]),
        news=news,
        live=live[:_SHOWN],
        more=max(0, len(live) - _SHOWN),
        plans=open_plans(store)[:_SHOWN],
        days=days(store, now),
    )


def open_plans(store: Store) -> list[PlanProgress]:
    """Returns the open plans that a session has worked on, the one used last first."""
    numbers: dict[Any, Any] = dict(store.all("SELECT path, n FROM plan"))
    return [
        PlanProgress(
            numbers[plan.path], plan.name, plan.project, plan.completed, plan.total,
            plan_pages.failing(plan), plan.next_task, plan.used_at,
        )
        for plan in plans.every(store)
        if plan.state == plans.ACTIVE and plan.used_at
    ]  # fmt: skip


def days(store: Store, now: float) -> list[Day]:
    """Returns the last days, the oldest first."""
    starts = calendar.starts(now, _DAYS)
    ends = [*starts[1:], now + 1]
    return [Day(start, *_used(store, start, end)) for start, end in zip(starts, ends, strict=True)]


def _used(store: Store, start: float, end: float) -> tuple[int, float]:
    row = store.one(
        "SELECT coalesce(sum(tokens), 0), coalesce(sum(cost), 0) FROM iteration "
        "WHERE at >= ? AND at < ?",
        start, end,
    )  # fmt: skip
    assert row is not None
    return row[0], row[1]


# ---------------------------------------------------------------- what a person should see to


def _box(store: Store, id: str) -> AnswerBox | None:
    """Returns what the user can answer of a loop or run that waits; None = nothing, or they have
    answered."""
    loop = loops.find(store, id)
    if loop is None or not actions.can_answer(loop) or loop_page.queued_answers(store, loop):
        return None
    questions = [Question("", "", loop.why)]
    if isinstance(loop, Run):
        items = loop_page.blocked_items(store, loop)
        questions = [Question(each.key, each.text, each.why) for each in items if not each.next]
    more = max(0, len(questions) - _QUESTIONS)
    most = actions.most_characters(loop)
    return AnswerBox(questions[:_QUESTIONS], more, most) if questions else None


def _look_at(store: Store, statuses: list[Status]) -> list[Findings]:
    """Returns what a person should see to of the first runs among these."""
    runs = [each for each in statuses if each.kind == RUN][:_SHOWN]
    found = [(each, loops.find_run(store, each.id)) for each in runs]
    findings = [Findings(row, loop_page.look_at(store, run)) for row, run in found if run]
    return [each for each in findings if each.text]


# ---------------------------------------------------------------- news


def _news(store: Store, now: float) -> News:
    visit = last_visit.since(store, now)
    since = now - _FIRST_SECONDS if visit is None else visit
    ended = loops.ended_since(store, since)
    ended.sort(key=lambda loop: -(loop.ended_at or 0))
    row = store.one(
        "SELECT count(*), coalesce(sum(tokens), 0), coalesce(sum(cost), 0), "
        "coalesce(sum(files), 0), coalesce(sum(is_done), 0) FROM iteration WHERE at >= ?",
        since,
    )
    assert row is not None
    iterations, tokens, cost, files, items = row
    names = store.all(
        "SELECT DISTINCT plan.name FROM history JOIN plan ON plan.path = history.plan "
        "WHERE what = 'completed' AND at >= ?",
        since,
    )
    return News(
        since, visit is None, loop_pages.shortest_period(since, now),
        [work.of(store, loop, now) for loop in ended[:_SHOWN]],
        max(0, len(ended) - _SHOWN),
        [name[0] for name in names], _ticked(store, since), items, iterations, tokens, cost, files,
        _commits(store, since),
    )  # fmt: skip


def _ticked(store: Store, since: float) -> int:
    """Returns how many more tasks of plans are ticked than were at a moment. A tick that was taken
    back does not count, nor does a plan that was full of ticks when we first saw it."""
    row = store.one(
        "WITH changed AS (SELECT plan, min(n) AS first, max(n) AS last FROM history WHERE at >= ? "
        "GROUP BY plan), counts AS (SELECT plan, coalesce((SELECT max(n) FROM history AS earlier "
        "WHERE earlier.plan = changed.plan AND n < first), first) AS before, last FROM changed) "
        "SELECT coalesce(sum(max(0, new.completed - old.completed)), 0) FROM counts "
        "JOIN history AS old ON old.n = before JOIN history AS new ON new.n = last",
        since,
    )
    return int(row[0]) if row else 0


def _commits(store: Store, since: float) -> int:
    """Returns the commits that runs have made since a moment, those not merged yet among them, but
    not half work."""
    projects = iterations.projects_since(store, since, _COMMITS)
    return sum(
        git.count_commits(project, since, trailer(""), but=asides.BRANCHES) for project in projects
    )
