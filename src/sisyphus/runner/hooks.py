"""What a fresh-context run, or a loop, has to do with an event of its client."""

from __future__ import annotations

import os

from sisyphus.ralph.store import has_loop
from sisyphus.runner.keep.places import FIX_PLANS
from sisyphus.workspace import run_id

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus.clients.base import Payload
    from sisyphus.workspace import Workspace


def owned(payload: Payload, space: Workspace) -> list[str]:
    """The fix plan, for an iteration of a run and for a session with a loop."""
    if not run_id() and not has_loop(space.ours, payload.session):
        return []
    return [os.path.join(space.root, name) for name in FIX_PLANS]
