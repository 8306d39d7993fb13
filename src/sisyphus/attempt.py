"""What hooks do where a feature's state cannot be used: the event is answered without it."""

from __future__ import annotations

from sisyphus.clients.base import Outcome
from sisyphus.errors import SisyphusError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from sisyphus.clients.base import Payload
    from sisyphus.workspace import Workspace


def attempt(
    handle: Callable[[Payload, Workspace], Outcome | None],
    payload: Payload,
    space: Workspace,
    state: str,
) -> Outcome | None:
    """What `handle` says, or why `state`, in plain words whose it is, was left alone."""
    try:
        return handle(payload, space)
    except (OSError, SisyphusError) as error:
        told = f"{state} is left alone: {error}"
        space.log(f"{payload.event}: {told}")
        return Outcome(notes=[told])
