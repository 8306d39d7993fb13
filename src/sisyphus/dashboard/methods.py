"""Every GET answers HEAD as well, and whoever asks in a wrong way hears which ways there are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.routing import Match

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

_METHODS = ("DELETE", "GET", "PATCH", "POST", "PUT")


def allowed(app: Starlette, scope: Scope) -> str:
    """For `Allow`: the methods by which the path of a request may be asked."""
    found = [method for method in _METHODS if _is_there(app, {**scope, "method": method})]
    return ", ".join([*found, "HEAD"] if "GET" in found else found)


def _is_there(app: Starlette, scope: Scope) -> bool:
    return any(route.matches(scope)[0] is Match.FULL for route in app.routes)


class HeadAsGet:
    """Around the application, which knows no HEAD: FastAPI does not add it."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["method"] == "HEAD":
            await self._app({**scope, "method": "GET"}, receive, _without_body(send))
        else:
            await self._app(scope, receive, send)


def _without_body(send: Send) -> Send:
    """Ends with the headers: a stream of events has no end of its own."""

    async def headers_alone(message: Message) -> None:
        if message["type"] == "http.response.start":
            await send(message)
            await send({"type": "http.response.body", "body": b"", "more_body": False})

    return headers_alone
