"""Says so where an event, or a tool call, starts more of us than one."""

from __future__ import annotations

from sisyphus.clients.base import Outcome
from sisyphus.clients.claude_code import plugin_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus.clients.base import Payload
    from sisyphus.workspace import Workspace


def on_session_start(payload: Payload, space: Workspace) -> Outcome | None:
    """Each wiring speaks of its own entries, once for each session; the plugin speaks of settings
    beside it as well."""
    if payload.source != "startup" or payload.is_subagent:
        return None
    from sisyphus.install import doubled

    messages = [doubled.earlier(space)]
    if plugin_folder():
        messages.append(doubled.warning(space))
    told = [message for message in messages if message]
    return Outcome(messages=told, notes=["wired twice"]) if told else None
