"""A session that nothing else holds: does continuous enforcement tell it to go on?

Each Stop of an enforced project is told to it, also where somebody else has an opinion.
"""

from __future__ import annotations

from functools import partial

from sisyphus.arbiter import background, steps
from sisyphus.arbiter.situation import BLOCK
from sisyphus.clients import client_named
from sisyphus.enforce import at_stop, rest
from sisyphus.errors import SisyphusError
from sisyphus.ralph import store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus.arbiter.situation import Situation, Verdict
    from sisyphus.clients.base import Outcome, Payload
    from sisyphus.workspace import Workspace


def weigh(payload: Payload, space: Workspace, situation: Situation, outcome: Outcome) -> Outcome:
    """`outcome`, that of the loops, with what enforcement adds."""
    asked = at_stop.look(payload, space, _facts(payload, space, situation))
    if asked is None:
        return outcome
    added = asked.outcome
    if asked.is_block:
        situation.claim = asked.why
        _count(payload, space, asked.blocks)
        outcome.notes[:1] = [steps.decide(situation).text]
        outcome.reason = added.reason
    outcome.messages += added.messages
    outcome.toasts += added.toasts
    outcome.notes += added.notes
    outcome.wake_after = added.wake_after
    return outcome


def _facts(payload: Payload, space: Workspace, situation: Situation) -> at_stop.Facts:
    from sisyphus.arbiter import gather

    verdict = steps.opinion(situation) if situation.is_enabled else None
    turn = gather.this_turn(payload)
    said = turn.said[-1] if turn.said else ""
    facts = at_stop.Facts(
        _held(verdict) if verdict else _no_room(payload, space),
        payload.last_message if payload.last_message is not None else said,
        is_asking=turn.is_asking,
        excuses=partial(
            background.excuses,
            background.pending([*payload.background, *payload.crons]),
            in_loop=True,
            now=space.now,
            wait=60 * space.settings.get("ralph.background_wait"),
        ),
    )
    memory = store.glance(space.ours, payload.session)
    facts.blocks, facts.blocked_at = memory.blocks, memory.blocked_at
    facts.cap = client_named(space.client).block_cap()
    return facts


def _held(verdict: Verdict) -> str:
    return rest.WENT_ON if verdict.action == BLOCK else verdict.text


def _no_room(payload: Payload, space: Workspace) -> str:
    """What goes wrong there holds nothing back."""
    from sisyphus.checkpoint import at_stop as checkpoints

    try:
        return checkpoints.no_room(payload, space)
    except (OSError, SisyphusError) as error:
        space.log(f"checkpoint: {error}")
        return ""


def _count(payload: Payload, space: Workspace, blocks: int) -> None:
    with store.LoopStore(space.ours, payload.session) as held:
        held.memory.note_block(blocks, space.now)
        held.save_memory()
