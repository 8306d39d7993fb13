"""The end of a rollout, Codex's transcript, as measured on 0.169.0. On the quick path.

A line is {timestamp, ordinal, type, payload}. What the client notes of a command, a patch, a prompt
or an answer is an item: `payload.item` of a line of type event_msg.
"""

from __future__ import annotations

from sisyphus.clients import lines, values

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Json = dict[str, Any]

_PLAN = "plan"


def meta(path: str) -> Json:
    """Returns what the first line says of the session: its `cwd`, `id` and the like; {} if it says
    nothing."""
    raw = lines.first(path)
    return values.mapping(raw.get("payload")) if raw.get("type") == "session_meta" else {}


def item(path: str, call: str) -> Json:
    """Returns what the client notes of a tool call; {} if it is not there."""
    for raw in lines.last(path, call.encode("utf-8", "replace")) if call else ():
        found = item_of(raw)
        if found.get("id") == call:
            return found
    return {}


def item_of(raw: Json) -> Json:
    """Returns the item of a line; {} if it has none."""
    return values.mapping(values.mapping(raw.get("payload")).get("item"))


def is_planning(path: str) -> bool:
    """Tells whether the last turn was begun in plan mode, in which the agent may only plan."""
    for raw in lines.last(path, b'"task_started"'):
        mode = values.mapping(raw.get("payload")).get("collaboration_mode_kind")
        if mode is not None:
            return bool(mode == _PLAN)
    return False
