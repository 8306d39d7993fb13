"""Serves the dashboard on this machine until it is interrupted, and finds one that runs already."""

from __future__ import annotations

import hmac
import json
import secrets
import socket
import urllib.error
import urllib.request
from collections.abc import Callable
from http.client import HTTPException
from types import FrameType
from typing import Any

import uvicorn

from sisyphus.dashboard import access, app, guard, private_page
from sisyphus.dashboard.page import Desk

_SECONDS = 3.0
_ANSWER_BYTES = 10_000
_GRACE_SECONDS = 2


def listen(port: int) -> socket.socket | None:
    """Returns a socket at a port, 0 = any that is free; None = the port is taken."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((access.HOST, port))
        listener.listen()
    except OSError:
        listener.close()
        return None
    return listener


def link_of_running(port: int, token: str) -> str:
    """Returns a new address of the dashboard of this user that answers at a port; "" = it is none,
    or somebody else's, who must not get to know the token."""
    address, nonce = f"http://{access.HOST}:{port}", secrets.token_urlsafe(24)
    headers = {"authorization": f"Bearer {token}"}
    try:
        given = _ask(urllib.request.Request(f"{address}{guard.PROOF}?nonce={nonce}"))["proof"]
        if not hmac.compare_digest(given.encode(), access.proof(token, port, nonce).encode()):
            return ""
        link = urllib.request.Request(f"{address}/link", method="POST", headers=headers)
        return str(_ask(link)["url"])
    except (OSError, HTTPException, ValueError, KeyError, TypeError, AttributeError):
        return ""


def _ask(request: urllib.request.Request) -> Any:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(request, timeout=_SECONDS) as answer:
        return json.loads(answer.read(_ANSWER_BYTES))


class _Server(uvicorn.Server):
    """Ends the streams of open pages when it is told to end: they would not end by themselves."""

    def __init__(self, config: uvicorn.Config, desk: Desk) -> None:
        super().__init__(config)
        self._desk = desk

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self._desk.is_ending = True
        for code in self._desk.access.codes:
            private_page.remove(code, self._desk.our_home)
        super().handle_exit(sig, frame)


def serve(desk: Desk, listener: socket.socket, ready: Callable[[], None]) -> None:
    """Serves until SIGINT or SIGTERM, and raises that again then. ready: is called when it
    answers."""
    config = uvicorn.Config(
        app.make(desk),
        log_level="error",
        access_log=False,
        lifespan="off",
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=_GRACE_SECONDS,
    )
    server = _Server(config, desk)
    ready()  # the socket listens: what comes before the server does waits in it
    server.run(sockets=[listener])
