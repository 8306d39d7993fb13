"""Who may use the dashboard: the browser in which its address was opened, and programs that know
the token of `TOKEN_FILE`.

A page of a stranger can make a browser send requests to this machine, by its own name or by a name
that it makes lead here (DNS rebinding); both show in the headers. Other users of the machine reach
the port too, and know neither address nor token.
"""

from __future__ import annotations

import hmac
import os
import secrets

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.types import Scope

from sisyphus.ground import files

TOKEN_FILE = "dashboard.token"
HOST = "127.0.0.1"

_WITH_CODE = "/?code="
_SAFE = ("GET", "HEAD")
_MOST = 100
"""The most addresses, and browsers, that are known at a time: the oldest is forgotten."""


def split(link: str) -> tuple[str, str]:
    """Returns what an address of `Access.new_link()` consists of: that of the dashboard, and the
    code."""
    address, _, code = link.partition(_WITH_CODE)
    return address, code


def read_token(our_home: str) -> str:
    """Returns the token for programs; makes it if there is none. Raises `OSError`."""
    path = os.path.join(our_home, TOKEN_FILE)
    try:
        with files.open_regular(path) as file:
            token = file.read(1000).decode("ascii", "ignore").strip()
    except FileNotFoundError:
        token = ""
    if not token:
        token = secrets.token_urlsafe(32)
        files.make_folder(our_home)
        with files.open_private(path, os.O_TRUNC) as file:
            file.write(f"{token}\n".encode())
    return token


def proof(token: str, port: int, nonce: str) -> str:
    """Returns what shows that a server at a port knows the token, and gives nothing of it away.
    nonce: of the one who asks. A server at another port cannot pass this on as its own."""
    return hmac.digest(token.encode(), f"{port} {nonce}".encode(), "sha256").hex()


class Access:
    """What a request has to prove. token: of programs."""

    def __init__(self, port: int, token: str) -> None:
        self.port = port
        self.address = f"http://{HOST}:{port}"
        self.cookie_name = f"sisyphus-{port}"  # browsers send a cookie to all ports of a host
        self._token = token
        self._codes: list[str] = []
        self._browsers: list[str] = []

    def new_link(self) -> str:
        """Returns an address that opens the dashboard once."""
        return f"{self.address}{_WITH_CODE}{self._new_code()}"

    def exchange(self, code: str) -> str:
        """Returns, for a code, where a browser gets in with a new one; "" = it is none. The old one
        comes from a file, so the browser sends no cookie of ours with it."""
        return f"{_WITH_CODE}{self._new_code()}" if self._take(code) else ""

    @property
    def codes(self) -> list[str]:
        """The codes that have not been used."""
        return list(self._codes)

    def prove(self, nonce: str) -> str:
        """Returns what shows a program that this server is its user's own."""
        return proof(self._token, self.port, nonce)

    def redeem(self, code: str) -> str:
        """Returns the cookie of a browser that has opened such an address; "" = it is none."""
        if not self._take(code):
            return ""
        browser = secrets.token_urlsafe(24)
        self._browsers = [*self._browsers, browser][-_MOST:]
        return browser

    def _new_code(self) -> str:
        code = secrets.token_urlsafe(24)
        self._codes = [*self._codes, code][-_MOST:]
        return code

    def _take(self, code: str) -> bool:
        """Tells whether somebody may get in with a code. It counts once."""
        known = [each for each in self._codes if hmac.compare_digest(each.encode(), code.encode())]
        self._codes = [each for each in self._codes if each not in known]
        return bool(known)

    def is_known(self, request: Request) -> bool:
        return self.is_program(request) or self._browser(request) != ""

    def is_program(self, request: Request) -> bool:
        kind, _, token = request.headers.get("authorization", "").partition(" ")
        is_bearer = kind.lower() == "bearer"
        return is_bearer and hmac.compare_digest(token.strip().encode(), self._token.encode())

    def form_key(self, request: Request) -> str:
        """Returns what the forms of a browser must bring along; "" = the browser is not known."""
        browser = self._browser(request)
        key = hmac.digest(self._token.encode(), browser.encode(), "sha256").hex()
        return key if browser else ""

    def accepts_form(self, request: Request, key: str) -> bool:
        wanted = self.form_key(request)
        is_ours = bool(wanted) and hmac.compare_digest(key.encode(), wanted.encode())
        return is_ours or self.is_program(request)

    def is_ours(self, scope: Scope) -> bool:
        """Tells whether a request names this server."""
        return self._names_us(Headers(scope=scope).getlist("host"), "")

    def is_from_here(self, scope: Scope) -> bool:
        """Tells whether a request comes from our own page, from no page at all, or by a link."""
        headers = Headers(scope=scope)
        origins = headers.getlist("origin")
        if origins:
            return self._names_us(origins, "http://")
        is_link = headers.get("sec-fetch-mode") == "navigate" and scope["method"] in _SAFE
        return headers.get("sec-fetch-site", "none") in ("same-origin", "none") or is_link

    def is_from_file(self, scope: Scope) -> bool:
        """Tells whether a request comes from a file on this machine, as far as a browser says so:
        a page of a stranger can look the same."""
        return Headers(scope=scope).getlist("origin") == ["null"]

    def _names_us(self, values: list[str], scheme: str) -> bool:
        names = [f"{scheme}{name}:{self.port}" for name in (HOST, "localhost")]
        return len(values) == 1 and values[0].lower() in names

    def _browser(self, request: Request) -> str:
        given = request.cookies.get(self.cookie_name, "").encode()
        known = (each for each in self._browsers if hmac.compare_digest(each.encode(), given))
        return next(known, "")
