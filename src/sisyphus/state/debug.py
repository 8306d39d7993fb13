"""The debug log: one line a failure. It must never be the reason for another one."""

from __future__ import annotations

import os
import time

from sisyphus.paths import client_home, our_home

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus._types import Kept

KEPT: tuple[Kept, ...] = ({"path": "logs/debug.log.1", "kind": "old logs"},)

ROTATE_BYTES = 1_000_000
APPEND = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_NONBLOCK", 0)
"""How logs are opened; without the last flag a FIFO in the place of one would stop us for good."""

_LINE_CHARACTERS = 2_000


def log_path() -> str:
    return os.path.join(our_home(), "logs", "debug.log")


def log(text: str) -> None:
    """Appends one dated line; a log of over 1 MB becomes `debug.log.1` first."""
    path = log_path()
    line = " ".join(text.split())[:_LINE_CHARACTERS]
    stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    try:
        for folder in (client_home(), our_home(), os.path.dirname(path)):
            os.makedirs(folder, mode=0o700, exist_ok=True)
        _rotate(path)
        fd = os.open(path, APPEND, 0o600)
        try:
            os.write(fd, f"{stamp} {os.getpid()} {line}\n".encode("utf-8", "replace"))
        finally:
            os.close(fd)
    except OSError:
        return  # nowhere left to say it


def _rotate(path: str) -> None:
    try:
        if os.path.getsize(path) > ROTATE_BYTES:
            os.replace(path, path + ".1")
    except FileNotFoundError:
        return
