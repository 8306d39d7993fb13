"""What became of a session's loops since the last look: reads the transcript, asks `ralph.turn`."""

from __future__ import annotations

from functools import partial

from sisyphus import transcript
from sisyphus.ralph import account, events, turn, usage, watch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus.clients.base import Payload
    from sisyphus.ralph.account import Account
    from sisyphus.ralph.events import Event
    from sisyphus.ralph.invocations import Start
    from sisyphus.ralph.loop import Loop
    from sisyphus.ralph.memory import Memory
    from sisyphus.ralph.store import LoopStore
    from sisyphus.ralph.turn import Turn
    from sisyphus.workspace import Workspace

REMEMBERED_ANSWERS = 200
"""An answer may be at work as we look, one of each agent's: its next lines count it again."""


def follow(
    payload: Payload, space: Workspace, held: LoopStore, ids: dict[str, str]
) -> tuple[Turn, Account]:
    """What became of the loops since the last look; the memory learns how far that went.

    `ids`: what the loops that begin here are called, by the names of their starts.
    """
    memory = held.memory
    found, end = _events(payload.transcript, memory, space, has_loop=bool(held.loops))
    found = events.with_last_message(found, payload.last_message)
    known = _known(held, space)
    begin = partial(_adopt, payload=payload, space=space, ids=ids)
    followed = turn.follow(held.loops, found, begin, known)
    taken = account.take(found)
    _spend(taken, found, [*followed.loops, *followed.kept], held, payload.transcript)
    memory.transcript, memory.offset = payload.transcript, end
    memory.learn(known.starts)
    return followed, taken


def this_turn(payload: Payload) -> Account:
    """What happened since the user spoke last, as far as the end of the transcript holds it: where
    nobody followed it, since there was no loop. Nothing of it was spent on one."""
    found = events.read(watch.last_records(payload.transcript))
    prompts = [index for index, event in enumerate(found) if event.kind == events.PROMPT]
    latest = found[prompts[-1] + 1 :] if prompts else found
    return account.take(events.with_last_message(latest, payload.last_message))


def _known(held: LoopStore, space: Workspace) -> turn.Known:
    memory = held.memory
    known = turn.Known(
        [*memory.starts, *(loop.origin for loop in held.loops)],
        forked_at=memory.forked_at,
        met_at=memory.met_at,
        cancelled_at=memory.cancelled_at,
        now=space.now,
    )
    known.heard = memory.heard
    return known


def _spend(
    taken: Account, found: list[Event], loops: list[Loop], held: LoopStore, path: str
) -> None:
    """Puts what was spent on the account of every loop that is there, a waiting one's too.

    Where nobody saw the loop begin, whether agents were at work before it cannot be told.
    """
    if not loops:
        return
    memory = held.memory
    agents, memory.agents = usage.of_subagents(path, memory.agents)
    agents = agents if held.loops else {}
    for loop in loops:
        loop.tokens += memory.count({**_spent_on(loop, found), **agents}, {})
    latest = list(taken.spent.items())[-1:]
    known = {**memory.spent, **agents, **dict(latest)}
    spent = {**taken.spent, **agents}
    taken.tokens = memory.count(spent, dict(list(known.items())[-REMEMBERED_ANSWERS:]))


def _spent_on(loop: Loop, found: list[Event]) -> dict[str, int]:
    """Tokens by the id of the answer, without those of before the loop."""
    spent: dict[str, int] = {}
    for event in found:
        if event.start is not None and event.start.name == loop.origin:
            spent = {}
        elif event.kind == events.SPENT:
            spent[event.text] = max(event.tokens, spent.get(event.text, 0))
    return spent


def _events(
    path: str, memory: Memory, space: Workspace, *, has_loop: bool
) -> tuple[list[Event], int]:
    """What happened since the last look, and how far that is.

    While a loop is active, another transcript than the last one, or one that was cut, starts
    nothing and costs nothing: it is history that is read again.
    """
    begin: int | None = memory.offset_in(path)
    end = memory.offset_in(path)
    if not has_loop:
        begin, end = watch.first_start(path, end, space)
    if begin is None:
        return [], end
    found, end = watch.read_events(path, begin, space)
    if has_loop and (path != memory.transcript or transcript.size(path) < memory.offset):
        again = (events.STARTED, events.SPENT)
        found = [event for event in found if event.kind not in again]
    return found, end


def _adopt(
    start: Start, payload: Payload, space: Workspace, ids: dict[str, str]
) -> tuple[Loop, list[str]]:
    from sisyphus.ralph import adopt

    loop, notes = adopt.adopt(start, payload.session, space)
    loop.loop_id = ids.setdefault(start.name, loop.loop_id)
    return loop, notes
