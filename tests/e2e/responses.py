"""The Responses API, in terms of the Messages API: requests are read, answers are spelled."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

Json = dict[str, Any]

WINDOW = 258_400
"""Tokens of the context of the models that Codex knows. Scripts count with a million."""

_ANSWERS = ("reasoning", "function_call", "custom_tool_call")
"""Types of the items that are the model's own, beside its messages."""


def as_messages(body: Json) -> Json:
    """Returns a request with each item of its input as a message. A call's own text is left out."""
    items = body.get("input") or []
    offers = [tool for item in items for tool in item.get("tools", [])]  # in code mode
    return {
        **{name: value for name, value in body.items() if name != "input"},
        "system": body.get("instructions"),
        "tools": [*(body.get("tools") or []), *offers],
        "messages": [_message(item) for item in items if "tools" not in item],
    }


def _message(item: Json) -> Json:
    is_answer = item.get("role") == "assistant" or item.get("type") in _ANSWERS
    content = item.get("output") or item.get("content") or []
    if not isinstance(content, str):
        content = [{"type": "text", "text": part.get("text", "")} for part in content]
    return {"role": "assistant" if is_answer else item.get("role", "user"), "content": content}


def stream(answer: Json) -> Iterator[bytes]:
    """Yields an answer as server-sent events."""
    base = {"id": answer["id"], "object": "response", "model": answer["model"]}
    items = [_item(block, answer["id"]) for block in answer["content"]]
    events: list[Json] = [{"type": "response.created", "response": {**base, "output": []}}]
    for index, item in enumerate(items):
        place = {"output_index": index, "item": item}
        events.append({"type": "response.output_item.added", **place})
        events.append({"type": "response.output_item.done", **place})
    done = {**base, "status": "completed", "output": items, "usage": _usage(answer["usage"])}
    for event in (*events, {"type": "response.completed", "response": done}):
        yield f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()


def _item(block: Json, answer: str) -> Json:
    """A block as an item. A tool whose input is a text is a custom one."""
    if block["type"] == "text":
        text = {"type": "output_text", "text": block["text"], "annotations": []}
        return {"type": "message", "id": answer, "role": "assistant", "content": [text]}
    call = {name: value for name, value in block.items() if name in ("name", "namespace")}
    call |= {"id": f"call_{block['id']}", "call_id": block["id"], "status": "completed"}
    if isinstance(block["input"], str):
        return {"type": "custom_tool_call", "input": block["input"], **call}
    return {"type": "function_call", "arguments": json.dumps(block["input"]), **call}


def _usage(usage: Json) -> Json:
    tokens = usage["input_tokens"] * WINDOW // 1_000_000
    return {**usage, "input_tokens": tokens, "total_tokens": tokens + usage["output_tokens"]}
