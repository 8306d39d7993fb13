"""The Messages API on the wire: requests into text, turns into messages and streams of events."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from e2e.script import Turn

Json = dict[str, Any]

_ERRORS = {
    401: "authentication_error", 403: "permission_error", 404: "not_found_error",
    429: "rate_limit_error", 529: "overloaded_error",
}  # fmt: skip
"""How the API names what its status says."""


@dataclass(frozen=True)
class Request:
    """What the model received. `agent` is the id of the subagent that asks, "" for the main one."""

    agent: str
    body: Json

    @property
    def text(self) -> str:
        """Everything the model can read in it: system prompt, messages, tool results."""
        contents = [self.body.get("system")]
        contents += [message["content"] for message in self.body["messages"]]
        return "\n".join(text for content in contents for text in texts_of(content))

    @property
    def last(self) -> str:
        """The text of what came after the model's last answer (for the first request: all)."""
        messages = self.body["messages"]
        answers = [n for n, message in enumerate(messages) if message["role"] == "assistant"]
        fresh = messages[answers[-1] + 1 :] if answers else messages
        return "\n".join(text for message in fresh for text in texts_of(message["content"]))

    def count(self, needle: str) -> int:
        return self.text.count(needle)

    @property
    def is_compaction(self) -> bool:
        """Whether the client asks for the summary of a `/compact`."""
        return "create a detailed summary of" in self.last or "Respond with TEXT ONLY" in self.last

    @property
    def is_turn(self) -> bool:
        """Whether it belongs to the conversation; titles and probes offer no tools."""
        return bool(self.body.get("tools")) and not self.is_compaction


def texts_of(content: Any) -> Iterator[str]:
    """Every text in a `content` field, those of tool results included."""
    if isinstance(content, str):
        yield content
        return
    for block in content or []:
        if block.get("type") == "text":
            yield block["text"]
        elif block.get("type") == "tool_result":
            yield from texts_of(block.get("content"))


def message(turn: Turn, serial: int, model: str) -> Json:
    """The answer as the API gives it whole; `serial` makes its ids unique."""
    return {
        "id": f"msg_{serial:04d}",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": list(_blocks(turn, serial)),
        "stop_reason": "tool_use" if turn.tools else "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": turn.tokens, "output_tokens": 10},
    }


def refusal(turn: Turn) -> Json:
    """The API's error instead of an answer."""
    kind = _ERRORS.get(turn.status, "api_error")
    return {"type": "error", "error": {"type": kind, "message": turn.text}}


def _blocks(turn: Turn, serial: int) -> Iterator[Json]:
    if turn.text:
        yield {"type": "text", "text": turn.text}
    for n, tool in enumerate(turn.tools):
        call = {"id": f"toolu_{serial:04d}{n:02d}", "name": tool.name, "input": tool.input}
        yield {"type": "tool_use", **call}


def stream(whole: Json) -> Iterator[bytes]:
    """The same answer as server-sent events."""
    for event in _events(whole):
        yield f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()


def _events(whole: Json) -> Iterator[Json]:
    yield {"type": "message_start", "message": {**whole, "content": [], "stop_reason": None}}
    for index, block in enumerate(whole["content"]):
        opening, delta = _halves(block)
        yield {"type": "content_block_start", "index": index, "content_block": opening}
        yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    ending = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": ending, "usage": whole["usage"]}
    yield {"type": "message_stop"}


def _halves(block: Json) -> tuple[Json, Json]:
    """A content block as its empty opening and the one delta that fills it."""
    if block["type"] == "text":
        return {"type": "text", "text": ""}, {"type": "text_delta", "text": block["text"]}
    filling = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
    return {**block, "input": {}}, filling
