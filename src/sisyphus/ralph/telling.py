"""Tells the user's own command what becomes of a loop."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus.ralph.loop import Loop
    from sisyphus.workspace import Workspace


def tell(space: Workspace, event: str, loop: Loop, reason: str) -> None:
    """`event`: one of those of `notify.send`."""
    from sisyphus.notify.send import send

    send(
        space,
        event,
        session_id=loop.session_id,
        loop_id=loop.loop_id,
        iteration=loop.iteration,
        task=loop.description,
        reason=reason,
    )
