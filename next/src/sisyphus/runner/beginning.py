"""Begins a run: a new one, or the last one of the project again."""

from __future__ import annotations

import os
import time

from sisyphus import clients, git, processes
from sisyphus.cli.show import Place
from sisyphus.errors import SisyphusError
from sisyphus.handoff import messages as handoff_words
from sisyphus.handoff import record as handoffs
from sisyphus.handoff import writing
from sisyphus.handoff.record import Handoff
from sisyphus.ralph import history, lifecycle
from sisyphus.ralph import loop as loops
from sisyphus.ralph.arguments import Arguments
from sisyphus.ralph.loop import RUN, SUCCESS
from sisyphus.runner import fix_plan, messages, preflight, project_files, state
from sisyphus.runner.options import RunOptions
from sisyphus.runner.state import Run, RunState
from sisyphus.sessions import usage


def new(place: Place, arguments: Arguments, options: RunOptions) -> Run:
    """Returns a run that has not begun. Raises `SisyphusError` if one is at work in the project."""
    before = state.latest(place.store, place.project)
    if before:
        _need_rest(before)
    loop = lifecycle.new_loop(place.project, arguments, time.time())
    loop.kind = RUN
    plan = preflight.find_plan(place)
    done = fix_plan.read(plan, place.project).done if plan else []
    stands = RunState(plan=plan, before=done, head=git.head(place.project))
    return Run(loop, options, stands)


def begin(place: Place, run: Run) -> str:
    """Inserts a run; returns what the user is told about the one that it replaces."""
    run.runner = processes.key(os.getpid())
    with place.store.write():
        before = state.latest(place.store, place.project)
        if before:
            _need_rest(before)
        replaced = before if before and before.loop.ended_at is None else None
        if replaced:
            loops.cancel(place.store, replaced.loop, f"replaced by {run.loop.id}", time.time())
        state.insert(place.store, run)
    if replaced:
        processes.end(replaced.client)
    history.export(place.store)
    return messages.replaces(replaced) if replaced else ""


def find(place: Place) -> Run:
    """Returns the last run of the project. Raises `SisyphusError` if it cannot be resumed."""
    run = state.latest(place.store, place.project)
    if run is None:
        raise SisyphusError(messages.NOTHING_TO_RESUME)
    _need_rest(run)
    if run.loop.result == SUCCESS:
        raise SisyphusError(messages.is_complete(run))
    return run


def resume(place: Place, run: Run) -> bool:
    """Makes a run active again; tells whether a client of it was still there and was ended. An
    iteration that had no end is made again, from its handoff. Raises `SisyphusError` if somebody
    else was quicker."""
    has_ended_client = processes.end(run.client)
    was_killed = run.loop.is_active and run.state.is_working and bool(run.client)
    handoff = _handoff(place, run) if run.state.is_working else None
    now = time.time()
    with place.store.write():
        if now_at_work := state.find(place.store, run.loop.id):
            _need_rest(now_at_work)
        loop = run.loop
        if loop.ended_at is not None or loop.left_at is not None:
            history.forget(place.store, loop)
        loop.counters.paused_at = loop.counters.paused_at or loop.ended_at or _last_seen(run)
        loop.ended_at, loop.left_at, loop.result = None, None, ""
        loop.resume(now)
        run.runner, run.client = processes.key(os.getpid()), ""
        run.loop.counters.tokens += _tokens(place, run) if was_killed else 0
        run.state.blocked, run.state.stops = {}, {}
        if handoff:
            handoffs.give(place.store, handoff)
            run.state.resume = handoff.resume
            run.state.checkpoint = project_files.checkpoint(handoff, run.state.item)
        state.save(place.store, run)
    history.export(place.store)
    return has_ended_client


def _tokens(place: Place, run: Run) -> int:
    """Returns what the iteration of a run used that was killed, as far as the transcript says."""
    row = place.store.one("SELECT transcript FROM session WHERE n = ?", run.session)
    if row is None or not row[0]:
        return 0
    transcript = clients.transcript(run.options.client)
    own = sum(record.tokens for record in transcript.read(row[0], since=run.state.began_at).records)
    return own + transcript.subagent_tokens(row[0], run.state.began_at)


def _last_seen(run: Run) -> float:
    """Returns when a run was last at work that was killed, as far as we know."""
    return run.state.began_at or run.loop.started_at


def _handoff(place: Place, run: Run) -> Handoff | None:
    """Returns the handoff of the session that was cut off; makes one from its transcript if there
    is none. None = nothing is known of it."""
    if own := handoffs.open_of(place.store, run.session):
        return writing.renew(place.store, own, time.time())
    row = place.store.one("SELECT id, transcript FROM session WHERE n = ?", run.session)
    if row is None or not row[1]:
        return None
    id, transcript = row
    used = usage.read(place.store, place.settings, run.options.client, run.session, transcript)
    source = writing.Source(
        place.store, run.options.client, run.session, id, place.project, transcript
    )
    made = writing.draft(
        source, used, used.level(place.settings), handoff_words.CUT_OFF, time.time()
    )
    writing.write(made)
    with place.store.write():
        handoffs.insert(place.store, made.handoff)
    return made.handoff


def _need_rest(run: Run) -> None:
    """Raises `SisyphusError` if a process of ours works at the run, even if it has been cancelled:
    it still ends its client."""
    if processes.is_alive(run.runner):
        raise SisyphusError(messages.is_at_work(run))
