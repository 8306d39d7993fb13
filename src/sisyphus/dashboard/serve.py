"""Binds, tells where, and serves until it is interrupted."""

from __future__ import annotations

import errno
import os
import secrets
import socket
from contextlib import suppress
from typing import TYPE_CHECKING

import uvicorn

from sisyphus.dashboard.access import EVERYWHERE, TOKEN_BYTES, Access, is_loopback
from sisyphus.dashboard.app import build
from sisyphus.dashboard.desk import Desk
from sisyphus.errors import SisyphusError
from sisyphus.state import debug
from sisyphus.text import one_line

if TYPE_CHECKING:
    from collections.abc import Callable

    from sisyphus.dashboard.guard import Guard

TOKEN_VARIABLE = "SISYPHUS_DASHBOARD_TOKEN"  # noqa: S105  # where it is, not what it is
"""For programs that ask again after a restart, such as Prometheus."""

TOKEN_CHARACTERS = 16
"""Fewer can be guessed."""

_GRACE_SECONDS = 2
_ELSEWHERE = ((socket.AF_INET, "192.0.2.1"), (socket.AF_INET6, "2001:db8::1"))
_CHARACTERS = 100


def serve(host: str, port: int, told: Callable[[Access], None]) -> None:
    """`told` hears where, once requests are answered. Raises `SisyphusError`."""
    token = chosen_token()
    with bind(host, port) as listening:
        access = Access(*_place(host, listening), token, _names(host))
        server = _Server(build(Desk(), access), lambda: told(access))
        # The signal that ended it is sent once more by uvicorn, when everything is closed.
        with suppress(KeyboardInterrupt):
            server.run(sockets=[listening])
        if not server.started:
            log = debug.log_path()
            raise SisyphusError(f"the dashboard did not start. The debug log may have more: {log}")


def chosen_token() -> str:
    named = os.environ.get(TOKEN_VARIABLE, "")
    if named and not _can_be_sent(named):
        raise SisyphusError(
            f"{TOKEN_VARIABLE} is no token: it takes {TOKEN_CHARACTERS} or more printable ASCII "
            "characters, a space neither first nor last. Set another, or none."
        )
    return named or secrets.token_urlsafe(TOKEN_BYTES)


def _can_be_sent(token: str) -> bool:
    """A header's value loses the spaces around it."""
    is_text = token.isascii() and token.isprintable() and token == token.strip()
    return is_text and len(token) >= TOKEN_CHARACTERS


def bind(host: str, port: int) -> socket.socket:
    if not host.strip():
        raise SisyphusError("no address: --host is empty. Name one, such as 127.0.0.1, or none.")
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        made = socket.socket(family, kind, protocol)
    except (OSError, UnicodeError) as error:
        named = one_line(host, _CHARACTERS)
        why = getattr(error, "strerror", None) or error
        raise SisyphusError(f"no address {named}: {why}. Name another with --host.") from error
    try:
        if os.name == "posix":  # elsewhere it would let two listen at one port
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind(address)
        made.listen(socket.SOMAXCONN)
    except OSError as error:
        made.close()
        raise SisyphusError(_in_words(host, port, error)) from error
    return made


def _place(host: str, listening: socket.socket) -> tuple[str, int]:
    """Of the two that are `localhost`, the address that is ours: the other may be anybody's."""
    address, port = listening.getsockname()[:2]
    is_told_by_address = host.casefold() == "localhost" or address in EVERYWHERE
    return (address if is_told_by_address else host), port


def url_for_others(access: Access) -> str:
    """What others on the network open where it listens at every address: there the printed address
    leads to their own machine. "" = they open the printed one, or nobody else can."""
    if access.host not in EVERYWHERE:
        return ""
    return access.url_by(_own_address(":" in access.host) or socket.gethostname())


def _own_address(is_v6: bool) -> str:
    """In the network around; "" = it cannot be told. Nothing is sent: a datagram's socket chooses
    its own address when it is told where to, here to one of nobody's (RFC 5737, RFC 3849)."""
    family, other = _ELSEWHERE[is_v6]
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as asked:
            asked.connect((other, 9))
            found = str(asked.getsockname()[0])
    except OSError:
        return ""
    return "" if is_loopback(found) else found


def _names(host: str) -> tuple[str, ...]:
    """Of this machine, where others reach it: its own, and that in the network around it."""
    name = socket.gethostname()
    return () if is_loopback(host) else (name, f"{name.partition('.')[0]}.local")


class _Server(uvicorn.Server):
    """Says when it serves. Pages that listen to changes do not keep it from ending."""

    def __init__(self, guard: Guard, started: Callable[[], None]) -> None:
        super().__init__(
            uvicorn.Config(
                guard, loop="asyncio", http="h11", ws="none", lifespan="on", log_config=None,
                log_level="critical", access_log=False, server_header=False, proxy_headers=False,
                timeout_graceful_shutdown=_GRACE_SECONDS,
            )
        )  # fmt: skip
        self._guard = guard
        self._started = started

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._started()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._guard.app.state.live.close()
        await super().shutdown(sockets)


def _in_words(host: str, port: int, error: OSError) -> str:
    advice = {
        errno.EADDRINUSE: "Is another dashboard running? Choose a port with --port (0 = any free).",
        errno.EACCES: "Choose a port above 1023 with --port.",
        errno.EADDRNOTAVAIL: "Name an address of this machine with --host.",
    }.get(error.errno or 0, "Choose others with --port and --host.")
    return f"port {port} of {host} cannot be had: {error.strerror}. {advice}"
