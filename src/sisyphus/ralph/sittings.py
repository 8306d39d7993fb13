"""What the comings and goings of a session mean for its loops."""

from __future__ import annotations

from sisyphus.clients.base import Outcome
from sisyphus.ralph import loop as lp
from sisyphus.ralph import lost, store, texts
from sisyphus.times import iso

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus._types import Json
    from sisyphus.clients.base import Payload
    from sisyphus.ralph.loop import Loop
    from sisyphus.ralph.store import LoopStore
    from sisyphus.workspace import Workspace

STUCK = (lp.BY_BREAKER, lp.BY_HOST_CAP)


def forked(payload: Payload, space: Workspace) -> None:
    """A fork's older lines are its parent's."""
    if store.glance(space.ours, payload.session).is_new:
        with store.LoopStore(space.ours, payload.session) as held:
            held.memory.forked_at = iso(space.now)
            held.save_memory()


def resumed(payload: Payload, space: Workspace) -> Outcome | None:
    """A session goes on. It may have a past without us, or a loop that waited for too long."""
    if store.glance(space.ours, payload.session).is_new:
        with store.LoopStore(space.ours, payload.session) as held:
            held.memory.met_at = iso(space.now)
            held.save_memory()
    has_loop = store.has_loop(space.ours, payload.session)
    if not has_loop or not space.settings.get("ralph.enabled"):
        return None
    with store.LoopStore(space.ours, payload.session) as held:
        outcome = _take_up(payload, space, held)
    return lost.told(outcome, held.faults, payload, space)


def _take_up(payload: Payload, space: Workspace, held: LoopStore) -> Outcome | None:
    from sisyphus.ralph import stale
    from sisyphus.ralph.past import history

    for waiting in held.loops:
        history.started(space.ours, waiting, held.path(waiting))
    loop = held.loops[-1] if held.loops else None
    if loop is None or loop.is_paused:
        return None
    lp.stand_still(held.loops, stale.quiet_seconds(held.path(loop), space.now))
    if stale.was_stale(space, payload.session, held.path(loop)):
        lp.pause(held.loops, lp.BY_STALENESS, space.now)
        held.save(held.loops)
        return Outcome(messages=[texts.stale(loop)], notes=[f"loop {loop.loop_id} is stale"])
    held.save(held.loops)
    return Outcome(messages=[texts.taken_up(loop)], notes=[f"loop {loop.loop_id} is taken up"])


def compacted(payload: Payload, space: Workspace) -> Outcome | None:
    if not store.has_loop(space.ours, payload.session):
        return None
    with store.LoopStore(space.ours, payload.session) as held:
        for loop in held.loops:
            loop.prompt_known = False
        held.save(held.loops)
    outcome = Outcome(notes=["compacted: the loop's prompt goes out again with the next block"])
    return lost.told(outcome, held.faults, payload, space)


def heard_user(payload: Payload, space: Workspace) -> Outcome | None:
    """The user spoke: what waited for that goes on."""
    from sisyphus.ralph import cooling

    with store.LoopStore(space.ours, payload.session) as held:
        held.memory.blocks = 0
        held.memory.heard = payload.prompt_id
        loop = held.loops[-1] if held.loops else None
        goes_on = loop is not None and (loop.paused_by == lp.BY_HOST_CAP)
        if loop:
            lp.end_wait(held.loops, space.now)
            if goes_on:
                lp.resume(held.loops, space.now)
            goes_on = cooling.try_again(held.loops, space) or goes_on
        held.save(held.loops)
    outcome = Outcome(notes=["the loop goes on: the user spoke"]) if goes_on else None
    return lost.told(outcome, held.faults, payload, space)


def left(payload: Payload, space: Workspace) -> Outcome | None:
    """The client is gone. Its loops keep their files: whoever resumes the session takes them up."""
    from sisyphus.ralph.past import history

    notes = []
    with store.LoopStore(space.ours, payload.session) as held:
        waits = held.loops[-1].waiting if held.loops else {}
        lp.rest(held.loops, lp.waits_since(waits, space.now))
        for loop in held.loops:
            outcome = lp.STUCK if loop.paused_by in STUCK else lp.ABANDONED
            why = f"the client has gone ({payload.reason})" if payload.reason else ""
            history.ended(space.ours, loop, outcome, space.now, why)
            notes.append(f"loop {loop.loop_id} is left behind ({outcome}); a resume takes it up")
    return lost.told(Outcome(notes=notes), held.faults, payload, space)


def failed(payload: Payload, space: Workspace) -> Outcome | None:
    """A turn ended with an error of the client's: nothing is counted, a limit is waited for."""
    message = " ".join((payload.last_message or "").split())[:200]
    outcome = Outcome(notes=[f"the turn failed ({payload.error or 'unknown'}): {message}"])
    with store.LoopStore(space.ours, payload.session) as held:
        loop = held.loops[-1] if held.loops else None
        if loop and not loop.is_paused:
            loop.waiting = _waiting(loop, payload, space)
            held.save(held.loops)
            outcome.messages += texts.waits(loop)
            outcome.notes += texts.waits_note(loop)
            _tell(loop, space)
    return lost.told(outcome, held.faults, payload, space)


def _tell(loop: Loop, space: Workspace) -> None:
    """Where the loop waits."""
    if loop.waiting:
        from sisyphus.ralph.telling import tell

        tell(space, "pause", loop, f"waits for the {loop.waiting.get('for', 'limit')} to end")


def _waiting(loop: Loop, payload: Payload, space: Workspace) -> Json:
    from sisyphus.ralph import limits, watch

    records = watch.last_records(payload.transcript)
    found = limits.waiting(payload.error, payload.last_message or "", records, space.now)
    return {**found, "tries": _tries(loop)} if found else {}


def _tries(loop: Loop) -> int:
    """How many turns have failed in a row before this one."""
    before = loop.waiting.get("tries")
    return before + 1 if type(before) is int else 0
