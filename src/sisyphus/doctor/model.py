"""A model on this machine, for a trial of a client: it says what it is told to say, in order.

It answers as the Messages API does, as chat completions and as the Responses API. Nothing that a
client sends to it goes anywhere else.
"""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Json = dict[str, Any]

HOST = "127.0.0.1"
OVER = "That was all."
"""What it says when it has said everything."""

_MAX_BYTES = 16_000_000
_MAX_REQUESTS = 50
_USAGE = {"input_tokens": 100, "output_tokens": 10}


class Model(ThreadingHTTPServer):
    """blocks: its answers, content blocks of the Messages API. requests: those of the conversation,
    as JSON texts in the order in which they came."""

    daemon_threads = True

    def __init__(self, blocks: list[Json]) -> None:
        super().__init__((HOST, 0), _Handler)
        self._blocks = [*blocks]
        self._lock = threading.Lock()
        self.requests: list[str] = []

    @property
    def url(self) -> str:
        return f"http://{HOST}:{self.server_port}"

    def answer(self, request: Json) -> Json:
        """Returns the next block. A request without tools is not of the conversation: the client
        wants a title."""
        with self._lock:
            if not request.get("tools"):
                return _text("A trial")
            if len(self.requests) < _MAX_REQUESTS:
                self.requests.append(json.dumps(request, ensure_ascii=False))
            return self._blocks.pop(0) if self._blocks else _text(OVER)

    def handle_error(self, request: object, client_address: object) -> None:
        """Says nothing of a client that has gone."""


@contextmanager
def serve(blocks: list[Json]) -> Iterator[Model]:
    """Runs the model in the `with` block. Raises `OSError` if there is no port for it."""
    with Model(blocks) as model:
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

    def log_message(self, format: str, *args: object) -> None:
        """Says nothing: the terminal is the user's."""

    def do_HEAD(self) -> None:
        self._send(b"")

    def do_GET(self) -> None:
        self._send(json.dumps({"data": [], "has_more": False}).encode())

    def do_POST(self) -> None:
        request, path = self._request(), self.path.partition("?")[0]
        if path == "/v1/messages":
            events = _messages(self.server.answer(request), request.get("model"))
        elif path == "/v1/chat/completions":
            events = _completions(self.server.answer(request), request.get("model"))
        elif path == "/v1/responses":
            events = _responses(self.server.answer(request), request.get("model"))
        else:
            return self._send(json.dumps({"input_tokens": 1}).encode())
        self._send(b"".join(events), "text/event-stream")

    def _request(self) -> Json:
        try:
            size = int(self.headers["content-length"] or 0)
            if not 0 < size <= _MAX_BYTES:
                self.close_connection = True  # there may be more of it
                return {}
            request = json.loads(self.rfile.read(size))
        except (ValueError, RecursionError):
            return {}
        return request if isinstance(request, dict) else {}

    def _send(self, data: bytes, kind: str = "application/json") -> None:
        with suppress(OSError):  # the client has gone
            self.send_response(200)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)


def _messages(block: Json, model: object) -> Iterator[bytes]:
    """Yields an answer as the events of the Messages API."""
    is_text = block["type"] == "text"
    if is_text:
        opening, delta = _text(""), {"type": "text_delta", "text": block["text"]}
    else:
        opening = {**block, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
    message = {"id": "msg_trial", "type": "message", "role": "assistant", "model": model}
    message |= {"content": [], "stop_reason": None, "stop_sequence": None, "usage": _USAGE}
    ending = {"stop_reason": "end_turn" if is_text else "tool_use", "stop_sequence": None}
    for event in (
        {"type": "message_start", "message": message},
        {"type": "content_block_start", "index": 0, "content_block": opening},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": ending, "usage": _USAGE},
        {"type": "message_stop"},
    ):
        yield f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()


def _completions(block: Json, model: object) -> Iterator[bytes]:
    """Yields an answer as the chunks of a chat completion."""
    delta: Json = {"role": "assistant", "content": block.get("text", "")}
    if is_call := block["type"] == "tool_use":
        function = {"name": block["name"], "arguments": json.dumps(block["input"])}
        delta["tool_calls"] = [
            {"index": 0, "id": block["id"], "type": "function", "function": function}
        ]
    usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
    head = {"id": "trial", "object": "chat.completion.chunk", "created": 1, "model": model}
    choices: list[Json] = [
        {"delta": delta, "finish_reason": None},
        {"delta": {}, "finish_reason": "tool_calls" if is_call else "stop"},
    ]
    for choice in choices:
        chunk = {**head, "choices": [{"index": 0, **choice}], "usage": usage}
        yield f"data: {json.dumps(chunk)}\n\n".encode()
    yield b"data: [DONE]\n\n"


def _responses(block: Json, model: object) -> Iterator[bytes]:
    """Yields an answer as the events of the Responses API."""
    if block["type"] == "text":
        content = [{"type": "output_text", "text": block["text"], "annotations": []}]
        item: Json = {"type": "message", "id": "msg_trial", "role": "assistant", "content": content}
    else:
        item = {"type": "function_call", "id": "fc_trial", "call_id": block["id"]}
        item |= {"name": block["name"], "arguments": json.dumps(block["input"])}
    head = {"id": "resp_trial", "object": "response", "model": model}
    usage = {**_USAGE, "total_tokens": 110}
    for event in (
        {"type": "response.created", "response": {**head, "output": []}},
        {"type": "response.output_item.added", "output_index": 0, "item": item},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": {**head, "output": [item], "usage": usage}},
    ):
        yield f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()


def _text(text: str) -> Json:
    return {"type": "text", "text": text}
