"""Who may ask: by the Host and Origin that a request names, and by what it proves to know. No I/O.

A page of a stranger can make the user's browser send a request to a loopback address, by its own
name or by a name that was made to lead there (DNS rebinding). Both show in these headers. Whoever
else uses this machine can reach the port as well, and knows no token.
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import re
import secrets
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote, urlsplit

if TYPE_CHECKING:
    from collections.abc import Collection

SAFE_METHODS = ("GET", "HEAD")

LOOPBACK_NAMES = ("localhost", "127.0.0.1", "::1")

EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104
"""Where to ask a server that listens at every address."""

TOKEN_BYTES = 24

Name = str | ipaddress.IPv4Address | ipaddress.IPv6Address

_HOST = re.compile(r"(?:\[([0-9A-Fa-f:.]+)\]|([A-Za-z0-9_.-]+?)\.?)(?::[0-9]{1,5})?")
"""`[address]:port` or `name:port`, the name maybe with the dot of the root."""


class Asked(NamedTuple):
    """What a request says of itself; "" where it does not.

    `site`, `mode`, `dest`: by `Sec-Fetch-Site` and so on, which browsers send and no page can set.
    `code`: from the address of a browser that we opened.
    """

    method: str
    host: str
    origin: str
    site: str
    mode: str
    dest: str
    bearer: str
    cookie: str
    token: str
    code: str


class Access:
    """`host`: where the server listens; `token`: what its address holds; `names`: of this machine,
    by which it may be asked where it listens to others."""

    def __init__(self, host: str, port: int, token: str, names: Collection[str] = ()) -> None:
        self.host = host
        self.port = port
        self.token = token
        self.names = {_meant(name) for name in (*LOOPBACK_NAMES, host, *names)}
        self.is_local = is_loopback(host)
        self._start = secrets.token_hex()
        self._code = _Code()

    @property
    def address(self) -> str:
        return self.address_by(EVERYWHERE.get(self.host, self.host))

    @property
    def url(self) -> str:
        """What the user opens."""
        return self.url_by(EVERYWHERE.get(self.host, self.host))

    def url_by(self, name: str) -> str:
        """`name`: of this machine."""
        return f"{self.address_by(name)}?token={quote(self.token, safe='')}"

    def url_for_once(self) -> str:
        """What we open ourselves: other users of this machine see the arguments of a browser."""
        return f"{self.address}?open={self._code.made()}"

    def address_by(self, name: str) -> str:
        return f"http://{f'[{name}]' if ':' in name else name}:{self.port}/"

    @property
    def cookie_name(self) -> str:
        """Cookies are not told apart by port, dashboards are."""
        return f"sisyphus_{self.port}"

    @property
    def cookie(self) -> str:
        """Proves that the token was known; does not tell it. Servers at other ports of this host
        are sent it as well: it is worth nothing at another dashboard, or after another start."""
        said = f"cookie {self.port} {self._start}"
        return hmac.new(self.token.encode(), said.encode(), hashlib.sha256).hexdigest()

    def is_known(self, asked: Asked) -> bool:
        return _is_same(asked.bearer, self.token) or _is_same(asked.cookie, self.cookie)

    def opens(self, asked: Asked) -> bool:
        """Whether it comes with the address that the user was given, or for once with the one that
        we opened: that is used up by asking here."""
        if asked.method in SAFE_METHODS and _is_same(asked.token, self.token):
            return True
        return asked.method == "GET" and self._code.is_used_up_by(asked.code)

    def is_ours(self, host: str) -> bool:
        """Whether a Host header names this server. An address is no name: nobody can make it lead
        elsewhere."""
        name = _meant(host_name(host))
        return name in self.names or not (self.is_local or isinstance(name, str))

    def is_from_here(self, asked: Asked) -> bool:
        """Whether one of our own pages, or no page at all, asks.

        A browser names the origin of whatever may change something. What brings the token itself
        is no browser that a stranger's page could have sent. Other sites may lead here: what they
        fetch or frame would come with our cookie if they are at another port of this host.
        """
        if asked.origin:
            return _authority(asked.origin) == asked.host.casefold()
        if asked.site not in ("", "same-origin", "none"):
            leads_here = (asked.mode, asked.dest) == ("navigate", "document")
            return asked.method in SAFE_METHODS and leads_here
        return asked.method in SAFE_METHODS or bool(asked.bearer) or asked.site == "same-origin"


class _Code:
    """Opens once, also when two ask for it at the same time."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._code = ""

    def made(self) -> str:
        """A new one; none before it opens any more."""
        with self._lock:
            self._code = secrets.token_urlsafe(TOKEN_BYTES)
            return self._code

    def is_used_up_by(self, code: str) -> bool:
        with self._lock:
            is_it = bool(self._code) and _is_same(code, self._code)
            if is_it:
                self._code = ""
            return is_it


def comes_by_link(asked: Asked) -> bool:
    """Whether a page of another site led here. No cookie of ours comes along then; it does from the
    page that is answered."""
    return asked.method in SAFE_METHODS and asked.site == "cross-site"


def host_name(host: str) -> str:
    """The name in `name:port` or `[address]:port`; "" for whatever else a header may hold."""
    found = _HOST.fullmatch(host)
    return (found[1] or found[2]).casefold() if found else ""


def is_loopback(host: str) -> bool:
    meant = _meant(host)
    if isinstance(meant, str):
        return meant == "localhost"
    # Not in every Python is `::ffff:127.0.0.1` said to be what it stands for.
    return (getattr(meant, "ipv4_mapped", None) or meant).is_loopback


def _is_same(said: str, known: str) -> bool:
    """Takes as long for whatever is said: the time tells nothing."""
    return hmac.compare_digest(said.encode(), known.encode())


def _meant(name: str) -> Name:
    """An address is the same however it is spelled."""
    try:
        return ipaddress.ip_address(name)
    except ValueError:
        return name.casefold()


def _authority(origin: str) -> str:
    """The host and port of an origin; "" for `null` and whatever is no origin."""
    try:
        parts = urlsplit(origin)
    except ValueError:
        return ""
    return parts.netloc.casefold() if parts.scheme in ("http", "https") else ""
