"""The page of one loop, hold or run: how it is, what it needs, what each iteration came to."""

from __future__ import annotations

import dataclasses
import json
import os
import time
from dataclasses import dataclass
from typing import Any

from sisyphus import clients, files
from sisyphus.dashboard import actions, paging
from sisyphus.dashboard import loops as rows
from sisyphus.dashboard.desk import Desk, NotThereError, Params
from sisyphus.dashboard.paging import Pages
from sisyphus.errors import UnreadableError
from sisyphus.ralph import control, messages, runs, transcripts
from sisyphus.ralph import loop as loops
from sisyphus.ralph.loop import FATAL_ERROR, SUCCESS, Loop
from sisyphus.ralph.runs import Run
from sisyphus.runner import messages as words
from sisyphus.store import Store
from sisyphus.text import fingerprint, one_line

PAGE_ITERATIONS = 100
CHART_ITERATIONS = 60
"""The most bars of the chart, the last ones."""

LEAST_BARS = 3

DONE, OPEN, BLOCKED, NOW = "done", "open", "blocked", "now"
"""How an item of a run is. NOW: the current iteration works on it."""

_RECENT_BYTES = 100_000
"""How much of the end of a client's transcript is read for what the agent did last."""


@dataclass(frozen=True)
class Limit:
    """name: iterations, seconds, tokens or dollars. most: 0 = no limit."""

    name: str
    used: float
    most: float


@dataclass(frozen=True)
class Item:
    """An item of a run. key: names it on the page. state: one of DONE, OPEN, BLOCKED, NOW. why:
    what it needs; "" = nothing. can_answer: the user can answer to that."""

    key: str
    text: str
    state: str
    why: str
    can_answer: bool


@dataclass(frozen=True)
class PlanName:
    """number: of its row; 0 = it has none."""

    number: int
    name: str
    path: str


@dataclass(frozen=True)
class IterationRow:
    """An iteration; see `ralph.iterations.Iteration`. row: its number in the store."""

    row: int
    number: int
    at: float
    decision: str
    why: str
    tokens: int
    said: str
    seconds: float
    files: int
    percent: int
    item: str
    is_done: bool
    cost: float
    denied: list[str]


@dataclass(frozen=True)
class Bar:
    number: int
    value: int


@dataclass(frozen=True)
class LoopPage:
    """A loop, hold or run.

    prompt: all of it. action: what its agent did last; "" = unknown, or it does not work. actions:
    see `actions.possible`. can_answer: it waits for an answer. most_characters: of that. answers:
    what waits in the queue of its session. way: how it goes on, in a sentence; "" = by itself, or
    never. command: of that.
    promise, check: "" = none. needs_plan: its plan must be complete. by_model: the model started
    it. plan: that it works on. items: of a run.
    iterations: of this page, the newest first. bars: of the last iterations, the oldest first;
    their values are percent of the context or tokens, as `bars_are` says.
    report: of a run, in Markdown; "" = there is none.
    """

    row: rows.Row
    prompt: str
    action: str
    actions: list[str]
    can_answer: bool
    most_characters: int
    answers: list[str]
    way: str
    command: str
    limits: list[Limit]
    promise: str
    check: str
    needs_plan: bool
    by_model: bool
    plan: PlanName | None
    items: list[Item]
    iterations: list[IterationRow]
    pages: Pages
    bars: list[Bar]
    bars_are: str
    report: str
    has_transcript: bool


def query(desk: Desk, params: Params) -> LoopPage:
    store, now = desk.store, time.time()
    loop = loops.find(store, params["id"])
    if loop is None:
        raise NotThereError(messages.unknown_loop(params["id"]))
    run = runs.of(store, loop) if loop.is_run else None
    row = rows.row_of(store, loop, now)
    pages = paging.choose(params, _count(store, loop), PAGE_ITERATIONS)
    way, command = _way(store, loop, run, row)
    bars_are, bars = _bars(store, loop)
    return LoopPage(
        row=row,
        prompt=loop.prompt,
        action=_action(store, loop, row),
        actions=actions.possible(store, loop),
        can_answer=actions.can_answer(loop),
        most_characters=actions.most_characters(loop),
        answers=_answers(store, loop),
        way=way,
        command=command,
        limits=_limits(loop, run, now),
        promise=loop.options.promise,
        check=loop.options.verify,
        needs_plan=loop.options.verify_plan,
        by_model=loop.by_model,
        plan=_plan(store, loop, run),
        items=_items(run) if run else [],
        iterations=_iterations(store, loop, pages.number),
        pages=pages,
        bars=bars,
        bars_are=bars_are,
        report=_report(loop),
        has_transcript=os.path.exists(transcripts.full_file(loop.id)),
    )


# ---------------------------------------------------------------- how it is


def _way(store: Store, loop: Loop, run: Run | None, row: rows.Row) -> tuple[str, str]:
    """Returns how a loop goes on that does not go on by itself, and the command for that."""
    if run:
        return _way_of_run(store, loop, run)
    if loop.ended_at is not None:
        return "", ""
    if row.state == rows.LEFT:
        owner = control.owner_id(store, loop)
        return messages.what_takes_up(loop, owner), ""
    return ("" if loop.is_active else messages.what_resumes(loop)), ""


def _way_of_run(store: Store, loop: Loop, run: Run) -> tuple[str, str]:
    """A run that has ended goes on too, if it is the last one of its project and not complete."""
    latest = runs.latest(store, loop.project)
    is_latest = latest is not None and latest.loop.id == loop.id
    if run.is_at_work or loop.result == SUCCESS or not is_latest:
        return "", ""
    if loop.result == FATAL_ERROR:
        return messages.what_follows_failure(loop), words.RESUME
    return messages.what_continues(loop), words.RESUME


def _action(store: Store, loop: Loop, row: rows.Row) -> str:
    """Returns what the agent that works now did last, by its client's transcript."""
    if not row.is_working or row.action:
        return row.action if row.is_working else ""
    found = store.one("SELECT client, transcript FROM session WHERE n = ?", loop.session)
    if found is None or not found[1]:
        return ""
    reading = clients.transcript(found[0]).read(found[1], limit=_RECENT_BYTES)
    calls = [call for each in reading.records for call in each.calls]
    return one_line(f"{calls[-1].name} {calls[-1].target}", 200) if calls else ""


def _answers(store: Store, loop: Loop) -> list[str]:
    found = store.all(
        "SELECT text FROM waiting WHERE session = ? AND kind = 'answer' ORDER BY seq", loop.session
    )
    return [row[0] for row in found] if loop.ended_at is None else []


def _limits(loop: Loop, run: Run | None, now: float) -> list[Limit]:
    options, counters = loop.options, loop.counters
    limits = [
        Limit("iterations", counters.iteration, options.max_iterations),
        Limit("seconds", loop.seconds(now), options.max_minutes * 60),
        Limit("tokens", counters.tokens, options.max_tokens),
    ]
    if run:
        limits.append(Limit("dollars", run.state.cost, run.options.max_usd))
    return limits


def _plan(store: Store, loop: Loop, run: Run | None) -> PlanName | None:
    """Returns the plan that a loop works on: of a loop, that of its session."""
    if run:
        path = run.state.plan
        found = store.one("SELECT n, name, path FROM plan WHERE path = ?", path)
        unknown = PlanName(0, os.path.basename(path), path) if path else None
        return PlanName(*found) if found else unknown
    found = store.one(
        "SELECT n, name, path FROM plan "
        "WHERE n = coalesce(?, (SELECT plan FROM session WHERE n = ?))",
        loop.plan, loop.session,
    )  # fmt: skip
    return PlanName(*found) if found else None


def _items(run: Run) -> list[Item]:
    """Returns the items of a run: what waits for the user first, then what is open, then what is
    done."""
    state = run.state
    marked = [item for item in state.marked if item not in state.blocked]
    is_answerable = actions.can_answer(run.loop) and bool(state.plan)
    now = state.item if run.is_at_work and run.loop.is_active else ""
    opened = [item for item in state.todo if item not in state.blocked]
    return [
        *(_item(item, BLOCKED, why, is_answerable) for item, why in state.blocked.items()),
        *(_item(item, BLOCKED) for item in marked),
        *(_item(item, NOW if item == now else OPEN) for item in opened),
        *(_item(item, DONE) for item in state.done),
    ]


def _item(text: str, state: str, why: str = "", can_answer: bool = False) -> Item:
    return Item(fingerprint(text), text, state, why, can_answer)


def _report(loop: Loop) -> str:
    path = transcripts.report_file(loop.id)
    if not (loop.is_run and os.path.exists(path)):
        return ""
    try:
        return files.read(path)
    except UnreadableError:
        return ""


# ---------------------------------------------------------------- its iterations


_OF_LOOP = "iteration.loop = (SELECT n FROM loop WHERE id = ?)"


def _count(store: Store, loop: Loop) -> int:
    row = store.one(f"SELECT count(*) FROM iteration WHERE {_OF_LOOP}", loop.id)
    return int(row[0]) if row else 0


def _iterations(store: Store, loop: Loop, page: int) -> list[IterationRow]:
    names = [each.name for each in dataclasses.fields(IterationRow)][1:]
    found = store.all(
        f"SELECT rowid, {', '.join(names)} FROM iteration WHERE {_OF_LOOP} "
        "ORDER BY rowid DESC LIMIT ? OFFSET ?",
        loop.id, PAGE_ITERATIONS, (page - 1) * PAGE_ITERATIONS,
    )  # fmt: skip
    return [_iteration(dict(zip(("row", *names), row, strict=True))) for row in found]


def _iteration(values: dict[str, Any]) -> IterationRow:
    values |= {"is_done": bool(values["is_done"]), "denied": json.loads(values["denied"])}
    return IterationRow(**values)


def _bars(store: Store, loop: Loop) -> tuple[str, list[Bar]]:
    """Returns what the bars of the chart show, and the bars; none if there would be too few."""
    found = store.all(
        f"SELECT number, percent, tokens FROM iteration WHERE {_OF_LOOP} "
        "ORDER BY rowid DESC LIMIT ?",
        loop.id, CHART_ITERATIONS,
    )[::-1]  # fmt: skip
    percents, tokens = [row[1] for row in found], [row[2] for row in found]
    for what, values in (("percent", percents), ("tokens", tokens)):
        if sum(value > 0 for value in values) >= LEAST_BARS:
            return what, [Bar(row[0], value) for row, value in zip(found, values, strict=True)]
    return "", []
