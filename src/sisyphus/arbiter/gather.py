"""What became of a session's loops since the last look: reads the transcript, asks `ralph.turn`."""

from __future__ import annotations

from sisyphus.ralph import events, turn, watch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus.contract import Payload
    from sisyphus.ralph.events import Event
    from sisyphus.ralph.invocations import Start
    from sisyphus.ralph.loop import Loop
    from sisyphus.ralph.memory import Memory
    from sisyphus.ralph.store import LoopStore
    from sisyphus.ralph.turn import Turn
    from sisyphus.workspace import Workspace


def follow(payload: Payload, space: Workspace, held: LoopStore) -> Turn:
    """What became of the loops since the last look; the memory learns how far that went."""
    memory = held.memory
    path = payload.transcript
    found, end = _events(path, memory, has_loop=bool(held.loops))
    names = [*memory.starts, *(loop.origin for loop in held.loops)]
    known = turn.Known(names, forked_at=memory.forked_at, met_at=memory.met_at)
    followed = turn.follow(
        held.loops,
        events.with_last_message(found, payload.last_message),
        lambda start: _adopt(start, payload, space),
        known,
    )
    memory.transcript, memory.offset = path, end
    memory.learn(known.starts)
    return followed


def _events(path: str, memory: Memory, *, has_loop: bool) -> tuple[list[Event], int]:
    """What happened since the last look, and how far that is.

    While a loop is active, another transcript than the last one, or one that was cut, starts
    nothing: it is history that is read again.
    """
    begin: int | None = memory.offset_in(path)
    end = memory.offset_in(path)
    if not has_loop:
        begin, end = watch.first_start(path, end)
    if begin is None:
        return [], end
    found, end = watch.read_events(path, begin)
    if has_loop and (path != memory.transcript or watch.size(path) < memory.offset):
        found = [event for event in found if event.kind != events.STARTED]
    return found, end


def _adopt(start: Start, payload: Payload, space: Workspace) -> tuple[Loop, list[str]]:
    from sisyphus.ralph import adopt

    return adopt.adopt(start, payload.session, space)
