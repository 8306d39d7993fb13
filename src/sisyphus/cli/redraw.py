from __future__ import annotations

import os
import sys
import time
from typing import TYPE_CHECKING

from sisyphus.cli.output import say
from sisyphus.errors import SisyphusError
from sisyphus.text import harmless

if TYPE_CHECKING:
    from collections.abc import Callable

    Look = Callable[[], tuple[object, str]]

EVERY_SECONDS = 0.5
_CLEAR = "\x1b[2J\x1b[H"


def redraw(look: Look) -> None:
    """Shows what `look` sees, again each time that changes, until Ctrl-C.

    `look` returns what it saw and the text for it. A terminal, which is cleared before, is kept to
    the text, ages included; elsewhere a text follows only where something else was seen. A failure
    is shown and waited out, unless it is there at the first look.
    """
    is_screen = sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
    try:
        now, before = look(), None
        while True:
            key = now[1 if is_screen else 0]
            if key != before:
                say(_CLEAR + now[1] if is_screen else now[1])
                before = key
            time.sleep(EVERY_SECONDS)
            now = _tried(look)
    except KeyboardInterrupt:
        return


def _tried(look: Look) -> tuple[object, str]:
    try:
        return look()
    except SisyphusError as error:
        text = f"error: {harmless(str(error))}"
        return text, text
