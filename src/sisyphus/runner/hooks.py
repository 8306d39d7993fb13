"""What a fresh-context run, or a loop, has to do with an event of its client."""

from __future__ import annotations

import os

from sisyphus.ralph.store import has_loop
from sisyphus.runner.keep import store
from sisyphus.runner.keep.places import FIX_PLANS, Places
from sisyphus.workspace import run_id

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus.clients.base import Payload
    from sisyphus.workspace import Workspace


def owned(payload: Payload, space: Workspace) -> list[str]:
    """The fix plan, for an iteration of the project's run and for a session with a loop."""
    is_in_loop = space.settings.get("ralph.enabled") and has_loop(space.ours, payload.session)
    if not is_in_loop and not _is_in_run(space):
        return []
    return [os.path.join(space.root, name) for name in FIX_PLANS]


def _is_in_run(space: Workspace) -> bool:
    """The variable alone may be anybody's: the runner's own record has to name the same run."""
    named = run_id()
    run = store.last_saved(Places(space)) if named else None
    return run is not None and run.loop_id == named
