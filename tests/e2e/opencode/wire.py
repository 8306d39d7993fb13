"""Chat completions on the wire: requests into text, turns into streams of chunks."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from e2e.script import Turn

Json = dict[str, Any]

MODEL, OTHER_MODEL, SMALL_MODEL = "scripted", "scripted-other", "scripted-small"


@dataclass(frozen=True)
class Request:
    """What the model received in `session`; `parent` is the main session where a subagent asks."""

    session: str
    parent: str
    body: Json

    @property
    def text(self) -> str:
        """Everything the model can read in it: system prompt, messages, tool results."""
        return "\n".join(text_of(message) for message in self.body["messages"])

    @property
    def last(self) -> str:
        """The text of what came after the model's last answer (for the first request: all)."""
        messages = self.body["messages"]
        answers = [n for n, message in enumerate(messages) if message["role"] == "assistant"]
        return "\n".join(text_of(m) for m in messages[answers[-1] + 1 if answers else 0 :])

    @property
    def system(self) -> str:
        return "\n".join(self._texts("system"))

    @property
    def users(self) -> list[str]:
        """The user messages, with those that a plugin or the client itself wrote."""
        return self._texts("user")

    @property
    def results(self) -> list[str]:
        """What the tools answered."""
        return self._texts("tool")

    def count(self, needle: str) -> int:
        return self.text.count(needle)

    @property
    def is_title(self) -> bool:
        """Whether the client wants a title for the session."""
        return bool(self.body["model"] == SMALL_MODEL)

    @property
    def is_compaction(self) -> bool:
        """Whether the client wants the summary of the conversation: it then offers no tools."""
        return not self.is_title and not self.body.get("tools")

    def _texts(self, role: str) -> list[str]:
        return [text_of(m) for m in self.body["messages"] if m["role"] == role]


def text_of(message: Json) -> str:
    content = message.get("content") or ""
    if isinstance(content, str):
        return content
    return "\n".join(part.get("text", "") for part in content)


def refusal(turn: Turn) -> Json:
    """The API's error instead of an answer."""
    return {"error": {"message": turn.text, "type": "scripted", "code": None}}


def opening(turn: Turn, serial: int) -> Iterator[bytes]:
    """The answer without its end, as server-sent events; `serial` makes its ids unique."""
    yield _event(serial, {"role": "assistant", "content": ""})
    for line in turn.text.splitlines(keepends=True):
        yield _event(serial, {"content": line})
    for n, tool in enumerate(turn.tools):
        function = {"name": tool.name, "arguments": json.dumps(tool.input)}
        call = {"index": n, "id": f"call_{serial:04d}{n:02d}", "type": "function"}
        yield _event(serial, {"tool_calls": [{**call, "function": function}]})


def ending(turn: Turn, serial: int) -> Iterator[bytes]:
    usage = {"prompt_tokens": turn.tokens, "completion_tokens": 10}
    usage["total_tokens"] = sum(usage.values())
    yield _event(serial, {}, "tool_calls" if turn.tools else "stop", usage=usage)
    yield b"data: [DONE]\n\n"


def _event(serial: int, delta: Json, finish: str | None = None, **more: Json) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    about = {"id": f"answer_{serial:04d}", "object": "chat.completion.chunk", "model": MODEL}
    whole = {**about, "created": 0, "choices": [choice], **more}
    return b"data: " + json.dumps(whole).encode() + b"\n\n"
