"""Payloads of a session that nobody has: for `sisyphus demo`."""

from collections.abc import Iterator
from typing import Any

from sisyphus.clients.claude_code.payload import WIRE_NAMES

Json = dict[str, Any]


def payload(
    event: str,
    session: str,
    folder: str,
    *,
    source: str = "",
    last: str = "",
    tool: tuple[str, Json] | None = None,
) -> Json:
    """A payload as the client sends it. tool: the client's name of a tool, and the file's path."""
    raw: Json = {"hook_event_name": WIRE_NAMES[event], "session_id": session, "cwd": folder}
    if source:
        raw["source"] = source
    if last:
        raw["last_assistant_message"] = last
    if tool:
        name, given = tool
        raw |= {"tool_name": name, "tool_input": {"file_path": given["path"]}}
    return raw


def readers(reply: Json) -> Iterator[tuple[str, str]]:
    """Who reads what in a reply."""
    if message := reply.get("systemMessage"):
        yield "You read", message
    if reason := reply.get("reason"):
        yield "The model reads, and continues", reason
    if text := reply.get("hookSpecificOutput", {}).get("additionalContext"):
        yield "The model reads", text
