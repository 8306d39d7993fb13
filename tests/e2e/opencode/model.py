"""The scripted model: a server on loopback that answers as a chat completions API does."""

from __future__ import annotations

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

from e2e.opencode import wire
from e2e.opencode.script import Unfinished
from e2e.opencode.wire import Request
from e2e.script import Script, Turn

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

OK = 200
SUMMARY = Turn("What was said before.")
TITLE = Turn("A title")
GIST = 1500  # characters of what is new in a request


class Model(ThreadingHTTPServer):
    """Answers from the script and keeps every request of the conversation.

    `compactions`: what the model that writes the summary of a compaction received. `hung_up`: how
    often the client went before an answer was at its end.
    """

    daemon_threads = True

    def __init__(self, script: Script, log: Path) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.script = script
        self.log = log
        self.requests: list[Request] = []
        self.compactions: list[Request] = []
        self.hung_up = 0
        self.closing = threading.Event()
        self._serial = 0
        self._lock = threading.Lock()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"

    def answer(self, request: Request) -> tuple[Turn, int]:
        """The turn of the script, and the number of the answer."""
        with self._lock:
            self._serial += 1
            serial = self._serial
            if request.is_compaction:
                self.compactions.append(request)
            elif not request.is_title:
                self.requests.append(request)
        turn = self._turn(request)
        with self._lock:
            self._note(request, turn)
        return turn, serial

    def _note(self, request: Request, turn: Turn) -> None:
        who = "summary" if request.is_compaction else "agent" if request.parent else "main"
        with self.log.open("a", encoding="utf-8") as log:
            log.write(f"--- {who} was asked:\n{request.last[-GIST:]}\n--- said:\n{turn}\n")

    def _turn(self, request: Request) -> Turn:
        if request.is_title:
            return TITLE
        if request.is_compaction:
            return SUMMARY
        turn = self.script.take(agent=bool(request.parent))
        if turn.meanwhile:
            turn.meanwhile()
        return turn


class Handler(BaseHTTPRequestHandler):
    server: Model

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  (the parent's name)
        pass

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"] or 0)) or b"{}")
        session = self.headers.get("x-session-id") or ""
        parent = self.headers.get("x-parent-session-id") or ""
        turn, serial = self.server.answer(Request(session, parent, body))
        try:
            self._answer(turn, serial)
        except (BrokenPipeError, ConnectionResetError):
            self.server.hung_up += 1

    def _answer(self, turn: Turn, serial: int) -> None:
        if turn.status != OK:
            self._start(turn, "application/json")
            self.wfile.write(json.dumps(wire.refusal(turn)).encode())
            return
        self._start(turn, "text/event-stream")
        self.wfile.write(b"".join(wire.opening(turn, serial)))
        if isinstance(turn, Unfinished):
            self._wait_for_the_end()
        else:
            self.wfile.write(b"".join(wire.ending(turn, serial)))

    def _start(self, turn: Turn, kind: str) -> None:
        self.send_response(turn.status)
        for name, value in turn.headers.items():
            self.send_header(name, value)
        self.send_header("content-type", kind)
        self.end_headers()

    def _wait_for_the_end(self) -> None:
        self.connection.settimeout(0.05)
        while not self.server.closing.is_set():
            try:
                if not self.connection.recv(1):
                    raise ConnectionResetError
            except TimeoutError:
                continue


@contextmanager
def serving(script: Script, log: Path) -> Iterator[Model]:
    """`log` tells what was asked and said, for whoever looks why a test failed."""
    with Model(script, log) as model:
        thread = threading.Thread(target=model.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield model
        finally:
            model.closing.set()
            model.shutdown()
            thread.join()
