"""The end of a session's `events.jsonl`, Copilot CLI's transcript, as measured on 1.0.102. On the
quick path.

A line is {type, data, id, timestamp, parentId}, with an `agentId` if a subagent wrote it. The
client writes lines in batches, some milliseconds after they happened. The line that says that our
hook was started is the last of those that we need.
"""

from __future__ import annotations

import os
import time

from sisyphus.clients import lines, values
from sisyphus.ground import files
from sisyphus.ground.text import moment

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Json = dict[str, Any]

_SECONDS, _STEP = 1.0, 0.01
"""How long we wait for a line, and how often we look. It was there within 0.03 s (measured)."""

_TAIL = 64_000
"""The bytes at the end of the file in which we look for it."""

_PLAN = "plan"


def wait_for_hook(path: str, timestamp: object) -> None:
    """Waits until the file has the line that says that this hook was started.

    timestamp: of the hook's payload, as "2026-01-02T03:04:05.678Z". The line has it in
    milliseconds.
    """
    at = moment(timestamp)
    mark = b'"timestamp":%d' % round(at * 1000)
    end = time.monotonic() + (_SECONDS if at and os.path.isfile(path) else 0.0)
    while mark not in files.tail(path, _TAIL) and time.monotonic() < end:
        time.sleep(_STEP)


def last_message(path: str) -> str:
    """Returns what the agent said last since the last prompt; "" if it said nothing."""
    for raw in lines.last(path, b'"assistant.message"', b'"user.message"'):
        if raw.get("agentId"):
            continue
        if raw.get("type") == "user.message":
            return ""
        if said := values.text(values.mapping(raw.get("data")).get("content")):
            return said
    return ""


def is_pushed(path: str) -> bool:
    """Tells whether the prompt that comes is the reason of a blocked Stop, not a person's: no other
    prompt came since that Stop."""
    for raw in lines.last(path, b'"agentStop"', b'"user.message"'):
        if raw.get("agentId"):
            continue
        if raw.get("type") == "user.message":
            return False
        if raw.get("type") == "hook.end":
            return is_block(raw)
    return False


def is_block(raw: Json) -> bool:
    """Tells whether a line says that hooks blocked a Stop of the agent."""
    data = values.mapping(raw.get("data"))
    is_stop = raw.get("type") == "hook.end" and data.get("hookType") == "agentStop"
    return is_stop and values.mapping(data.get("output")).get("decision") == "block"


def is_planning(path: str) -> bool:
    """Tells whether the session is in plan mode, in which the agent may only plan."""
    for raw in lines.last(path, b'"session.mode_changed"'):
        mode = values.mapping(raw.get("data")).get("newMode")
        if mode is not None:
            return bool(mode == _PLAN)
    return False
