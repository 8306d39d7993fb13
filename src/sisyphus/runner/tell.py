"""Tells the user's own command what became of a run. Checkpoints are told by who writes them."""

from __future__ import annotations

from sisyphus.notify.send import COMPLETION, FAILURE, PAUSE, send
from sisyphus.runner.keep.state import BREAKER, COMPLETED, FATAL, MAX_ITERATIONS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus.runner.desk import Desk

EVENTS = {COMPLETED: COMPLETION, FATAL: FAILURE, MAX_ITERATIONS: PAUSE, BREAKER: PAUSE}


def end(desk: Desk) -> None:
    """How the run ended; an end by the user is no news to him."""
    event = EVENTS.get(desk.run.status)
    if event:
        send_about(desk, event, desk.run.reason)


def send_about(desk: Desk, event: str, reason: str) -> None:
    run = desk.run
    handoff = run.context_checkpoint
    file = handoff.get("handoff_file") if handoff.get("active") else None
    send(
        desk.space,
        event,
        loop_id=run.loop_id,
        iteration=run.iteration,
        task=run.task_name,
        handoff_file=file,
        reason=reason or None,
    )
