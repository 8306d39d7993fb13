"""What the terminal can show, for what is drawn in its width."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

from sisyphus.cli.output import is_unicode, styled
from sisyphus.style import Style

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TextIO

_WIDEST = 100
_ENDLESS = 1_000  # where no terminal says how wide it is


def is_terminal(stream: TextIO) -> bool:
    """Whether a line on it can be drawn over."""
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def columns(fd: int = 1) -> int:
    """Some terminals say 0."""
    try:
        return os.get_terminal_size(fd).columns or _ENDLESS
    except OSError:
        return _ENDLESS


def text_width() -> int:
    """Longer lines are hard to read; a pipe gets them whole."""
    found = columns()
    return found if found == _ENDLESS else min(found, _WIDEST)


def if_heard(speak: Callable[[], None]) -> None:
    """Calls `speak`, which prints to stdout, where somebody can read it; nobody is no failure."""
    if sys.stdout is None or sys.stdout.closed:
        return
    try:
        speak()
        sys.stdout.flush()
    except (OSError, ValueError):
        let_go(sys.stdout)


def let_go(stream: TextIO) -> None:
    """Nobody reads it any more: what comes is dropped, also at the interpreter's own end."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


def style() -> Style:
    if not sys.stdout.isatty():
        return Style(is_ascii=not is_unicode())
    return Style(
        bold=lambda text: styled(text, bold=True),
        dim=lambda text: styled(text, dim=True),
        green=lambda text: styled(text, fg="green"),
        yellow=lambda text: styled(text, fg="yellow"),
        is_ascii=not is_unicode(),
    )
