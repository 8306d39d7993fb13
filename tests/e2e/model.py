"""The scripted model: a server on loopback that answers as the Messages API does, and as OpenAI's
chat completions and responses do."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, TypeVar

from e2e import responses
from e2e.script import Script, Tool, Turn

Json = dict[str, Any]
Spell = Callable[[Tool], Json]
"""A client's own name and input of a tool: `{"name": …, "input": …}`."""

REFUSALS = {
    401: "authentication_error",
    429: "rate_limit_error",
    500: "api_error",
    529: "overloaded_error",
}
"""HTTP statuses with which the service refuses, and its names for them."""

TO_REPEAT = "Answer with exactly this text, and do nothing else:\n\n"
"""How a client that has no answer to a slash command asks the model to give it. The model obeys."""

SNAPSHOT = "produce the <state_snapshot> XML"
"""How Qwen Code asks for a summary. It takes none that has used less than what it is to replace."""

COMPACTIONS = (
    "create a detailed summary of",
    "Respond with TEXT ONLY",
    "Create a new anchored summary",
    "Update the anchored summary",
    "CONTEXT CHECKPOINT COMPACTION",
    SNAPSHOT,
)

TITLE = "Generate a concise, single-line task title"
"""How Codex asks for the title of a session, with tools of its own."""

SUMMARY = Turn("<analysis>none</analysis>\n<summary>What was said before.</summary>")

SUBAGENTS = (
    "You are a general-purpose subagent working for a parent agent.",
    "As a sub-agent, complete your parent's task yourself",
)
"""How the system prompt of a subagent starts where no header names one."""


@dataclass(frozen=True)
class Request:
    """What the model received. agent: the id of the subagent that asks, "" for the main one."""

    agent: str
    body: Json

    @property
    def text(self) -> str:
        """All that the model can read: system prompt, messages, tool results."""
        contents = [self.body.get("system"), *(m["content"] for m in self.body["messages"])]
        return "\n".join(text for content in contents for text in texts_of(content))

    @property
    def last(self) -> str:
        """The text after the model's last answer; of a first request, all of it."""
        return self._new if self._answers else self.text

    @property
    def is_first(self) -> bool:
        """Tells whether it is the first one of a conversation."""
        return not self.agent and not self._answers

    @property
    def is_compaction(self) -> bool:
        """Tells whether the client asks for the summary of a compaction."""
        return any(text in self._new for text in COMPACTIONS)

    @property
    def to_repeat(self) -> str:
        """The text that the model is asked to repeat; "" if it is asked for something else."""
        texts = [*texts_of(self.body["messages"][-1]["content"])]
        found = [text for text in texts if text.startswith(TO_REPEAT)]
        return found[-1].removeprefix(TO_REPEAT) if found else ""

    @property
    def is_turn(self) -> bool:
        """Tells whether it belongs to the conversation; requests for titles offer no tools."""
        is_other = self.is_compaction or self.to_repeat or TITLE in self._new
        return bool(self.body.get("tools")) and not is_other

    @property
    def _answers(self) -> list[int]:
        """Where the model's answers are among the messages."""
        roles = [message["role"] for message in self.body["messages"]]
        return [number for number, role in enumerate(roles) if role == "assistant"]

    @property
    def _new(self) -> str:
        """The text of the messages after the model's last answer."""
        new = self.body["messages"][self._answers[-1] + 1 if self._answers else 0 :]
        return "\n".join(text for message in new for text in texts_of(message["content"]))


def texts_of(content: Any) -> Iterator[str]:
    """Yields every text in a `content` field, those of tool results included."""
    if isinstance(content, str):
        yield content
        return
    for block in content or []:
        if block.get("type") == "text":
            yield block["text"]
        elif block.get("type") == "tool_result":
            yield from texts_of(block.get("content"))


class Model(ThreadingHTTPServer):
    """Answers from the script and keeps every request of the conversation."""

    daemon_threads = True

    def __init__(self, script: Script, spell: Spell) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.script = script
        self.spell = spell
        self.requests: list[Request] = []
        self._serial = 0
        self._tokens = 0
        self._lock = threading.Lock()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def answer(self, request: Request) -> Json:
        with self._lock:
            self._serial += 1
            serial = self._serial
            if request.is_turn:
                self.requests.append(request)
        turn = self._turn(request)
        if turn.status in REFUSALS:
            error = {"type": REFUSALS[turn.status], "message": "refused by the script"}
            error |= turn.refusal
            return {"type": "error", "error": error, "status": turn.status}
        return {
            "id": f"msg_{serial:04d}",
            "type": "message",
            "role": "assistant",
            "model": request.body.get("model", ""),
            "content": list(self._blocks(turn, serial)),
            "stop_reason": "tool_use" if turn.tools else "end_turn",
            "stop_sequence": None,
            "usage": {"input_tokens": turn.tokens, "output_tokens": 10},
        }

    def script_for(self, request: Request) -> Script:
        """Returns the script from which a request is answered."""
        return self.script

    def _turn(self, request: Request) -> Turn:
        if SNAPSHOT in request.last:
            text = "<state_snapshot>What was said before.</state_snapshot>"
            return Turn(text, tokens=self._tokens)
        if not request.is_turn:
            return SUMMARY if request.is_compaction else Turn(request.to_repeat or "ok")
        turn = self.script_for(request).take(agent=bool(request.agent))
        self._tokens = turn.tokens
        if turn.meanwhile:
            turn.meanwhile()
        return turn

    def _blocks(self, turn: Turn, serial: int) -> Iterator[Json]:
        if turn.text:
            yield {"type": "text", "text": turn.text}
        for number, tool in enumerate(turn.tools):
            call_id = f"toolu_{serial:04d}{number:02d}"
            yield {"type": "tool_use", "id": call_id, **self.spell(tool)}


AnyModel = TypeVar("AnyModel", bound=Model)


def serving(script: Script, spell: Spell) -> AbstractContextManager[Model]:
    return running(Model(script, spell))


@contextmanager
def running(model: AnyModel) -> Iterator[AnyModel]:
    with model:
        thread = threading.Thread(target=model.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield model
        finally:
            model.shutdown()
            thread.join()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Model

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def do_HEAD(self) -> None:
        self._send("application/json", b"")

    def do_GET(self) -> None:
        self._send_json({"data": [], "has_more": False})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"] or 0)) or b"{}")
        stream = _STREAMS.get(self.path.partition("?")[0])
        if stream is None:
            self._send_json({"input_tokens": 1})
            return
        if stream is responses.stream:
            body = responses.as_messages(body)
        answer = self.server.answer(Request(self._agent(body), body))
        if "error" in answer:
            self._send_json(answer, answer["status"])
        elif body.get("stream"):
            self._send("text/event-stream", b"".join(stream(answer)))
        else:
            self._send_json(answer)

    def _agent(self, body: Json) -> str:
        if self.headers.get("x-parent-session-id"):
            return self.headers.get("x-session-id") or "unknown"
        if self.headers.get("x-codex-parent-thread-id"):
            return self.headers.get("thread-id") or "unknown"
        is_named = any(text.startswith(SUBAGENTS) for text in texts_of(body.get("system")))
        return self.headers.get("x-claude-code-agent-id") or ("unknown" if is_named else "")

    def _send_json(self, value: Json, status: int = 200) -> None:
        self._send("application/json", json.dumps(value).encode(), status)

    def _send(self, kind: str, data: bytes, status: int = 200) -> None:
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def _stream(answer: Json) -> Iterator[bytes]:
    """The answer as server-sent events."""
    for event in _events(answer):
        yield f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()


def _events(answer: Json) -> Iterator[Json]:
    yield {"type": "message_start", "message": {**answer, "content": [], "stop_reason": None}}
    for index, block in enumerate(answer["content"]):
        opening, delta = _halves(block)
        yield {"type": "content_block_start", "index": index, "content_block": opening}
        yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    ending = {"stop_reason": answer["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": ending, "usage": answer["usage"]}
    yield {"type": "message_stop"}


def _halves(block: Json) -> tuple[Json, Json]:
    """A content block as its empty opening and the one delta that fills it."""
    if block["type"] == "text":
        return {"type": "text", "text": ""}, {"type": "text_delta", "text": block["text"]}
    filling = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
    return {**block, "input": {}}, filling


def _chat_stream(answer: Json) -> Iterator[bytes]:
    """The answer as the chunks of a chat completion."""
    texts = [block["text"] for block in answer["content"] if block["type"] == "text"]
    uses = [block for block in answer["content"] if block["type"] == "tool_use"]
    calls = [
        {
            "index": index,
            "id": block["id"],
            "type": "function",
            "function": {"name": block["name"], "arguments": json.dumps(block["input"])},
        }
        for index, block in enumerate(uses)
    ]
    counts = [answer["usage"][name] for name in ("input_tokens", "output_tokens")]
    names = ("prompt_tokens", "completion_tokens", "total_tokens")
    usage = dict(zip(names, [*counts, sum(counts)], strict=True))
    deltas = [
        {"role": "assistant", "content": "".join(texts)},
        *({"tool_calls": [c]} for c in calls),
    ]
    chunks: list[Json] = [{"delta": delta, "finish_reason": None} for delta in deltas]
    chunks += [{"delta": {}, "finish_reason": "tool_calls" if calls else "stop"}]
    head = {"id": answer["id"], "object": "chat.completion.chunk", "created": 1}
    for chunk in chunks:
        choices = [{"index": 0, **chunk}]
        event = {**head, "model": answer["model"], "choices": choices, "usage": usage}
        yield f"data: {json.dumps(event)}\n\n".encode()
    yield b"data: [DONE]\n\n"


_STREAMS = {
    "/v1/messages": _stream,
    "/v1/chat/completions": _chat_stream,
    "/v1/responses": responses.stream,
}
"""Path of a request → how its answer is spelled."""
