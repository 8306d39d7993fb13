"""After /clear the same client process is in a new session: the loops of the old one come along."""

from __future__ import annotations

from sisyphus.clients.base import Outcome
from sisyphus.ralph import store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus.clients.base import Payload
    from sisyphus.ralph.loop import Loop
    from sisyphus.ralph.store import LoopStore
    from sisyphus.workspace import Workspace


def rebind(payload: Payload, space: Workspace) -> Outcome | None:
    """Moves the loops, unless the new session has some of its own.

    They are written in the new session before they go from the old one. Where a writer is killed
    in between, they lie twice, and the old ones in a session that nobody is in.
    """
    from sisyphus.session.client_process import session_before

    before = session_before(space.ours, payload.session)
    if payload.source != "clear" or not before or not store.has_loop(space.ours, before):
        return None
    with (
        store.LoopStore(space.ours, before) as old,
        store.LoopStore(space.ours, payload.session) as new,
    ):
        if not old.loops:
            return None
        faults = [*old.faults, *new.faults]
        if not _ids(old) >= _ids(new):
            stay = f"the loops of session {before} stay there: this one has its own"
            return Outcome(notes=[*faults, stay])
        if _ids(old) != _ids(new):  # else all came already with a hook that was killed
            _take_over(old, new, payload)
        _give_up(old)
        return _told(new.loops[-1], before, faults)


def _take_over(old: LoopStore, new: LoopStore, payload: Payload) -> None:
    from sisyphus.ralph import usage
    from sisyphus.transcript import size

    path, memory = payload.transcript, new.memory
    memory.learn({*memory.starts, *_starts(old)})
    memory.begin_anew(path, size(path), usage.offsets(path))
    memory.tasks = dict(old.memory.tasks)
    for loop in old.loops:
        loop.session_id = payload.session
        loop.prompt_known = False
    new.save(old.loops)


def _give_up(old: LoopStore) -> None:
    """Whoever resumes the old session starts none of them again from its transcript."""
    old.memory.learn({*old.memory.starts, *_starts(old)})
    old.save([])


def _starts(held: LoopStore) -> set[str]:
    return {*held.memory.starts, *(loop.origin for loop in held.loops)}


def _ids(held: LoopStore) -> set[str]:
    return {loop.loop_id for loop in held.loops}


def _told(loop: Loop, before: str, faults: list[str]) -> Outcome:
    came = f"loop {loop.loop_id} came from session {before} after /clear"
    return Outcome(messages=[_text(loop)], notes=[*faults, came])


def _text(loop: Loop) -> str:
    from sisyphus.ralph.texts import name, subject

    goes_on = "stays paused" if loop.is_paused else "goes on"
    return f"""\
[{name(loop)}]

{subject(loop)} {goes_on} after /clear: {loop.description} ({loop.progress}).
To end it: sisyphus ralph cancel"""
