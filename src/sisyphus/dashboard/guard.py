"""Stands around the whole application: nothing reaches it that may not, and every answer tells the
browser what it may do with it."""

from __future__ import annotations

import os
from collections.abc import Callable

from starlette.datastructures import MutableHeaders, QueryParams
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sisyphus.dashboard.access import TOKEN_FILE, Access
from sisyphus.dashboard.private_page import OPEN
from sisyphus.ground import paths
from sisyphus.ground.paths import display

_HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
_PUBLIC = "/static/"
"""The same in everybody's installation."""

PROOF = "/proof"
"""Where a program asks whose server this is, before it shows the token."""

WRONG_HOST = "This dashboard answers only to the address that `sisyphus dashboard` prints."
WRONG_ORIGIN = "A page of another site asked for this. It was refused."
UNKNOWN = (
    "This browser is not known here. An address that `sisyphus dashboard` prints opens the "
    "dashboard once: run it again for a new one."
)

_FOR_PROGRAMS = ("/api/", "/metrics", "/events", "/link")

Refuse = Callable[[Request, int, str], Response]


class Guard:
    """refuse: makes the answer to a request that is refused, from a status and a sentence."""

    def __init__(self, app: ASGIApp, access: Access, refuse: Refuse) -> None:
        self._app = app
        self._access = access
        self._refuse = refuse

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            answer = self._answer(Request(scope)) or self._app
            await answer(scope, receive, _with_headers(scope, send))
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
        else:
            await self._app(scope, receive, send)

    def _answer(self, request: Request) -> Response | None:
        """Returns the answer in place of the application's; None = the application may answer."""
        if not self._access.is_ours(request.scope):
            return self._refuse(request, 403, WRONG_HOST)
        if not self._access.is_from_here(request.scope):
            is_entry = _brings_code(request) and self._access.is_from_file(request.scope)
            return None if is_entry else self._refuse(request, 403, WRONG_ORIGIN)
        if request.url.path.startswith(_PUBLIC):
            return None
        if request.url.path == PROOF:
            nonce = request.query_params.get("nonce", "")
            return JSONResponse({"proof": self._access.prove(nonce)})
        if code := request.query_params.get("code", ""):
            return self._open(request, code)
        return None if self._access.is_known(request) else self._refuse(request, 401, _why(request))

    def _open(self, request: Request, code: str) -> Response:
        """Makes a browser known; its address loses the code. One that is known stays the same, or
        the forms on its open pages would be those of another."""
        cookie, is_known = self._access.redeem(code), self._access.is_known(request)
        if not cookie and not is_known:
            return self._refuse(request, 401, UNKNOWN)
        rest = QueryParams([(k, v) for k, v in request.query_params.multi_items() if k != "code"])
        path = "/" + request.url.path.lstrip("/\\")  # `//name` would lead to another server
        answer = RedirectResponse(f"{path}?{rest}" if rest else path, 303)
        if cookie and not is_known:
            answer.set_cookie(self._access.cookie_name, cookie, httponly=True, samesite="strict")
        return answer


def _brings_code(request: Request) -> bool:
    return request.url.path == OPEN and request.method == "POST"


def _why(request: Request) -> str:
    """Refuses a browser that is not known, or a program that does not bring the token."""
    if "authorization" not in request.headers and not request.url.path.startswith(_FOR_PROGRAMS):
        return UNKNOWN
    file = display(os.path.join(paths.our_home(), TOKEN_FILE), "")
    return (
        f"The token is missing or wrong. It is in {file}; send it with each request, in the header "
        "`Authorization: Bearer TOKEN`."
    )


def _with_headers(scope: Scope, send: Send) -> Send:
    async def with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            headers.update(_HEADERS)
            is_public = scope["path"].startswith(_PUBLIC)
            headers["cache-control"] = "no-cache" if is_public else "no-store"
        await send(message)

    return with_headers
