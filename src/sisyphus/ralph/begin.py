"""A loop begins: the user types it, or the model calls the skill."""

from __future__ import annotations

from sisyphus.clients.base import Outcome
from sisyphus.errors import SisyphusError
from sisyphus.paths import display

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from sisyphus.clients.base import Payload
    from sisyphus.ralph.invocations import Start
    from sisyphus.ralph.loop import Loop
    from sisyphus.ralph.store import LoopStore
    from sisyphus.workspace import Workspace


def by_user(payload: Payload, space: Workspace, start: Start) -> Outcome | None:
    """The user's new loop replaces what he has. What he typed wrongly is told before any work, and
    so is that a loop cannot be kept here."""
    memory = space.memory
    if memory.problem and not memory.is_busy:
        return _refuse(start, f"without its memory sisyphus holds no session: {memory.problem}")
    try:
        return _by_user(payload, space, start)
    except (OSError, SisyphusError) as error:
        why = (error.strerror if isinstance(error, OSError) else None) or str(error)
        where = display(space.ours, space.root)
        return _refuse(start, f"its state cannot be kept in {where}: {why}")


def _by_user(payload: Payload, space: Workspace, start: Start) -> Outcome | None:
    from sisyphus.ralph import adopt, lost, store, texts
    from sisyphus.ralph.arguments import BadArgumentsError

    with store.LoopStore(space.ours, payload.session) as held:
        held.memory.learn({*held.memory.starts, start.early})
        held.memory.heard = payload.prompt_id
        try:
            loop, _ = adopt.adopt(start, payload.session, space)
        except BadArgumentsError as error:
            held.save_memory()
            return lost.told(_refuse(start, str(error)), held.faults, payload, space)
        replaced = [old for old in held.loops if not old.plan]
        put_in_place(held, loop, payload.transcript, space)
    notes = [f"loop {old.loop_id} cancelled: a new one replaces it" for old in replaced]
    begun = [texts.started(loop)]
    outcome = Outcome(messages=begun, notes=[*notes, f"loop {loop.loop_id} started"])
    return lost.told(outcome, held.faults, payload, space)


def put_in_place(held: LoopStore, loop: Loop, transcript: str, space: Workspace) -> None:
    """Makes it the session's loop, the only one but for an enforced plan around it; what was said
    and done before is not its own."""
    from sisyphus.ralph import loop as lp
    from sisyphus.ralph import signs, store, usage
    from sisyphus.ralph.past import history
    from sisyphus.transcript import size

    signs.begin(loop, space)
    staying = lp.staying(held.loops, space.now)
    for old in reversed(held.loops):
        if old not in staying:
            history.ended(space.ours, old, lp.CANCELLED, space.now, "another loop replaced it")
    history.started(space.ours, loop, store.loop_path(space.ours, loop.session_id))
    held.memory.begin_anew(transcript, size(transcript), usage.offsets(transcript))
    held.save([*staying, loop])


def by_model(payload: Payload, space: Workspace, start: Start) -> Outcome | None:
    """What was said before is read at Stop, and belongs to the loops that were there before."""
    from sisyphus.ralph import adopt, events, lost, store, texts, turn, usage
    from sisyphus.transcript import size

    with store.LoopStore(space.ours, payload.session) as held:
        known = turn.Known([*held.memory.starts, *(loop.origin for loop in held.loops)])
        nested = turn.follow(
            held.loops,
            [events.Event(events.STARTED, start=start)],
            lambda asked: adopt.adopt(asked, payload.session, space),
            known,
        )
        held.memory.learn(known.starts)
        if nested.begun and not held.loops:
            path = payload.transcript
            held.memory.begin_anew(path, size(path), usage.offsets(path))
        elif nested.begun:
            held.memory.forget_tasks()
        _log(nested.begun, space)
        held.save(nested.loops)
    messages = [texts.refused(reason) for reason in nested.refused]
    messages += [texts.started(loop) for loop in nested.begun]
    outcome = Outcome(messages=messages, notes=nested.notes)
    return lost.told(outcome, held.faults, payload, space)


def _log(begun: Sequence[Loop], space: Workspace) -> None:
    from sisyphus.ralph import signs, store
    from sisyphus.ralph.past import history

    for loop in begun:
        signs.begin(loop, space)
        history.started(space.ours, loop, store.loop_path(space.ours, loop.session_id))


def _refuse(start: Start, reason: str) -> Outcome:
    """Our own command is answered here; another plugin's runs on without a loop of ours."""
    from sisyphus.ralph import texts

    text, notes = texts.refused(reason), [f"no loop started: {reason}"]
    plugin, colon, _ = start.command.partition(":")
    if not colon or plugin == "sisyphus":
        return Outcome(reason=text, notes=notes)
    return Outcome(messages=[text], notes=notes)
