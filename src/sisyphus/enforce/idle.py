"""Layer 2: `sisyphus hook idle`, which wakes a session that has rested for long enough.

A client that it wakes by its exit starts it asynchronously at each Stop, so it waits by itself;
others have a clock of their own and ask once, when it is time.
"""

from __future__ import annotations

import time

from sisyphus.clients import client_named
from sisyphus.enforce import marks
from sisyphus.workspace import run_id

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from sisyphus.clients.base import Outcome, Payload
    from sisyphus.workspace import Workspace


def on_idle(
    payload: Payload,
    space: Workspace,
    sleep: Callable[[float], None] = time.sleep,
    clock: Callable[[], float] = time.time,
) -> Outcome | None:
    """An outcome with a reason wakes the session."""
    if not payload.follows_stop or payload.is_subagent or not payload.session:
        return None
    if not marks.may_be_on(space) or payload.plans_only or run_id():
        return None
    client = client_named(space.client)
    if not client.can_be_woken():
        return None
    from sisyphus.enforce import store

    if not store.seems_on(space):
        return None
    if not client.WAKES_BY_EXIT:
        from sisyphus.enforce import rest

        return rest.look(payload, space, space.now)
    from sisyphus.enforce import waiter

    return waiter.Waiter(payload, space, sleep, clock).wait()
