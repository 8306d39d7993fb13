"""What a process says, and no more of it than is of use."""

from __future__ import annotations

import os
import subprocess
import time
from contextlib import suppress
from threading import Thread

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import IO

MOST_BYTES = 1_000_000
"""Of each stream; the rest is read and forgotten."""

_PIECE = 65_536


def heard(process: subprocess.Popen[bytes], stdin: bytes, seconds: float) -> tuple[bytes, bytes]:
    """Its stdout and stderr, until both are closed and it has ended.

    Raises `subprocess.TimeoutExpired`. `stdin` is short: it fits into a pipe.
    """
    end = time.monotonic() + seconds
    output, errors = bytearray(), bytearray()
    readers = [_reading(process.stdout, output), _reading(process.stderr, errors)]
    _tell(process, stdin)
    for reader in readers:
        reader.join(max(end - time.monotonic(), 0))
        if reader.is_alive():
            raise subprocess.TimeoutExpired(process.args, seconds)
    process.wait(max(end - time.monotonic(), 0))
    return bytes(output), bytes(errors)


def _reading(pipe: IO[bytes] | None, kept: bytearray) -> Thread:
    thread = Thread(target=_read, args=(pipe, kept), daemon=True)
    thread.start()
    return thread


def _read(pipe: IO[bytes], kept: bytearray) -> None:
    with suppress(OSError, ValueError):  # closed meanwhile, as it took too long
        while piece := os.read(pipe.fileno(), _PIECE):
            kept += piece[: max(MOST_BYTES - len(kept), 0)]


def _tell(process: subprocess.Popen[bytes], stdin: bytes) -> None:
    if process.stdin:
        with suppress(BrokenPipeError), process.stdin as pipe:  # it need not listen
            pipe.write(stdin)
