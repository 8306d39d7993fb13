"""A model on this machine: it has the client read one file, then says that it is done.

The same server is the client's proxy. What is meant for any other host comes here and is refused,
so that nothing leaves the machine even where the client is led astray.
"""

from __future__ import annotations

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from sisyphus._types import Json

HOST = "127.0.0.1"
OVER = "All is well."

_OK, _BAD, _FORBIDDEN = 200, 400, 403
_MOST_BYTES = 64_000_000
_MOST_NAMES = 20


class Model(ThreadingHTTPServer):
    """`heard`: what the conversation sent, as text. `astray`: the other hosts that were asked for.
    `file`: the one to read."""

    daemon_threads = True

    def __init__(self, file: str) -> None:
        super().__init__((HOST, 0), _Handler)
        self.file = file
        self.heard: list[str] = []
        self.astray: list[str] = []

    def handle_error(self, request: object, client_address: object) -> None:
        """Says nothing: the terminal is the user's, and a client that goes away is none of ours."""

    @property
    def url(self) -> str:
        return f"http://{HOST}:{self.server_port}"

    def answer(self, request: Json) -> Json:
        if not request.get("tools"):
            return _message(_said("ok"), request)
        self.heard.append(json.dumps(request, ensure_ascii=False))
        if '"tool_result"' in self.heard[-1]:
            return _message(_said(OVER), request)
        call = {"type": "tool_use", "id": "toolu_live", "name": "Read"}
        return _message({**call, "input": {"file_path": self.file}}, request)


@contextmanager
def serving(file: str) -> Iterator[Model]:
    """Raises `OSError` where this machine has no port for it."""
    with Model(file) as model:
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

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # the parent's name
        """Says nothing: the terminal is the user's."""

    def do_HEAD(self) -> None:
        self._answer({})

    def do_GET(self) -> None:
        self._answer({"data": [], "has_more": False})

    def do_CONNECT(self) -> None:
        self._answer({})

    def do_POST(self) -> None:
        request = self._request()
        if self.path.partition("?")[0] != "/v1/messages":
            self._answer({"input_tokens": 1})
        elif request is None:
            self.close_connection = True  # there may be more of it
            self._send(_BAD, "text/plain", b"")
        elif request.get("stream"):
            told = self.server.answer(request)
            self._send(_OK, "text/event-stream", b"".join(_stream(told)))
        else:
            self._answer(self.server.answer(request))

    def _request(self) -> Json | None:
        """None where it is no JSON object of a length that is told."""
        length = self.headers["content-length"] or ""
        if not (length.isascii() and length.isdigit()) or int(length) > _MOST_BYTES:
            self.close_connection = True
            return None
        try:
            request = json.loads(self.rfile.read(int(length)))
        except (ValueError, RecursionError):
            return None
        return request if isinstance(request, dict) else None

    def _answer(self, value: Json) -> None:
        if self.path.startswith("/"):
            self._send(_OK, "application/json", json.dumps(value).encode())
            return
        if len(self.server.astray) < _MOST_NAMES:
            self.server.astray.append(self.path)
        self.close_connection = True
        self._send(_FORBIDDEN, "text/plain", b"")

    def _send(self, status: int, kind: str, data: bytes) -> None:
        try:
            self.send_response(status)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)
        except OSError:  # the client has gone
            self.close_connection = True


def _said(text: str) -> Json:
    return {"type": "text", "text": text}


def _message(block: Json, request: Json) -> Json:
    return {
        "id": "msg_live",
        "type": "message",
        "role": "assistant",
        "model": request.get("model", ""),
        "content": [block],
        "stop_reason": "end_turn" if block["type"] == "text" else "tool_use",
        "stop_sequence": None,
        "usage": {"input_tokens": 10, "output_tokens": 10},
    }


def _stream(whole: Json) -> Iterator[bytes]:
    """A message as server-sent events."""
    for event in _events(whole):
        yield f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()


def _events(whole: Json) -> Iterator[Json]:
    opening, delta = _halves(whole["content"][0])
    ending = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
    yield {"type": "message_start", "message": {**whole, "content": [], "stop_reason": None}}
    yield {"type": "content_block_start", "index": 0, "content_block": opening}
    yield {"type": "content_block_delta", "index": 0, "delta": delta}
    yield {"type": "content_block_stop", "index": 0}
    yield {"type": "message_delta", "delta": ending, "usage": whole["usage"]}
    yield {"type": "message_stop"}


def _halves(block: Json) -> tuple[Json, Json]:
    """A content block as its empty opening and the one delta that fills it."""
    if block["type"] == "text":
        return _said(""), {"type": "text_delta", "text": block["text"]}
    told = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
    return {**block, "input": {}}, told
