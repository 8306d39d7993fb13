"""Serves the dashboard on this machine until it is interrupted, and finds one that runs already."""

from __future__ import annotations

import json
import socket
import urllib.error
import urllib.request
from collections.abc import Callable
from types import FrameType

import uvicorn

from sisyphus.dashboard import access, app
from sisyphus.dashboard.desk import Desk

_SECONDS = 3.0
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
    or somebody else's."""
    request = urllib.request.Request(
        f"http://{access.HOST}:{port}/link",
        method="POST",
        headers={"authorization": f"Bearer {token}"},
    )
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(request, timeout=_SECONDS) as answer:
            return str(json.load(answer)["url"])
    except (OSError, ValueError, KeyError, TypeError):
        return ""


class _Server(uvicorn.Server):
    """Ends the streams of open pages when it is told to end: they would not end by themselves."""

    def __init__(self, config: uvicorn.Config, desk: Desk) -> None:
        super().__init__(config)
        self._desk = desk

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self._desk.is_ending = True
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
