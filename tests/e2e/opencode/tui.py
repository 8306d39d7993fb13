"""OpenCode as users have it before them: its terminal interface, in a pseudo terminal."""

from __future__ import annotations

import os
import pty
import termios
import threading
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from e2e.opencode.client import started, until
from e2e.opencode.screen import Screen

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from e2e.opencode.model import Model
    from e2e.opencode.wire import Request

ESCAPE = "\x1b"
ENTER = "\r"
ROWS, COLUMNS = 40, 120
READS_KEYS = "Ask anything"  # stands in the empty input line
PAUSE = 0.3  # seconds between keys; the client may take what comes faster for one text


@dataclass
class Tui:
    """A client at work: keys go in, and what it then does is waited for."""

    process: subprocess.Popen[bytes]
    keyboard: int
    model: Model
    _screen: Screen = field(default_factory=lambda: Screen(ROWS, COLUMNS))
    _last_key: float = 0.0

    @property
    def screen(self) -> str:
        """What the user sees, line by line."""
        return self._screen.text

    @property
    def requests(self) -> list[Request]:
        return self.model.requests

    def enter(self, text: str) -> None:
        """A prompt or a slash command, and Enter."""
        self.press(text)
        self.until_shown(text[:40])
        self.press(ENTER)

    def press(self, keys: str) -> None:
        time.sleep(max(0.0, self._last_key + PAUSE - time.monotonic()))
        self._last_key = time.monotonic()
        os.write(self.keyboard, keys.encode())

    def until(self, condition: Callable[[], object], what: str) -> None:
        until(condition, what, self.process, lambda: self.screen)

    def until_asked(self, times: int) -> None:
        """Until the model got that many requests, counted from the start of the client."""
        self.until(lambda: len(self.requests) >= times, f"request {times}")

    def until_told(self) -> None:
        """Until the script is used up."""
        self.until(lambda: not self.model.script.main, "end of the script")

    def until_shown(self, text: str) -> None:
        self.until(lambda: text in self.screen, f"{text!r} on the screen")


@contextmanager
def opened(
    folder: Path, variables: dict[str, str], flags: Sequence[str], model: Model
) -> Iterator[Tui]:
    keyboard, tty = pty.openpty()
    termios.tcsetwinsize(tty, (ROWS, COLUMNS))
    try:
        with started(flags, folder, variables, stdin=tty, stdout=tty, stderr=tty) as process:
            os.close(tty)
            tui = Tui(process, keyboard, model)
            threading.Thread(target=_read, args=(tui,), daemon=True).start()
            tui.until_shown(READS_KEYS)
            yield tui
    finally:
        os.close(keyboard)


def _read(tui: Tui) -> None:
    with suppress(OSError):  # how Linux says that nobody has the terminal open any more
        while data := os.read(tui.keyboard, 65536):
            tui._screen.feed(data)  # noqa: SLF001
