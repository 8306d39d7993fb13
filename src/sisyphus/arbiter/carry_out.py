"""Carries a verdict out: changes the loops on disk and says what there is to say."""

from __future__ import annotations

import os

from sisyphus.arbiter import steps
from sisyphus.contract import Outcome
from sisyphus.ralph import loop as lp
from sisyphus.ralph import texts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus._types import Piece
    from sisyphus.arbiter.steps import Situation, Verdict
    from sisyphus.ralph.loop import Loop
    from sisyphus.ralph.store import LoopStore
    from sisyphus.ralph.turn import Turn


def carry_out(verdict: Verdict, turn: Turn, held: LoopStore, situation: Situation) -> Outcome:
    """Changes the loops as the verdict says and puts it into words."""
    outcome = Outcome(messages=_news(turn, held))
    ended = [*turn.ended, *((kept, lp.SUCCESS) for kept in turn.kept)]
    loop = situation.loop
    if loop and verdict.action == steps.END and not turn.kept:
        ended.append((turn.loops.pop(), lp.MAX_ITERATIONS))
        outcome.messages.append(texts.at_limit(loop))
    elif loop and verdict.action == steps.PAUSE:
        loop.pause(lp.BY_HOST_CAP)
        outcome.messages.append(texts.paused(loop, situation.blocks + 1))
    elif loop and verdict.action == steps.BLOCK:
        loop.advance()
        held.memory.blocks += 1
        outcome.reason = texts.go_on(loop)
    held.save(turn.loops)
    if loop and outcome.reason is not None and not _is_told_by_another(loop):
        outcome.pieces = [_piece(loop, held.path(loop))]
    where = f"; {loop.progress}" if loop and verdict.action == steps.BLOCK else ""
    outcome.notes = [verdict.text + where]
    outcome.notes += [f"loop {gone.loop_id} ended: {how}" for gone, how in ended]
    return outcome


def _news(turn: Turn, held: LoopStore) -> list[str]:
    """What the user is told whatever the verdict is."""
    successes = [loop for loop, how in turn.ended if how == lp.SUCCESS] + turn.kept
    not_done = [name for loop in turn.begun for name in _not_done(loop)]
    return [
        *(texts.set_aside(fault) for fault in held.faults),
        *(texts.refused(reason) for reason in turn.refused),
        *([texts.not_done(not_done)] if not_done else []),
        *(texts.complete(loop.completion_promise or "") for loop in successes),
    ]


def _not_done(loop: Loop) -> list[str]:
    from sisyphus.ralph import adopt

    return adopt.not_done(loop)


def _is_told_by_another(loop: Loop) -> bool:
    """Whether the official ralph plugin runs this loop too: it sends the whole prompt itself."""
    return os.path.exists(os.path.join(loop.project, ".claude", "ralph-loop.local.md"))


def _piece(loop: Loop, path: str) -> Piece:
    """The prompt goes out once: whole where the model has not seen it, else by its first line."""
    body = texts.reminder(loop, path) if loop.prompt_known else texts.prompt(loop, path)
    return {
        "kind": "loop",
        "head": "",
        "body": body,
        "tail": "",
        "late_head": "",
        "ledger": "",
        "hash": f"loop {loop.loop_id} {'reminder' if loop.prompt_known else 'prompt'}",
        "path": path,
    }
