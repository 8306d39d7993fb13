"""That long work goes on, told on one line of the terminal that is gone when the work is done."""

from __future__ import annotations

import sys
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

from sisyphus.cli.terminal import columns, is_terminal, let_go

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from typing import TextIO

    Item = TypeVar("Item")

AFTER_SECONDS = 0.5
EVERY_SECONDS = 0.2

_ERASE = "\r\x1b[K"


@contextmanager
def progress(what: str, *, quiet: bool = False) -> Iterator[Progress]:
    """Shows `what` ("Reading rules") on stderr while the block works for longer than half a second.

    Nothing is shown where stderr is no terminal, and with `quiet` (`--json`). The block prints
    nothing itself. It may say how far it is: `told(done, total)`, or `for one in told.each(all)`.
    """
    shown = Progress(what)
    if quiet or sys.stderr is None or sys.stderr.closed or not is_terminal(sys.stderr):
        yield shown
        return
    over = threading.Event()
    drawing = threading.Thread(target=_draw, args=(shown, sys.stderr, over), daemon=True)
    drawing.start()
    try:
        yield shown
    finally:
        over.set()
        drawing.join()


class Progress:
    """How far the work is."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._done = 0
        self._total = 0
        self._began = time.monotonic()

    def __call__(self, done: int, total: int = 0) -> None:
        """`total` 0 = not known."""
        self._done, self._total = done, total

    def each(self, items: Collection[Item]) -> Iterator[Item]:
        """The items, counted as they are taken."""
        for done, item in enumerate(items):
            self(done, len(items))
            yield item

    def text(self) -> str:
        """`Reading rules: 1,200 of 3,000, 2 s`"""
        total = f" of {self._total:,}" if self._total else ""
        count = f": {self._done:,}{total}" if self._done or self._total else ""
        return f"{self._what}{count}, {time.monotonic() - self._began:.0f} s"


def _draw(shown: Progress, stream: TextIO, over: threading.Event) -> None:
    if over.wait(AFTER_SECONDS):
        return
    try:
        while not over.wait(EVERY_SECONDS):
            stream.write(_ERASE + shown.text()[: max(columns(stream.fileno()) - 1, 1)])
            stream.flush()
        stream.write(_ERASE)
        stream.flush()
    except (OSError, ValueError):  # work does not end with who watches it
        let_go(stream)
