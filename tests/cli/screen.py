"""A command in a pseudo terminal, as a user sees it."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import termios
import threading
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from making import HANG_SECONDS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


@dataclass(frozen=True)
class Shown:
    code: int
    written: bytes

    @property
    def text(self) -> str:
        return self.written.decode().replace("\r\n", "\n")


def on_a_terminal(
    words: Sequence[str],
    *,
    columns: int = 80,
    env: dict[str, str] | None = None,
    keys: Sequence[tuple[str, str | Callable[[], object]]] = (),
) -> Shown:
    """Runs a command to its end. `keys`: texts to wait for, and what is typed or done then, in
    order."""
    keyboard, tty = pty.openpty()
    termios.tcsetwinsize(tty, (40, columns))
    process = subprocess.Popen(
        words,
        stdin=tty,
        stdout=tty,
        stderr=tty,
        env={**os.environ, "TERM": "xterm-256color", **(env or {})},
        preexec_fn=lambda: _log_in(tty),  # noqa: PLW1509  # so that Ctrl-C reaches it
    )
    os.close(tty)
    watchdog = threading.Timer(HANG_SECONDS, process.kill)
    watchdog.start()
    written = _typed(keyboard, list(keys))
    watchdog.cancel()
    watchdog.join()
    os.close(keyboard)
    return Shown(process.wait(HANG_SECONDS), written)


def _log_in(tty: int) -> None:
    """A shell in whose background the tests run has the signal ignored."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    os.login_tty(tty)


def _typed(keyboard: int, keys: list[tuple[str, str | Callable[[], object]]]) -> bytes:
    """All that is written until nobody has the terminal open any more."""
    written, since = b"", 0
    with suppress(OSError):  # how Linux says so
        while data := os.read(keyboard, 65_536):
            written += data
            if keys and keys[0][0].encode() in written[since:]:
                _, then = keys.pop(0)
                if isinstance(then, str):
                    os.write(keyboard, then.encode())
                else:
                    then()
                since = len(written)
    return written
