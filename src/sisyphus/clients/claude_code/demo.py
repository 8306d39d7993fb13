"""Makes the payloads of the session that `sisyphus demo` plays, and takes the replies apart."""

from collections.abc import Iterator
from typing import Any

from sisyphus.clients.claude_code.payload import WIRE_NAMES
from sisyphus.hook.event import EDIT

Json = dict[str, Any]

_TOOLS = {EDIT: "Edit"}


def payload(
    event: str,
    session: str,
    folder: str,
    *,
    source: str = "",
    last: str = "",
    action: str = "",
    path: str = "",
) -> Json:
    """Returns a payload as the client sends it.

    source: why the session starts. last: the agent's last message. action, path: what a tool did to
    which file.
    """
    raw: Json = {"hook_event_name": WIRE_NAMES[event], "session_id": session, "cwd": folder}
    if source:
        raw["source"] = source
    if last:
        raw["last_assistant_message"] = last
    if action:
        raw |= {"tool_name": _TOOLS[action], "tool_input": {"file_path": path}}
    return raw


def readers(reply: Json) -> Iterator[tuple[str, str]]:
    """Yields each part of a reply: who reads it, and its text."""
    if message := reply.get("systemMessage"):
        yield "You read", message
    if reason := reply.get("reason"):
        yield "The model reads", reason
    if text := reply.get("hookSpecificOutput", {}).get("additionalContext"):
        yield "The model reads", text
