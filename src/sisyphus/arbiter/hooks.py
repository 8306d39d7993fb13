"""At Stop: gathers what is known, lets the steps decide, carries the verdict out."""

from __future__ import annotations

import os

from sisyphus.arbiter import background, steps
from sisyphus.contract import Outcome
from sisyphus.errors import SisyphusError
from sisyphus.ralph import store, watch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus.arbiter.steps import Situation
    from sisyphus.contract import Payload
    from sisyphus.ralph.store import LoopStore
    from sisyphus.workspace import Workspace

CAP_VARIABLE = "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP"
CAP = 8
"""Claude Code 2.1.329 overrides the ninth block in a row without a tool call."""

_DIGITS = 9

NOTE_BYTES = 256_000
"""So much of a transcript is rather read again at the next Stop than noted as read."""


def on_stop(payload: Payload, space: Workspace) -> Outcome | None:
    """Blocks, or lets the session stop; the journal learns why."""
    situation = steps.Situation(
        is_subagent=payload.is_subagent,
        is_enabled=bool(space.settings.get("ralph.enabled")),
        mode=payload.permission_mode,
    )
    verdict = steps.not_ours(situation)
    if verdict:
        return Outcome(notes=[verdict.text])
    if not payload.session:
        return None
    try:
        if _is_quiet(payload, space):
            return Outcome(notes=[steps.decide(situation).text])
        with store.LoopStore(space.ours, payload.session) as held:
            return _judge(payload, space, held, situation)
    except (OSError, SisyphusError) as error:
        space.log(f"stop: {error}")
        return Outcome(notes=[f"{steps.ALLOW}: the loop's state cannot be used: {error}"])


def _is_quiet(payload: Payload, space: Workspace) -> bool:
    """Whether no loop is active and none began: the common case, and a cheap one."""
    if store.has_loop(space.ours, payload.session):
        return False
    memory = store.glance(space.ours, payload.session)
    offset = memory.offset_in(payload.transcript)
    found, end = watch.first_start(payload.transcript, offset)
    if found is not None:
        return False
    tasks = _pending(payload)
    if abs(end - offset) > NOTE_BYTES or not memory.tasks.keys() >= set(tasks):
        with store.LoopStore(space.ours, payload.session) as held:
            held.memory.transcript, held.memory.offset = payload.transcript, end
            held.memory.tasks = dict.fromkeys(tasks, background.BEFORE_LOOP)
            held.save_memory()
    return True


def _judge(payload: Payload, space: Workspace, held: LoopStore, situation: Situation) -> Outcome:
    from sisyphus.arbiter.carry_out import carry_out
    from sisyphus.arbiter.gather import follow

    turn = follow(payload, space, held)
    memory = held.memory
    if turn.used_tool or turn.prompted:
        memory.blocks = 0
    situation.loop = turn.loops[-1] if turn.loops else None
    situation.kept = turn.kept
    situation.reason = turn.reason
    situation.blocks = memory.blocks
    situation.cap = _cap(space)
    situation.excuses, memory.tasks = background.excuses(
        _pending(payload),
        dict.fromkeys(memory.tasks, background.BEFORE_LOOP) if turn.begun else memory.tasks,
        in_loop=situation.loop is not None,
        now=space.now,
        wait=60 * space.settings.get("ralph.background_wait"),
    )
    verdict = steps.decide(situation)
    outcome = carry_out(verdict, turn, held, situation)
    outcome.notes += [*turn.notes, *held.faults]
    return outcome


def _pending(payload: Payload) -> list[str]:
    return background.pending([*payload.background, *payload.crons])


def _cap(space: Workspace) -> int:
    """0 = the client never overrides."""
    if space.client != "claude":
        return 0
    named = os.environ.get(CAP_VARIABLE, "")
    is_number = named.isascii() and named.isdigit() and len(named) <= _DIGITS
    return int(named) if is_number else CAP
