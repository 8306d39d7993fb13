"""The page of one loop, hold or run: how it is, what it needs, what each iteration came to."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Sequence
from typing import Any

from sisyphus import clients, work
from sisyphus.dashboard import actions, checks, paging
from sisyphus.dashboard.page import Desk, NotThereError, Params
from sisyphus.dashboard.paging import Pages
from sisyphus.ground import files
from sisyphus.ground.errors import UnreadableError
from sisyphus.ground.record import Record, replace
from sisyphus.ground.store import Store
from sisyphus.ground.text import fingerprint, one_line
from sisyphus.hook.session import Session
from sisyphus.loops import iterations, lifecycle, loops, messages, transcripts
from sisyphus.loops.loop import FATAL_ERROR, RUN, SUCCESS, Hold, Work
from sisyphus.loops.runs import FailedCheck, Run
from sisyphus.runner import fix_plan, report
from sisyphus.runner import messages as runner_messages
from sisyphus.work import Status

PAGE_ITERATIONS = 100
CHART_ITERATIONS = 60
"""The most bars of the chart, the last ones."""

LEAST_BARS = 5
"""Fewer are no chart: the list below says the same."""

_SENT_ANSWERS = 5
"""The most answers that the page remembers, the last ones."""

DONE, OPEN, BLOCKED, NOW = "done", "open", "blocked", "now"
"""How an item of a run is. NOW: the current iteration, or a worker, works on it."""

_RECENT_BYTES = 100_000
"""How much of the end of a client's transcript is read for what the agent did last."""


class Limit(Record, frozen=True):
    """name: iterations, seconds, tokens or dollars. most: 0 = no limit."""

    name: str
    used: float
    most: float


class Item(Record, frozen=True):
    """An item of a run. key: names it on the page. state: one of DONE, OPEN, BLOCKED, NOW. why:
    what it needs; "" = nothing. can_answer: the user can answer to that. answers: what they have
    answered. next: what comes of that, or when they can answer; "" = nothing to say. evidence: what
    stands behind its tick, see `boulder/evidence.py`; "" = it is not ticked, or nobody knows.
    failed: the check that fails though the box is ticked; None = none does. commit: its last
    commit, short; branch: with its half work, where it has no commit; "" = it has none."""

    key: str
    text: str
    state: str
    why: str
    can_answer: bool
    answers: list[str]
    next: str
    evidence: str = ""
    failed: FailedCheck | None = None
    commit: str = ""
    branch: str = ""


class PlanName(Record, frozen=True):
    """number: of its row; 0 = it has none."""

    number: int
    name: str
    path: str


class IterationRow(Record, frozen=True):
    """An iteration; see `loops.iterations.Iteration`. row: its number in the store. resumes: "" or,
    if the one before it had the same number, how that ended: its decision."""

    row: int
    resumes: str
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
    evidence: str


class Bar(Record, frozen=True):
    number: int
    value: int


class LoopPage(Record, frozen=True):
    """A loop, hold or run.

    prompt: all of it. action: what its agent did last; "" = unknown, or it does not work. actions:
    see `actions.possible`. can_answer: it waits for an answer. most_characters: of that. answers:
    what waits in the queue of its session. answered_at: when earlier ones went out, the last one
    first. way: how it goes on, in a sentence; "" = by itself, or never. command: of that.
    promise, check: "" = none. needs_plan: its plan must be complete. by_model: the model started
    it. plan: that it works on. items: of a run. evidence: what stands behind their ticks, by item.
    iterations: of this page, the newest first. bars: of the last iterations, the oldest first;
    their values are percent of the context or tokens, as `bars_are` says.
    report: of a run, in Markdown; "" = there is none. look_at: what a person should see to first,
    in Markdown, as a report that was written now would say it.
    """

    row: Status
    prompt: str
    action: str
    actions: list[str]
    can_answer: bool
    most_characters: int
    answers: list[str]
    answered_at: list[float]
    way: str
    command: str
    limits: list[Limit]
    promise: str
    check: str
    needs_plan: bool
    by_model: bool
    plan: PlanName | None
    items: list[Item]
    evidence: dict[str, str]
    iterations: list[IterationRow]
    pages: Pages
    bars: list[Bar]
    bars_are: str
    report: str
    look_at: str
    has_transcript: bool


def query(desk: Desk, params: Params) -> LoopPage:
    store, now = desk.store, time.time()
    loop = loops.find(store, params["id"])
    if loop is None:
        raise NotThereError(messages.unknown_loop(params["id"]))
    run = loop if isinstance(loop, Run) else None
    row = work.of(store, loop, now)
    pages = paging.choose(params, iterations.count(store, loop), PAGE_ITERATIONS)
    way, command = _way(store, loop, run, row)
    items = _items(store, run, row) if run else []
    bars_are, bars = _bars(store, loop)
    return LoopPage(
        row=row,
        prompt=loop.prompt,
        action=_action(store, loop, row),
        actions=actions.possible(store, loop),
        can_answer=actions.can_answer(loop),
        most_characters=actions.most_characters(loop),
        answers=queued_answers(store, loop),
        answered_at=_answered_at(store, loop),
        way=way,
        command=command,
        limits=_limits(loop, run, row),
        promise=loop.options.promise,
        check=loop.options.verify,
        needs_plan=loop.options.verify_plan,
        by_model=loop.by_model,
        plan=_plan(store, loop, run),
        items=items,
        evidence={item.text: item.evidence for item in items if item.evidence},
        iterations=_iterations(store, loop, run.folder if run else loop.project, pages.number),
        pages=pages,
        bars=bars,
        bars_are=bars_are,
        report=_report(loop),
        look_at=look_at(store, run) if run else "",
        has_transcript=os.path.exists(transcripts.full_file(loop.id)),
    )


# ---------------------------------------------------------------- how it is


def _way(store: Store, loop: Work, run: Run | None, row: Status) -> tuple[str, str]:
    """Returns how a loop goes on that does not go on by itself, and the command for that."""
    if run:
        return _way_of_run(store, run)
    if loop.ended_at is not None:
        return "", ""
    if row.state == work.LEFT:
        return messages.what_takes_up(loop, lifecycle.way_back(store, loop)), ""
    return (row.need.answer if row.need else ""), ""


def _way_of_run(store: Store, run: Run) -> tuple[str, str]:
    """A run that has ended goes on too, if it is the last one of its project and not complete."""
    latest = loops.latest_run(store, run.project)
    is_latest = latest is not None and latest.id == run.id
    if run.is_at_work and run.ended_at is None and not run.is_active:
        return messages.STOPS_SOON, ""
    if run.is_at_work or run.result == SUCCESS or not is_latest:
        return "", ""
    if run.result == FATAL_ERROR:
        return messages.what_follows_failure(run), runner_messages.RESUME
    return messages.what_continues(run), runner_messages.RESUME


def _action(store: Store, loop: Work, row: Status) -> str:
    """Returns what the agent that works now did last, by its client's transcript."""
    if not row.is_working or row.action:
        return row.action if row.is_working else ""
    session = Session.load(store, loop.session)
    if not session.transcript:
        return ""
    read = clients.transcript(session.client).read
    reading = read(session.transcript, limit=_RECENT_BYTES)
    calls = [call for each in reading.records for call in each.calls]
    return messages.action(calls[-1].name, calls[-1].target, loop.project) if calls else ""


def queued_answers(store: Store, loop: Work) -> list[str]:
    """Returns the answers that wait in the queue of the session of a loop."""
    found = store.all(
        "SELECT text FROM waiting WHERE session = ? AND kind = 'answer' ORDER BY seq", loop.session
    )
    return [row[0] for row in found] if loop.ended_at is None else []


def _answered_at(store: Store, loop: Work) -> list[float]:
    """Returns when answers went out to the session of a loop, the last one first. Nobody keeps
    their text."""
    found = store.all(
        "SELECT at FROM event WHERE session = ? AND at >= ? AND at <= ? "
        "AND EXISTS (SELECT 1 FROM json_each(texts) WHERE value = 'answer') "
        "ORDER BY n DESC LIMIT ?",
        loop.session, loop.started_at, loop.ended_at or time.time(), _SENT_ANSWERS,
    )  # fmt: skip
    return [row[0] for row in found]


def _limits(loop: Work, run: Run | None, row: Status) -> list[Limit]:
    options = loop.options
    limits = [
        Limit("iterations", row.iteration, options.max_iterations),
        Limit("seconds", row.seconds, options.max_minutes * 60),
        Limit("tokens", row.tokens, options.max_tokens),
    ]
    if run:
        limits.append(Limit("dollars", row.cost, run.setup.max_usd))
    return limits


def _plan(store: Store, loop: Work, run: Run | None) -> PlanName | None:
    """Returns the plan that a loop works on: of a loop, that of its session."""
    if run:
        path = run.state.plan
        found = store.one("SELECT n, name, path FROM plan WHERE path = ?", path)
        unknown = PlanName(0, os.path.basename(path), path) if path else None
        return PlanName(*found) if found else unknown
    number = loop.plan if isinstance(loop, Hold) else Session.load(store, loop.session).plan
    found = store.one("SELECT n, name, path FROM plan WHERE n = ?", number)
    return PlanName(*found) if found else None


def _items(store: Store, run: Run, row: Status) -> list[Item]:
    """Returns the items of a run: what waits for the user first, then what is open, then what is
    done."""
    state = run.state
    marked = [item for item in state.marked if item not in state.blocked]
    begun = (state.item, *(each.item for each in row.workers))
    now = begun if run.is_at_work and run.ended_at is None else ()
    opened = [item for item in state.todo if item not in state.blocked]
    answers = state.answers
    return [
        *blocked_items(store, run),
        *(_item(run, item, BLOCKED, answers.get(item, [])) for item in marked),
        *(_open_item(run, item, now, answers.get(item, [])) for item in opened),
        *(_item(run, item, DONE, []) for item in state.done),
    ]


def blocked_items(store: Store, run: Run) -> list[Item]:
    """Returns the items for which the agent needs something of its user."""
    answers = run.state.answers
    return [_blocked_item(store, run, each, answers.get(each, [])) for each in run.state.blocked]


def _blocked_item(store: Store, run: Run, text: str, answers: list[str]) -> Item:
    """A run tries its blocked items again when it is resumed."""
    goes_on = _GOES_ON if answers and _has_new_answer(store, run) else ""
    return replace(
        _item(run, text, BLOCKED, answers), why=run.state.blocked[text],
        can_answer=actions.can_answer(run), next=actions.why_not_yet(run) or goes_on,
    )  # fmt: skip


def _has_new_answer(store: Store, run: Run) -> bool:
    """Tells whether the plan has changed since the last iteration. Otherwise the agent has read the
    answers in it, and needs another one."""
    row = store.one(f"SELECT max(at) FROM iteration WHERE {iterations.OF_LOOP}", run.id)
    try:
        return row is None or os.path.getmtime(run.state.plan) > (row[0] or 0.0)
    except OSError:
        return False


def _open_item(run: Run, text: str, now: Sequence[str], answers: list[str]) -> Item:
    """now: the items that somebody works at."""
    if text in now:
        return _item(run, text, NOW, answers)
    comes = _COMES if run.is_at_work else _GOES_ON
    return replace(_item(run, text, OPEN, answers), next=comes if answers else "")


def _item(run: Run, text: str, state: str, answers: list[str]) -> Item:
    failed = run.state.failed.get(text) if state != DONE else None
    word = run.state.evidence.get(text, "") if failed or state == DONE else ""
    made, branch = run.state.commits.get(text), run.state.aside_of(text)
    commit = made.short if made else ""
    return Item(
        fingerprint(text), text, state, "", False, answers, "", word, failed and _short(failed),
        commit, "" if commit else branch,
    )  # fmt: skip


def _short(failed: FailedCheck) -> FailedCheck:
    command, how = one_line(failed.command), one_line(failed.how)
    return replace(failed, command=command, how=how, tail=checks.output(failed.tail))


_COMES = "The run reads it when it comes to this item."
_GOES_ON = f"The run takes it up when you resume it: `{runner_messages.RESUME}`."


def look_at(store: Store, run: Run) -> str:
    """Returns what a person should see to first, in Markdown, as a report that was written now
    would say it; "" = nothing.

    What has happened to the plan of a run that has ended is no concern of the run.
    """
    plan = run.state.plan if run.ended_at is None else ""
    problem = fix_plan.read(plan, run.folder).problem if plan else ""
    return report.look_at(run, iterations.of(store, run), problem)


def _report(loop: Work) -> str:
    path = transcripts.report_file(loop.id)
    if not (loop.kind == RUN and os.path.exists(path)):
        return ""
    try:
        return files.read(path)
    except UnreadableError:
        return ""


# ---------------------------------------------------------------- its iterations


def _iterations(store: Store, loop: Work, folder: str, page: int) -> list[IterationRow]:
    """folder: where its agents work."""
    names = IterationRow.FIELDS[2:]
    before = "(PARTITION BY number ORDER BY rowid)"
    found = store.all(
        f"SELECT rowid, coalesce(lag(decision) OVER {before}, ''), {', '.join(names)} "
        f"FROM iteration WHERE {iterations.OF_LOOP} ORDER BY rowid DESC LIMIT ? OFFSET ?",
        loop.id, PAGE_ITERATIONS, (page - 1) * PAGE_ITERATIONS,
    )  # fmt: skip
    fields = ("row", "resumes", *names)
    return [_iteration(dict(zip(fields, row, strict=True)), folder) for row in found]


def _iteration(values: dict[str, Any], folder: str) -> IterationRow:
    denied = [messages.last_action(call, folder) for call in json.loads(values["denied"])]
    values |= {"is_done": bool(values["is_done"]), "denied": denied}
    return IterationRow(**values)


def _bars(store: Store, loop: Work) -> tuple[str, list[Bar]]:
    """Returns what the bars of the chart show, and the bars; none if there would be too few."""
    found = store.all(
        f"SELECT number, percent, tokens FROM iteration WHERE {iterations.OF_LOOP} "
        "ORDER BY rowid DESC LIMIT ?",
        loop.id, CHART_ITERATIONS,
    )[::-1]  # fmt: skip
    percents, tokens = [row[1] for row in found], [row[2] for row in found]
    for what, values in (("percent", percents), ("tokens", tokens)):
        if sum(value > 0 for value in values) >= LEAST_BARS:
            return what, [Bar(row[0], value) for row, value in zip(found, values, strict=True)]
    return "", []
