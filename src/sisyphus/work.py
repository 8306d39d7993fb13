"""How each piece of work stands: a loop, a hold or a run. What it waits for, and what its user can
do. Lists, pages, figures and notices show what is said here, so that no two of them disagree.

A session that its user watches needs no list: only unattended ones show their dialogs and
questions. Those have an active loop, an active hold of their plan, or enforcement in their project.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sisyphus.boulder import evidence, hold_messages, holds
from sisyphus.boulder.evidence import UNCHANGED, UNPROVEN
from sisyphus.enforce.enforcements import enforced_since
from sisyphus.ground.record import Record, field
from sisyphus.ground.store import Store
from sisyphus.ground.text import iso, one_line, sentence
from sisyphus.handoff import handoffs
from sisyphus.hook.session import Session
from sisyphus.loops import iterations, lifecycle, loops, messages, state_file, user_actions, workers
from sisyphus.loops.loop import ACTIVE, RUN, Hold, Loop, Work
from sisyphus.loops.runs import Run, Worker
from sisyphus.sessions import dialog, sessions
from sisyphus.sessions import messages as session_messages
from sisyphus.sessions.hooks import FAILURE

RESTS, QUESTION, LEFT, NO_WORK, CHECKPOINT, PROMPT, STANDSTILL = (
    "rests", "question", "left", "no_work", "checkpoint", "prompt", "standstill",
)  # fmt: skip
"""Kinds of needs, besides the dialog's, the statuses of a loop that is not active, and the result
of a run that failed. RESTS: a session that said that it needs its user, under a hold or
enforcement. LEFT: a loop whose session is over, or a run whose process is gone.
NO_WORK: a hold whose plan nobody can go on with. CHECKPOINT: a session with a loop that has ended
with a handoff. PROMPT: a loop that was resumed or answered outside of its idle session, or whose
session the user has interrupted. STANDSTILL: a session that has stopped in plan mode, or for
background work that does not end."""

WAITING = "waiting"
"""The state of a loop that is active, and whose session can do nothing without its user."""

STANDSTILL_SECONDS = 600
"""After so long, background work that has not ended is something to look at. It is what
`ralph.background_wait` has if nobody sets it; here nobody knows the settings of each project."""

TASK_CHARACTERS, _TASK_IN_LINE, _ITEM_IN_LINE = 200, 100, 60


class Need(Record, frozen=True):
    """One thing that waits for the user.

    text: what it is. since: in seconds since 1970. answer: what the user can do about it. session,
    loop: their ids; "" = none. brief: what it is, where the loop and its state are named already.
    """

    kind: str
    text: str
    since: float
    answer: str
    project: str
    session: str = ""
    loop: str = ""
    brief: str = ""


class WorkerStatus(Record, frozen=True):
    """How a worker of a run stands, or stood when the run's process ended.

    number: from 1. iteration: at its item, from 1. since: when that began or, before the first one,
    when the worker did, in seconds since 1970. is_at_work: the process of its run is alive.
    is_merging: it brings its item onto the branch of the run. waits_until: for an account's limit,
    say; 0 = it does not wait. action: what its agent did last. doing: what it does now, on a line:
    that it merges or waits, else its action. heard_at: when its agent was last heard of; 0 = never.
    percent: of its context; 0 = unknown. tokens, cost: used so far. session: the id of the one that
    works for it; "" = none yet. worktree: where. client: see `Status`.
    """

    number: int
    item: str
    iteration: int
    since: float
    is_at_work: bool
    is_merging: bool
    waits_until: float
    action: str
    doing: str
    heard_at: float
    percent: int
    tokens: int
    cost: float
    session: str
    worktree: str
    client: str


class Status(Record, frozen=True):
    """How a loop, hold or run stands.

    status: of its row. state: that, WAITING, LEFT or, if it has ended, its result. why: the same in
    words. need: what it waits for; None = it goes on by itself, or has ended. pending: what it
    waits for that needs nothing from its user, in words: another loop, or the end of its iteration.
    is_current: its session works at it, and not at another one.
    iteration: the current one, of a run that has ended the last; last: of how many, 0 = no limit.
    done, total: the items of a run; failed: how many more of them are ticked, and their checks
    fail; not_proven: how many of those that it did have which evidence that proves nothing. tokens,
    cost: used so far, by workers too. seconds: how long it has run, without pauses. session: the id
    of the one that works at it, or did last; "" = none. is_working: its agent works now, as far as
    we know. item, action: what a run works at, and what its agent did last. heard_at: when an agent
    was last heard of, in seconds since 1970; 0 = never. worktree: where a run works that has a
    folder of its own; "" = in the project. workers: of a run, those whose items are begun. client:
    of a run with several, the one whose turn it is; "" = it has one.
    """

    id: str
    kind: str
    task: str
    project: str
    status: str
    state: str
    why: str
    need: Need | None
    pending: str
    is_current: bool
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
    item: str
    action: str
    heard_at: float
    worktree: str
    workers: list[WorkerStatus] = field(default_factory=list)
    client: str = ""


def in_words(status: Status) -> str:
    """Says how it stands, for lists."""
    has_ended = status.ended_at is not None
    is_left = status.state == LEFT and status.status == ACTIVE
    how = "left behind" if is_left else WAITING if status.state == WAITING else status.status
    why = f" ({one_line(status.why)})" if status.why else ""
    last = f" of {status.last}" if status.last else ""
    iteration = f"iteration {status.iteration}{last}"
    if has_ended and status.kind == RUN:
        iteration = messages.iterations(status.iteration)
    client = f", {status.client}" if status.client and not has_ended else ""
    items = f", {status.done} of {status.total} items" if status.total else ""
    return f"{how}{why}, {iteration}{client}{items}"


def line(status: Status) -> str:
    """Says on one line how it stands, with its name and its task."""
    name = f"{status.kind.title()} {status.id}"
    task = one_line(status.task, _TASK_IN_LINE)
    return f"{name}: {in_words(status)}, {int(status.seconds // 60)} min: {task}"


def worker_lines(status: Status, now: float) -> list[str]:
    """Says how the workers of a run stand, a line each."""
    return [_worker_line(each, now) for each in status.workers]


def _worker_line(worker: WorkerStatus, now: float) -> str:
    minutes = max(0, int((now - worker.since) // 60))
    parts = (
        f"Worker {worker.number}: {one_line(worker.item, _ITEM_IN_LINE)}",
        worker.client,
        f"iteration {worker.iteration}" if worker.iteration > 1 else "",
        f"{minutes} min" if worker.is_at_work else "begun",
        f"context {worker.percent} %" if worker.percent else "",
        worker.doing,
    )
    return ", ".join(part for part in parts if part)


def run_as_dict(store: Store, run: Run, now: float) -> dict[str, Any]:
    """Returns a run as --json shows it, with its workers."""
    found = workers.of(store, run)
    own = state_file.run_as_dict(workers.with_used(run, found), user_actions.owner_id(store, run))
    return own | {"workers": [_worker_as_dict(_of_worker(store, each, run, now)) for each in found]}


def _worker_as_dict(worker: WorkerStatus) -> dict[str, Any]:
    return {
        "number": worker.number,
        "item": worker.item,
        "iteration": worker.iteration,
        "since": iso(worker.since),
        "is_merging": worker.is_merging,
        "waits_until": iso(worker.waits_until) if worker.waits_until else None,
        "action": worker.action or None,
        "heard_at": iso(worker.heard_at) if worker.heard_at else None,
        "percent": worker.percent or None,
        "tokens": worker.tokens,
        "session_id": worker.session or None,
        "client": worker.client or None,
        "worktree": worker.worktree,
    }


# ---------------------------------------------------------------- all of them


def live(store: Store, now: float, project: str = "") -> list[Status]:
    """Returns how all stand that have not ended: loops, holds and runs, each the newest first.
    project: "" = in all projects."""
    found = (each for each in loops.unended(store) if project in ("", each.project))
    return [of(store, each, now) for each in found]


def needs(store: Store, now: float, statuses: list[Status] | None = None) -> list[Need]:
    """Returns what waits for the user in all projects, the longest first. statuses: what `live`
    says of all projects; None = nobody has asked it."""
    statuses = live(store, now) if statuses is None else statuses
    found = [e.need for e in statuses if e.need and e.need.loop and e.is_current]
    found += [_need_of_failed(store, each) for each in loops.failed_runs(store)]
    owners = {each.session for each in found}
    asking = [*_requests(store), *_standstills(store, now)]
    found += [each for each in asking if each.session not in owners]
    found += _dialogs(store, now)
    return sorted(found, key=lambda each: each.since)


def as_dict(need: Need) -> dict[str, Any]:
    return {
        "kind": need.kind,
        "text": need.text,
        "since": iso(need.since),
        "answer": need.answer,
        "project": need.project,
        "session_id": need.session or None,
        "loop_id": need.loop or None,
    }


# ---------------------------------------------------------------- one of them


def of(store: Store, loop: Work, now: float) -> Status:
    """Returns how a loop, hold or run stands."""
    if isinstance(loop, Run):
        return _of_run(store, loop, now)
    session = Session.load(store, loop.session)
    is_left = user_actions.is_left(store, loop)
    is_active = loop.is_active and not is_left
    current = loops.current(store, session) if session.n else None
    is_outer = current is not None and current.id != loop.id
    waits_itself = loop.ended_at is None and not (is_outer and is_active)
    need = _need(store, loop, session, now, is_left=is_left) if waits_itself else None
    if is_active and not need:
        need = _need_of_session(store, session, now)
    is_waiting = is_active and need is not None and not need.loop
    state = LEFT if is_left else WAITING if is_waiting else loop.result or loop.status
    return Status(
        **_common(store, loop, loop.seconds(now)), need=need,
        pending=messages.waits_for(current) if current and is_outer and is_active else "",
        is_current=not is_outer,
        why=need.text if need and is_waiting else loop.why, state=state,
        session=session.id, heard_at=session.seen_at,
        is_working=is_active and not is_waiting and session.n > 0 and session.idle_since is None,
    )  # fmt: skip


def _of_run(store: Store, run: Run, now: float) -> Status:
    stands, is_left, found = run.state, run.is_left, workers.of(store, run)
    session = Session.load(store, run.session)
    used = workers.with_used(run, found)
    last = run.action if run.is_at_work else stands.action
    common = _common(store, run, used.seconds(now))
    if run.ended_at is not None:
        common["iteration"] = stands.finished
    common |= {
        "done": len(stands.done), "total": stands.total,
        "tokens": used.all_tokens, "cost": used.all_cost,
        "failed": sum(item in stands.failed for item in stands.todo),
        "not_proven": _not_proven(run),
        "item": stands.item if run.ended_at is None else "",
        "action": messages.last_action(last, run.folder),
    }  # fmt: skip
    return Status(
        **common, need=_need_of_run(store, run, session), why=run.why,
        pending=messages.STOPS_SOON if run.is_at_work and not run.is_active else "",
        is_current=True,
        state=LEFT if is_left else run.result or run.status,
        session=session.id, heard_at=used.heard_at,
        is_working=run.is_active and not is_left,
        workers=[_of_worker(store, each, run, now) for each in found],
        client=run.client_at_work,
    )  # fmt: skip


def _of_worker(store: Store, worker: Worker, run: Run, now: float) -> WorkerStatus:
    state, counters = worker.state, worker.counters
    is_at_work, action = run.is_at_work, messages.last_action(worker.action, worker.folder)
    return WorkerStatus(
        worker.number, state.only, counters.iteration,
        since=max(worker.started_at, counters.resumed_at, state.began_at),
        is_at_work=is_at_work, is_merging=is_at_work and state.is_merging,
        waits_until=state.waits_until if is_at_work and state.waits_until > now else 0.0,
        action=action, doing=(workers.doing(worker, now) or action) if is_at_work else "",
        heard_at=worker.heard_at, percent=worker.percent, tokens=worker.all_tokens,
        cost=worker.all_cost, session=Session.load(store, worker.session).id,
        worktree=worker.worktree, client=worker.client_at_work,
    )  # fmt: skip


def _common(store: Store, loop: Work, seconds: float) -> dict[str, Any]:
    counters = loop.counters
    return {
        "id": loop.id, "kind": loop.kind, "task": one_line(loop.task, TASK_CHARACTERS),
        "project": loop.project, "worktree": "" if loop.ended_at else loop.worktree,
        "status": loop.status, "iteration": counters.iteration, "seconds": seconds,
        "last": loop.options.max_iterations, "tokens": iterations.tokens(store, loop),
        "started_at": loop.started_at, "ended_at": loop.ended_at,
        "done": 0, "total": 0, "failed": 0, "not_proven": {}, "cost": 0.0, "item": "", "action": "",
    }  # fmt: skip


def _not_proven(run: Run) -> dict[str, int]:
    """Returns how many items of a run are ticked though nothing proves them, by evidence."""
    items = (item for item in run.state.done if item not in run.state.before)
    found = evidence.counts(run.state.evidence.get(item, "") for item in items)
    return {word: found[word] for word in (UNCHANGED, UNPROVEN) if word in found}


# ---------------------------------------------------------------- what it needs


def _need(store: Store, loop: Work, session: Session, now: float, *, is_left: bool) -> Need | None:
    """Returns what a loop or hold itself waits for. is_left: nobody can go on with it."""
    if isinstance(loop, Hold):
        return _need_of_hold(store, loop, now)
    assert isinstance(loop, Loop), "of a run, see `_need_of_run`"
    if is_left:
        since = loop.left_at or session.ended_at or session.seen_at
        answer = messages.what_takes_up(loop, lifecycle.way_back(store, loop))
        text, brief = messages.where_left(loop), f"Session {session.id} is over."
        return Need(LEFT, text, since, answer, loop.project, session.id, loop.id, brief)
    return _need_of_idle(store, loop, session) if loop.is_active else _paused(loop, session.id)


def _need_of_idle(store: Store, loop: Work, session: Session) -> Need | None:
    """Returns what an active loop waits for whose session has stopped."""
    since, id = session.idle_since, session.id
    if since is None:
        return None
    if file := handoffs.checkpoint_of(store, session):
        text, answer = messages.waits_at_checkpoint(loop, file), messages.WHAT_FOLLOWS_CHECKPOINT
        brief = "It waits at a checkpoint."
        return Need(CHECKPOINT, text, since, answer, loop.project, id, loop.id, brief)
    resumed_at, answer = loop.counters.resumed_at, messages.what_goes_on(session_messages.short(id))
    if resumed_at > since:
        text, brief = messages.needs_prompt(loop), "Its session is idle."
        return Need(PROMPT, text, resumed_at, answer, loop.project, id, loop.id, brief)
    if session.interrupted:
        text, brief = messages.interrupted(loop), "You interrupted its agent."
        return Need(PROMPT, text, since, answer, loop.project, id, loop.id, brief)
    return None


def _need_of_hold(store: Store, hold: Hold, now: float) -> Need | None:
    if not hold.is_active:
        return _paused(hold, "")
    plan = holds.plan_facts(holds.plan_now(store, hold, now))
    if not plan.no_work:
        return None
    text, since = hold_messages.has_no_work(hold, plan), holds.last_stop(store, hold)
    answer, brief = hold_messages.WHAT_GIVES_WORK, f"It holds nobody: {plan.no_work}."
    return Need(NO_WORK, text, since, answer, hold.project, loop=hold.id, brief=brief)


def _need_of_run(store: Store, run: Run, session: Session) -> Need | None:
    """Returns what a run waits for that has not ended and does not work now."""
    if run.is_at_work or run.ended_at is not None:
        return None
    if not run.is_active:
        return _paused(run, session.id)
    text, answer = messages.where_left(run), messages.what_continues(run)
    since, brief = _last_seen(store, run, session), "Its process is gone."
    return Need(LEFT, text, since, answer, run.project, session.id, run.id, brief)


def _last_seen(store: Store, run: Run, session: Session) -> float:
    """Returns when a run was last seen at work: by its own process, at the end of an iteration, or
    by a hook in its session. Its client may outlive that process."""
    ended = [each.at for each in iterations.of(store, run)]
    return max(workers.worked_at(store, run), *ended, session.seen_at)


def _need_of_failed(store: Store, run: Work) -> Need:
    """Returns the need of a run that nobody has looked after since it failed."""
    text, answer = messages.run_failed(run), messages.what_follows_failure(run)
    session, since = user_actions.owner_id(store, run), run.ended_at or run.started_at
    return Need(run.result, text, since, answer, run.project, session, run.id)


def _paused(loop: Work, session: str) -> Need:
    since = loop.counters.paused_at or loop.started_at
    text, answer = messages.why_waits(loop), messages.what_resumes(loop)
    return Need(loop.status, text, since, answer, loop.project, session, loop.id)


# ---------------------------------------------------------------- what a session needs


def _need_of_session(store: Store, session: Session, now: float) -> Need | None:
    """Returns what keeps a session that is made to go on from working until its user comes."""
    latest = now - dialog.OPEN_SECONDS
    for each in sessions.contexts(store, session.id) if session.n else ():
        if each.dialog and (each.dialog_at or now) <= latest and dialog.is_open(each):
            return _dialog(each, session, now)
    if session.failed or (session.question and not session.rests):
        return _request(session)
    return None


def _requests(store: Store) -> Iterator[Need]:
    """Yields what the unattended sessions need that have stopped because they failed, need
    something, or asked. One that its user interrupted is no news to them."""
    for session in sessions.asking(store):
        if not session.is_gone and is_unattended(store, session):
            yield _request(session)


def _request(session: Session) -> Need:
    id, kind, answer = session.id, QUESTION, "Answer it in its session."
    text = session_messages.asks(id, session.question)
    if session.failed:
        kind, text = FAILURE, session_messages.failed(id, session.failed)
    elif session.rests:
        kind, text = RESTS, session_messages.rests(id, session.rests)
    if kind != QUESTION:
        answer = session_messages.ANSWER_REST
    since = session.seen_at if session.idle_since is None else session.idle_since
    return Need(kind, text, since, answer, session.project, id, brief=sentence(text))


def _standstills(store: Store, now: float) -> Iterator[Need]:
    """Yields the sessions that have stopped though their work stands: in plan mode, or for longer
    than background work excuses."""
    for session in sessions.standing_still(store):
        stops, since = session.stops, session.idle_since or now
        is_late = not stops.waits or now - max(stops.waits.values()) > STANDSTILL_SECONDS
        if is_late and not session.is_gone and is_unattended(store, session):
            name = session_messages.short(session.id)
            text = f"Session {name} stands still: {one_line(stops.standstill)}"
            answer = session_messages.ANSWER_REST
            yield Need(STANDSTILL, text, since, answer, session.project, session.id)


def _dialogs(store: Store, now: float) -> Iterator[Need]:
    """Yields the dialogs of sessions and their subagents that nobody has answered for a while."""
    for each in sessions.with_dialogs(store, now - dialog.OPEN_SECONDS):
        main = Session.of_client(store, each.client, each.id)
        if main.n and is_unattended(store, main) and dialog.is_open(each):
            yield _dialog(each, main, now)


def _dialog(asks: Session, main: Session, now: float) -> Need:
    text = session_messages.asks_permission(main.id, asks.dialog, main.project)
    since, answer = asks.dialog_at or now, "Answer the dialog in its terminal."
    return Need(dialog.KIND, text, since, answer, main.project, main.id, brief=sentence(text))


def is_unattended(store: Store, session: Session) -> bool:
    """Tells whether a session is made to go on, so that nobody need look at it."""
    if session.ended_at is not None:
        return False
    hold = loops.hold_of(store, session)
    has_active = any(each.is_active for each in loops.live(store, session))
    is_held = hold is not None and hold.is_active
    return has_active or is_held or bool(enforced_since(store, session.project))
