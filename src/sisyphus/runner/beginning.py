"""Begins a run: a new one, or the last one of the project again."""

from __future__ import annotations

import copy
import os
import time
from functools import partial

from sisyphus import clients
from sisyphus.boulder import plan_status
from sisyphus.boulder.plans import ACTIVE
from sisyphus.ground import exports, git, processes
from sisyphus.ground.errors import SisyphusError
from sisyphus.ground.record import replace
from sisyphus.handoff import handoffs, writing
from sisyphus.hook.session import Session
from sisyphus.loops import history, lifecycle, loops, runs
from sisyphus.loops.loops import RUN, SUCCESS
from sisyphus.loops.runs import Run, RunOptions, RunState
from sisyphus.ralph.arguments import Arguments
from sisyphus.runner import decide, fix_plan, messages, project_files
from sisyphus.terminal.show import Place


def new(place: Place, arguments: Arguments, plan: str) -> Run:
    """Returns a run that has not begun. plan: the file with its items; "" = none. Raises
    `SisyphusError` if one is at work in the project."""
    before = runs.latest(place.store, place.project)
    if before:
        _need_rest(before)
    loop = lifecycle.new_loop(place.project, arguments.prompt, arguments.options, time.time())
    loop.kind = RUN
    done = fix_plan.read(plan, place.project).done if plan else []
    stands = RunState(plan=plan, before=done, head=git.head(place.project))
    return Run(loop, RunOptions(), stands)


def find_plan(place: Place) -> str:
    """Returns the file with the items: `fix_plan.md`, else the plan that the next session would
    follow; "" = none."""
    plan = plan_status.of_project(place.store, place.project, Session(), time.time(), place.folder)
    is_open = plan.record and plan.state in (ACTIVE, plan_status.STALE)
    return fix_plan.find(place.project, plan.record.path if plan.record and is_open else "")


def begin(place: Place, run: Run) -> str:
    """Inserts a run; returns what the user is told about the one that it replaces."""
    run.runner = processes.key(os.getpid())
    with place.store.write():
        before = runs.latest(place.store, place.project)
        if before:
            _need_rest(before)
        replaced = before if before and before.loop.ended_at is None else None
        if replaced:
            loops.cancel(place.store, replaced.loop, messages.replaced_by(run), time.time())
        runs.insert(place.store, run)
    if before:
        runs.end_client(before)
    exports.run([partial(history.export, place.store)])
    return messages.replaces(replaced) if replaced else ""


def find(place: Place) -> Run:
    """Returns the last run of the project. Raises `SisyphusError` if it cannot be resumed."""
    run = runs.latest(place.store, place.project)
    if run is None:
        raise SisyphusError(messages.NOTHING_TO_RESUME)
    _need_rest(run)
    if run.loop.result == SUCCESS:
        raise SisyphusError(messages.is_complete(run))
    return run


def check_limits(place: Place, run: Run) -> None:
    """Raises `SisyphusError` if a run that is to be resumed has used up one of its limits. Ends a
    client of it that is still there: it would use more."""
    now, again = time.time(), copy.deepcopy(run)
    _reopen(place, again, now)
    loop, state = again.loop, again.state
    limits = (
        ("--max-iterations", decide.max_iterations(again), str(state.finished - state.audits)),
        ("--max-minutes", decide.minutes(loop, now), str(int(loop.seconds(now) // 60))),
        ("--max-tokens", decide.tokens(loop), str(loop.counters.tokens)),
        ("--max-usd", decide.dollars(again), f"{state.cost:.2f}"),
    )
    for option, why, used in limits:
        if why:
            has_ended_client = runs.end_client(run)
            raise SisyphusError(
                messages.cannot_go_on(run, why, option, used, has_ended_client=has_ended_client)
            )


def resume(place: Place, run: Run) -> bool:
    """Makes a run active again; tells whether a client of it was still there and was ended. An
    iteration that had no end is made again, from its handoff. Raises `SisyphusError` if somebody
    else was quicker."""
    now = time.time()
    has_ended_client = runs.end_client(run)
    handoff = None
    if run.state.is_working:
        handoff = writing.of_cut_session(
            place.store, place.settings, Session.load(place.store, run.session), now
        )
    with place.store.write():
        fresh = runs.find(place.store, run.loop.id)
        if fresh is None:
            raise SisyphusError(messages.NOTHING_TO_RESUME)
        _need_rest(fresh)
        fresh.options, fresh.loop.options = run.options, run.loop.options
        if fresh.loop.ended_at is not None or fresh.loop.left_at is not None:
            history.forget(place.store, fresh.loop)
        _reopen(place, fresh, now)
        if handoff:
            handoffs.give(place.store, handoff)
            fresh.state.resume = handoff.resume
            fresh.state.checkpoint = project_files.checkpoint(handoff, fresh.state.item)
        runs.save(place.store, fresh)
    run.loop, run.state, run.session = fresh.loop, fresh.state, fresh.session
    run.runner, run.client, run.heard_at = fresh.runner, fresh.client, fresh.heard_at
    exports.run([partial(history.export, place.store)])
    return has_ended_client


def _reopen(place: Place, run: Run, now: float) -> None:
    """Makes a run active as from now: what was blocked is tried again, and all counts begin anew.
    The time since its process was killed is a pause."""
    loop, stands = run.loop, run.state
    if run.client:
        _count_killed(place, run)
    rests_since = None if run.runner else loop.counters.paused_at or loop.ended_at
    loop.counters.paused_at = rests_since or run.worked_at
    loop.ended_at, loop.left_at, loop.result = None, None, ""
    loop.resume(now)
    run.runner, run.client = processes.key(os.getpid()), ""
    stands.blocked, stands.stops = {}, {}
    stands.failed = {item: replace(each, tries=0) for item, each in stands.failed.items()}
    stands.first_audit, stands.clean_audits = stands.audits, 0
    stands.is_auditing = stands.is_auditing and run.options.audits > 0
    stands.plan = stands.plan or find_plan(place)


def _count_killed(place: Place, run: Run) -> None:
    """Adds what a client used whose run was killed, as far as its transcript says."""
    stands = run.state
    session = Session.load(place.store, run.session)
    if session.transcript:
        transcript = clients.transcript(session.client)
        records = transcript.read(session.transcript, since=stands.began_at).records
        tokens = sum(record.tokens for record in records)
        tokens += transcript.subagent_tokens(session.transcript, stands.began_at)
        run.loop.counters.tokens += tokens
        stands.spent_tokens += tokens
        run.heard_at = max(run.heard_at, *(record.at for record in records), 0.0)
    stands.spent_seconds += max(0.0, run.heard_at - stands.began_at)


def _need_rest(run: Run) -> None:
    """Raises `SisyphusError` if a process of ours works at the run, even if it has been cancelled:
    it still ends its client."""
    if run.is_at_work:
        raise SisyphusError(messages.is_at_work(run))
