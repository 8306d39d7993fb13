"""Says so where each event starts two of us: as a plugin, and by the client's settings as well."""

from __future__ import annotations

import os

from sisyphus.clients.base import PLUGIN, Outcome

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus.clients.base import Payload
    from sisyphus.workspace import Workspace


def on_session_start(payload: Payload, space: Workspace) -> Outcome | None:
    """The plugin's hook speaks, once for each session; the other one holds its peace."""
    if payload.source != "startup" or payload.is_subagent or not os.environ.get(PLUGIN):
        return None
    from sisyphus.install import doubled

    told = doubled.warning(space)
    return Outcome(messages=[told], notes=["wired twice"]) if told else None
