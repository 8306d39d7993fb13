"""A session begins to be held to its plan: at the first Stop at which the plan has something to do,
and once for each enforcement."""

from __future__ import annotations

from sisyphus.arbiter import hold
from sisyphus.arbiter import hold_words as words
from sisyphus.ralph import loop as lp
from sisyphus.times import iso

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus.arbiter.judge import Case
    from sisyphus.boulder.enforcement import Enforced
    from sisyphus.ralph.loop import Loop

SESSIONS_BEFORE = 20
"""So many /clear in a row are followed back."""


def begin(case: Case) -> None:
    """Begins a hold where one is asked for and the plan has something to do."""
    from sisyphus.boulder import enforcement

    asked = enforcement.asked_for(case.space, case.payload.session)
    if asked is None or not hold.may_begin(asked, case.held.memory) or _was_held(asked, case):
        return
    loop = _loop(asked, case)
    plan = hold.standing(case, loop)
    if words.rests(plan):
        return
    if case.payload.session in asked.released:
        _take_back(asked, case)
    loop.prompt = words.prompt(plan)
    _put_in_place(loop, case)


def _was_held(asked: Enforced, case: Case) -> bool:
    """Whether a session before /clear was held, and is no more: then neither is this one."""
    from sisyphus.ralph import store
    from sisyphus.session.client_process import session_before

    ours, memory = case.space.ours, case.held.memory
    before = session_before(ours, case.payload.session)
    for _ in range(SESSIONS_BEFORE):
        if before and not hold.may_begin(asked, store.glance(ours, before)):
            memory.learn({*memory.starts, hold.origin(asked)})
            return True
        before = session_before(ours, before) if before else ""
    return False


def _take_back(asked: Enforced, case: Case) -> None:
    """What released the session is past: it works on the plan again."""
    from sisyphus.boulder import enforcing

    enforcing.take_back(case.space, asked, case.payload.session)


def _loop(asked: Enforced, case: Case) -> Loop:
    from sisyphus.ralph import adopt
    from sisyphus.ralph.arguments import MAX_ITERATIONS

    loop = lp.Loop(case.payload.session, adopt.new_id(), "")
    loop.project = case.space.root
    loop.max_iterations = asked.max_iterations or MAX_ITERATIONS
    loop.started_at = iso(case.space.now)
    loop.origin = hold.origin(asked)
    loop.options = {lp.PLAN: asked.path, hold.ROOT: asked.root, "wait_for_user": True}
    limits = {"max_minutes": asked.max_minutes, "max_tokens": asked.max_tokens}
    loop.options.update({name: limit for name, limit in limits.items() if limit})
    return loop


def _put_in_place(loop: Loop, case: Case) -> None:
    """What was spent and what ran before is not its own; blocks of a hold before it still count."""
    from sisyphus.arbiter import gather
    from sisyphus.ralph import usage

    turn, memory, path = case.turn, case.held.memory, case.payload.transcript
    if case.held.loops or turn.begun:
        memory.forget_tasks()
    else:
        memory.begin_anew(path, memory.offset, usage.offsets(path))
        case.account = gather.this_turn(case.payload)
    memory.learn({*memory.starts, loop.origin})
    turn.loops.append(loop)
    turn.begun.append(loop)
    turn.notes.append(f"loop {loop.loop_id} started: {loop.description}")
