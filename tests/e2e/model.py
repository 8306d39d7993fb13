"""The scripted model: a server on loopback that answers as the Messages API does."""

from __future__ import annotations

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

from e2e import wire
from e2e.script import Script, Turn
from e2e.wire import Json, Request

if TYPE_CHECKING:
    from collections.abc import Iterator

OK = 200
SUMMARY = Turn("<analysis>none</analysis>\n<summary>What was said before.</summary>")


class Model(ThreadingHTTPServer):
    """Answers from the script and keeps every request of the conversation."""

    daemon_threads = True

    def __init__(self, script: Script) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.script = script
        self.requests: list[Request] = []
        self.compactions: list[Request] = []
        self._serial = 0
        self._lock = threading.Lock()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def answer(self, request: Request) -> tuple[Turn, Json]:
        """The turn of the script, and the answer that it is."""
        with self._lock:
            self._serial += 1
            serial = self._serial
            if request.is_turn:
                self.requests.append(request)
            elif request.is_compaction:
                self.compactions.append(request)
        turn = self._turn(request)
        if turn.status != OK:
            return turn, wire.refusal(turn)
        return turn, wire.message(turn, serial, request.body.get("model", ""))

    def _turn(self, request: Request) -> Turn:
        if request.is_turn:
            turn = self.script.take(agent=bool(request.agent))
            if turn.meanwhile:
                turn.meanwhile()
            return turn
        return SUMMARY if request.is_compaction else Turn("ok")


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Model

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  (the parent's name)
        pass

    def do_HEAD(self) -> None:
        self._send("application/json", b"")

    def do_GET(self) -> None:
        self._send_json({"data": [], "has_more": False})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"] or 0)) or b"{}")
        if self.path.startswith("/v1/messages?") or self.path == "/v1/messages":
            self._converse(body)
        else:
            self._send_json({"input_tokens": 1})

    def _converse(self, body: Json) -> None:
        agent = self.headers.get("x-claude-code-agent-id") or ""
        turn, answer = self.server.answer(Request(agent, body))
        if turn.status != OK:
            self._send("application/json", json.dumps(answer).encode(), turn)
        elif body.get("stream"):
            self._send("text/event-stream", b"".join(wire.stream(answer)))
        else:
            self._send_json(answer)

    def _send_json(self, value: Json) -> None:
        self._send("application/json", json.dumps(value).encode())

    def _send(self, kind: str, data: bytes, turn: Turn | None = None) -> None:
        self.send_response(turn.status if turn else OK)
        for name, value in (turn.headers if turn else {}).items():
            self.send_header(name, value)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


@contextmanager
def serving(script: Script) -> Iterator[Model]:
    with Model(script) as model:
        thread = threading.Thread(target=model.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield model
        finally:
            model.shutdown()
            thread.join()
