"""A stand-in for Linear's API on loopback that keeps what it was asked."""

from __future__ import annotations

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sisyphus._types import Json

CREATED = {"data": {"commentCreate": {"success": True, "comment": {"id": "c-1"}}}}


class Linear:
    """`status`, `headers` and `body` are the answer; `asked` is what came."""

    def __init__(self) -> None:
        self.status = 200
        self.headers: dict[str, str] = {}
        self.body: bytes = json.dumps(CREATED).encode()
        self.asked: list[Json] = []
        self.url = ""

    def answers(self, body: object, status: int = 200, **headers: str) -> None:
        self.body = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.status = status
        self.headers = headers


@contextmanager
def linear_stub() -> Iterator[Linear]:
    state = Linear()

    class Handler(BaseHTTPRequestHandler):
        def _answer(self) -> None:
            size = int(self.headers.get("Content-Length") or 0)
            state.asked.append(
                {
                    "method": self.command,
                    "path": self.path,
                    "key": self.headers.get("Authorization"),
                    "type": self.headers.get("Content-Type"),
                    "body": json.loads(self.rfile.read(size) or b"null"),
                }
            )
            self.send_response(state.status)
            for name, value in state.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(state.body)))
            self.end_headers()
            self.wfile.write(state.body)

        do_GET = do_POST = _answer  # noqa: N815  # the names that it looks for

        def log_message(self, *_: Any) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    state.url = f"http://127.0.0.1:{server.server_port}/graphql"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield state
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
