"""What becomes of a handoff at the end of the session that wrote it."""

from __future__ import annotations

import os

from sisyphus.checkpoint import handoffs, make, store, survey
from sisyphus.checkpoint.size import gauge
from sisyphus.clients.base import Outcome
from sisyphus.text import line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus._types import Checkpoint
    from sisyphus.clients.base import Payload
    from sisyphus.workspace import Workspace

GONE_ON, ASKED_FOR = 300, 5
"""Seconds behind a handoff after which a session that still works has gone beyond it: one that was
told to stop takes a while to do so, one that was asked for a handoff goes on at once."""

MOVES = ("clear", "resume")
"""Reasons of an end behind which the client goes on with another session."""


def end(payload: Payload, space: Workspace) -> Outcome | None:
    """A handoff that nobody was given: closed where all is done, written anew where work went on
    behind it. One that the session was given waits again, if nothing was answered in it."""
    given = handoffs.given_at(space.ours, space.root, payload.session)
    cut = store.cut(store.glance(space.ours, payload.session))
    found = gauge.read(payload.transcript, since=max(given, cut))
    if not found.tokens and handoffs.give_back(space.ours, space.root, payload.session):
        return Outcome(notes=["nothing was done with the handoff: it waits again"])
    if payload.reason in MOVES:
        return None
    entry = handoffs.open_of(space.ours, space.root, payload.session)
    if entry is None or entry.get("in_run"):
        return None
    if _is_done(entry, payload, space):
        handoffs.close(space.ours, space.root, handoffs.of_session(payload.session))
        return Outcome(notes=["the handoff is closed: nothing is left to go on with"])
    longest = ASKED_FOR if entry.get("occasion") == make.ASKED else GONE_ON
    if _worked_until(payload.transcript) - _written_at(entry) < longest:
        return None
    percent = entry.get("percent_at_checkpoint")
    fill = make.Fill(entry.get("level", ""), percent)
    occasion = entry.get("occasion", make.ASKED)
    new = make.hand_over(space, payload.session, payload.transcript, occasion=occasion, fill=fill)
    return Outcome(notes=[f"handoff {line(new.get('handoff_file', ''))} written at the end"])


def _is_done(entry: Checkpoint, payload: Payload, space: Workspace) -> bool:
    """Whether what held the session is gone: a loop that is paused is not."""
    from sisyphus.ralph.store import has_loop

    was_held = bool(entry.get("loop_id") or entry.get("plan"))
    is_left = has_loop(space.ours, payload.session) or survey.is_held(space, payload.session)
    return was_held and not is_left


def _worked_until(transcript: str) -> float:
    try:
        return os.stat(transcript).st_mtime
    except (OSError, ValueError):
        return 0.0


def _written_at(entry: Checkpoint) -> float:
    from sisyphus.times import epoch

    return epoch(entry.get("timestamp", ""))
