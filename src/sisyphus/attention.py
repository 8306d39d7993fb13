"""What waits for the user, in all projects: one list for `sisyphus status` and for programs.

A session that its user watches needs no list: only unattended ones show their dialogs and
questions. Those have an active loop, an active hold of their plan, or enforcement in their project.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sisyphus.boulder import hold_messages, holds
from sisyphus.enforce.enforcements import enforced_since
from sisyphus.ground.record import Record
from sisyphus.ground.store import Store
from sisyphus.ground.text import iso
from sisyphus.handoff import handoffs
from sisyphus.hook.session import Session
from sisyphus.loops import lifecycle, loops, runs, user_actions
from sisyphus.loops import messages as loop_messages
from sisyphus.loops.loops import Loop
from sisyphus.sessions import dialog, sessions
from sisyphus.sessions import messages as session_messages
from sisyphus.sessions.hooks import FAILURE

RESTS, QUESTION, LEFT, NO_WORK, CHECKPOINT, PROMPT, STANDSTILL = (
    "rests", "question", "left", "no_work", "checkpoint", "prompt", "standstill",
)  # fmt: skip
"""Kinds, besides the dialog's, the statuses of a loop that is not active, and the result of a run
that failed. RESTS: a session that said that it needs its user, under a hold or enforcement. LEFT: a
loop whose session is over, or a run whose process is gone.
NO_WORK: a hold whose plan nobody can go on with. CHECKPOINT: a session with a loop that has ended
with a handoff. PROMPT: a loop that was resumed or answered outside of its idle session, or whose
session the user has interrupted. STANDSTILL: a session that has stopped in plan mode, or for
background work that does not end."""


STANDSTILL_SECONDS = 600
"""After so long, background work that has not ended is something to look at. It is what
`ralph.background_wait` has if nobody sets it; here nobody knows the settings of each project."""


class Waiting(Record, frozen=True):
    """One thing that waits for the user.

    text: what it is. since: in seconds since 1970. answer: what the user can do about it. session,
    loop: their ids; "" = none.
    """

    kind: str
    text: str
    since: float
    answer: str
    project: str
    session: str = ""
    loop: str = ""


def waiting(store: Store, now: float) -> list[Waiting]:
    """Returns what waits in all projects, the longest first."""
    found = [*_loops(store), *_holds(store, now), *_runs(store)]
    owners = {each.session for each in found}
    asking = [*_requests(store), *_standstills(store, now)]
    found += [each for each in asking if each.session not in owners]
    found += _dialogs(store, now)
    return sorted(found, key=lambda each: each.since)


def as_dict(each: Waiting) -> dict[str, Any]:
    return {
        "kind": each.kind,
        "text": each.text,
        "since": iso(each.since),
        "answer": each.answer,
        "project": each.project,
        "session_id": each.session or None,
        "loop_id": each.loop or None,
    }


def _loops(store: Store) -> Iterator[Waiting]:
    """Of nested loops, yields the one that its session works at."""
    for number in dict.fromkeys(loop.session for loop in loops.all_live(store)):
        session = Session.load(store, number)
        id, idle_since = session.id, session.idle_since
        loop = loops.current(store, session)
        assert loop is not None
        if user_actions.is_left(store, loop):
            since = loop.left_at or session.ended_at or session.seen_at
            text, answer = (
                loop_messages.where_left(loop),
                loop_messages.what_takes_up(loop, lifecycle.way_back(store, loop)),
            )
            yield Waiting(LEFT, text, since, answer, loop.project, id, loop.id)
        elif not loop.is_active:
            yield _paused(loop, id)
        elif idle_since is not None and (file := handoffs.checkpoint_of(store, session)):
            text, answer = (
                loop_messages.waits_at_checkpoint(loop, file),
                loop_messages.WHAT_FOLLOWS_CHECKPOINT,
            )
            yield Waiting(CHECKPOINT, text, idle_since, answer, loop.project, id, loop.id)
        elif idle_since is not None and loop.counters.resumed_at > idle_since:
            text, answer = (
                loop_messages.needs_prompt(loop),
                loop_messages.what_goes_on(session_messages.short(id)),
            )
            since = loop.counters.resumed_at
            yield Waiting(PROMPT, text, since, answer, loop.project, id, loop.id)
        elif idle_since is not None and session.interrupted:
            text, answer = (
                loop_messages.interrupted(loop),
                loop_messages.what_goes_on(session_messages.short(id)),
            )
            yield Waiting(PROMPT, text, idle_since, answer, loop.project, id, loop.id)


def _holds(store: Store, now: float) -> Iterator[Waiting]:
    for hold in loops.holds(store):
        plan = holds.plan_facts(holds.plan_now(store, hold, now))
        if not hold.is_active:
            yield _paused(hold, "")
        elif plan.no_work:
            since = holds.last_stop(store, hold)
            text, answer = hold_messages.has_no_work(hold, plan), hold_messages.WHAT_GIVES_WORK
            yield Waiting(NO_WORK, text, since, answer, hold.project, loop=hold.id)


def _runs(store: Store) -> Iterator[Waiting]:
    """Yields the runs that do not work now, and those that nobody has looked after since they
    failed."""
    for run in loops.runs(store):
        own = runs.of(store, run)
        if own.is_at_work:
            continue
        session = Session.load(store, own.session).id
        if run.is_active:
            text, since, answer = (
                loop_messages.where_left(run),
                runs.last_seen(store, own),
                loop_messages.what_continues(run),
            )
            yield Waiting(LEFT, text, since, answer, run.project, session, run.id)
        else:
            yield _paused(run, session)
    for run in loops.failed_runs(store):
        text, answer = loop_messages.run_failed(run), loop_messages.what_follows_failure(run)
        session = Session.load(store, runs.of(store, run).session).id
        since = run.ended_at or run.started_at
        yield Waiting(run.result, text, since, answer, run.project, session, run.id)


def _paused(loop: Loop, session: str) -> Waiting:
    since = loop.counters.paused_at or loop.started_at
    text, answer = loop_messages.why_waits(loop), loop_messages.what_resumes(loop)
    return Waiting(loop.status, text, since, answer, loop.project, session, loop.id)


def _is_unattended(store: Store, session: Session) -> bool:
    if session.ended_at is not None:
        return False
    hold = loops.hold_of(store, session)
    has_active = any(each.is_active for each in loops.live(store, session))
    is_held = hold is not None and hold.is_active
    return has_active or is_held or bool(enforced_since(store, session.project))


def _requests(store: Store) -> Iterator[Waiting]:
    """Yields the sessions that have stopped because they failed, need something, or asked. One that
    its user interrupted is no news to them."""
    for session in sessions.asking(store):
        if session.is_gone or not _is_unattended(store, session):
            continue
        id, project = session.id, session.project
        since = session.seen_at if session.idle_since is None else session.idle_since
        if session.failed:
            text, answer = session_messages.failed(id, session.failed), session_messages.ANSWER_REST
            yield Waiting(FAILURE, text, since, answer, project, id)
        elif session.rests:
            text, answer = session_messages.rests(id, session.rests), session_messages.ANSWER_REST
            yield Waiting(RESTS, text, since, answer, project, id)
        else:
            text = session_messages.asks(id, session.question)
            yield Waiting(QUESTION, text, since, session_messages.ANSWER_QUESTION, project, id)


def _standstills(store: Store, now: float) -> Iterator[Waiting]:
    """Yields the sessions that have stopped though their work stands: in plan mode, or for longer
    than background work excuses."""
    for session in sessions.standing_still(store):
        stops, since = session.stops, session.idle_since or now
        is_late = not stops.waits or now - max(stops.waits.values()) > STANDSTILL_SECONDS
        if is_late and not session.is_gone and _is_unattended(store, session):
            text = session_messages.stands_still(session.id, stops.standstill)
            answer = session_messages.ANSWER_REST
            yield Waiting(STANDSTILL, text, since, answer, session.project, session.id)


def _dialogs(store: Store, now: float) -> Iterator[Waiting]:
    """Yields the dialogs of sessions and their subagents that nobody has answered for a while."""
    for each in sessions.with_dialogs(store, now - dialog.OPEN_SECONDS):
        main = Session.of_client(store, each.client, each.id)
        if main.n and _is_unattended(store, main) and dialog.is_open(each):
            text = session_messages.asks_permission(main.id, each.dialog, main.project)
            since, answer = each.dialog_at or now, session_messages.ANSWER_DIALOG
            yield Waiting(dialog.KIND, text, since, answer, main.project, main.id)
