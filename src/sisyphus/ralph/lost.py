"""Loops whose files could not be read: they have ended, and the user is told."""

from __future__ import annotations

from sisyphus.clients.base import Outcome, merge
from sisyphus.ralph import loop as lp

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus.clients.base import Payload
    from sisyphus.ralph.loop import Loop
    from sisyphus.ralph.past.records import Record
    from sisyphus.workspace import Workspace


def told(
    outcome: Outcome | None, faults: list[str], payload: Payload, space: Workspace
) -> Outcome | None:
    """`outcome`, with what was set aside (`faults` of the store); the history says so, too."""
    if not faults:
        return outcome
    from sisyphus.ralph import texts
    from sisyphus.ralph.past import history

    for loop, why in zip(lost(space.ours, payload.session), faults, strict=False):
        history.ended(space.ours, loop, lp.ERROR, space.now, why)
    told_too = Outcome(messages=[texts.set_aside(fault) for fault in faults], notes=faults)
    return merge([told_too, outcome])


def lost(ours: str, session: str) -> list[Loop]:
    """The session's loops that have neither an end in the history nor a file."""
    from sisyphus.ralph.past import history, records

    known = (found for found in history.read(ours) if found.session_id == session)
    return [_remembered(found, ours) for found in known if found.status == records.LOST]


def _remembered(found: Record, ours: str) -> Loop:
    from sisyphus.ralph import iterations

    loop = lp.Loop(found.session_id, found.loop_id, found.task)
    loop.started_at = found.started_at
    numbers = (row.get("iteration") for row in iterations.rows(ours, found.loop_id))
    loop.iteration = max((n for n in numbers if type(n) is int), default=1)
    return loop
