"""Stands around the whole application: nothing reaches it that may not, and every answer says what
a browser may do with it."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

from starlette.datastructures import Headers, MutableHeaders, QueryParams
from starlette.requests import cookie_parser
from starlette.responses import RedirectResponse

from sisyphus.dashboard import refusal
from sisyphus.dashboard.access import Asked, comes_by_link

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from sisyphus.dashboard.access import Access

HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
        "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",  # with `no-referrer` a browser hides the Origin of a form
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}
_OPENING = ("token", "open")
"""What an address holds that opens the dashboard."""

PUBLIC = "/static/"
"""The same for everybody, and in everybody's installation."""


class Guard:
    def __init__(self, app: Starlette, access: Access) -> None:
        self.app = app
        self._access = access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
        elif scope["type"] == "http":
            # Before anything is read: what is told from now on may be missing on the page.
            scope.setdefault("state", {})["changes"] = self.app.state.desk.changes.total
            await self._answer(scope)(scope, receive, _with_headers(scope, send))
        else:
            await send({"type": "websocket.close", "code": 1008})

    def _answer(self, scope: Scope) -> ASGIApp:
        """The application, or what is said in its place."""
        asked = _asked(scope, self._access.cookie_name)
        if not self._access.is_ours(asked.host):
            return refusal.of_host(scope)
        if not self._access.is_from_here(asked):
            return refusal.of_origin(scope)
        if scope["path"].startswith(PUBLIC):
            return self.app
        if self._access.opens(asked):
            return self._opened(scope)
        if self._access.is_known(asked):
            return self.app
        return refusal.of_stranger(scope, _place(scope), goes_on=comes_by_link(asked))

    def _opened(self, scope: Scope) -> RedirectResponse:
        """The same address without what opened it, in whose place the cookie is from now on."""
        reply = RedirectResponse(_place(scope), 303)
        name = self._access.cookie_name
        reply.set_cookie(name, self._access.cookie, path="/", httponly=True, samesite="strict")
        return reply


def _place(scope: Scope) -> str:
    """The path and query that are asked for, without what opens."""
    query = QueryParams(scope["query_string"])
    rest = QueryParams([(k, v) for k, v in query.multi_items() if k not in _OPENING])
    # One slash: `//name` would lead to another server, as would `/\\name`.
    return "/" + quote(scope["path"].lstrip("/")) + (f"?{rest}" if rest else "")


def _with_headers(scope: Scope, send: Send) -> Send:
    async def with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            headers.update(HEADERS)
            is_public = scope["path"].startswith(PUBLIC)
            headers["cache-control"] = "no-cache" if is_public else "no-store"
        await send(message)

    return with_headers


def _asked(scope: Scope, cookie_name: str) -> Asked:
    headers = Headers(scope=scope)
    kind, _, proof = headers.get("authorization", "").partition(" ")
    hosts, query = headers.getlist("host"), QueryParams(scope["query_string"])
    return Asked(
        method=scope["method"],
        host=hosts[0] if len(hosts) == 1 else "",
        origin=headers.get("origin", ""),
        site=headers.get("sec-fetch-site", ""),
        mode=headers.get("sec-fetch-mode", ""),
        dest=headers.get("sec-fetch-dest", ""),
        bearer=proof.strip() if kind.casefold() == "bearer" else "",
        cookie=_cookie(headers, cookie_name),
        token=query.get("token", ""),
        code=query.get("open", ""),
    )


def _cookie(headers: Headers, name: str) -> str:
    """Those of other servers at the same name come along, however they are spelled."""
    return cookie_parser("; ".join(headers.getlist("cookie"))).get(name, "")
