"""Reads what the client writes while it runs, until it ends."""

from __future__ import annotations

import os
import time

from sisyphus.errors import UnreadableError
from sisyphus.processes import last_lines, plain
from sisyphus.reading import open_regular
from sisyphus.runner.client.child import UNKNOWN_EXIT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from io import BufferedReader

    from sisyphus.runner.client.child import Child
    from sisyphus.runner.client.stream import Seen

LINE_BYTES = 64_000_000
"""What is held at most of a line that does not end: the stream repeats whole files."""

ERRORS_CHARACTERS = 4_000

_READ_BYTES = 1_000_000
_LOOK_SECONDS = 0.2


class Ended:
    """How it ended. `exit_code` None: it cannot be known. `offset`: up to where it was read."""

    __slots__ = ("exit_code", "interrupted", "offset", "timed_out")

    def __init__(self) -> None:
        self.exit_code: int | None = None
        self.offset = 0
        self.timed_out = False
        self.interrupted = False


def follow(  # each of them stands for itself
    child: Child,
    seen: Seen,
    output_path: str,
    *,
    offset: int | None = None,
    on_change: Callable[[Seen], None] | None = None,
    deadline: float | None = None,
    stop: Callable[[], bool] | None = None,
) -> Ended:
    """Feeds `seen` until the child has ended, from `offset` (None: where its output begins).

    `on_change` is called after new lines, about 5 times a second at most. `deadline` (by
    `time.monotonic`) and `stop` (asked as often) end the child.
    """
    reader = Reader(seen, output_path, child.offset if offset is None else offset)
    ended = Ended()
    try:
        while child.wait(_pause(deadline)) is None:
            if reader.read() and on_change:
                on_change(seen)
            ended.interrupted = stop is not None and stop()
            ended.timed_out = not ended.interrupted and _is_over(deadline)
            if ended.interrupted or ended.timed_out:
                break
        child.end()
        code = child.poll()
    finally:
        child.release()
        if reader.finish() and on_change:
            on_change(seen)
    ended.exit_code = None if code == UNKNOWN_EXIT else code
    ended.offset = reader.offset
    return ended


def catch_up(seen: Seen, output_path: str, offset: int = 0) -> int:
    """Feeds all that a client has left behind; up to where that is."""
    reader = Reader(seen, output_path, offset)
    reader.finish()
    return reader.offset


def errors_tail(path: str) -> str:
    """The last lines of a client's complaints, for `failures.classify`; "" = none are there."""
    try:
        with open_regular(path) as file:
            file.seek(max(os.fstat(file.fileno()).st_size - 4 * ERRORS_CHARACTERS, 0))
            return last_lines(plain(file.read()), ERRORS_CHARACTERS)
    except (UnreadableError, OSError):
        return ""


class Reader:
    """The complete lines of a file that grows. `offset`: where the next line begins."""

    __slots__ = ("_file", "_held", "_parts", "_seen", "offset")

    def __init__(self, seen: Seen, path: str, offset: int) -> None:
        self._seen = seen
        self._file = _open(path, offset)
        self._parts: list[bytes] = []  # of the line that has no end yet
        self._held = 0
        self.offset = offset

    def read(self) -> bool:
        """Whether there was something new, a part of it at least."""
        before = self.offset
        while data := self._file.read(_READ_BYTES) if self._file else b"":
            self._take(data)
        return self.offset > before

    def finish(self) -> bool:
        """Reads the rest, a last line without an end too, and closes the file."""
        has_more = self.read()
        if self._held:
            self._feed(b"")
            has_more = True
        if self._file:
            self._file.close()
        return has_more

    def _take(self, data: bytes) -> None:
        first, *others = data.split(b"\n")
        self._parts.append(first)
        self._held += len(first)
        for part in others:
            self._feed(b"\n")
            self._parts, self._held = [part], len(part)
        if self._held > LINE_BYTES:
            self._feed(b"")

    def _feed(self, end: bytes) -> None:
        line = b"".join(self._parts) + end
        self._parts, self._held = [], 0
        self.offset += len(line)
        self._seen.feed(line)


def _open(path: str, offset: int) -> BufferedReader | None:
    try:
        file = open_regular(path)
    except UnreadableError:
        return None
    file.seek(offset)
    return file


def _is_over(deadline: float | None) -> bool:
    return deadline is not None and time.monotonic() >= deadline


def _pause(deadline: float | None) -> float:
    left = _LOOK_SECONDS if deadline is None else deadline - time.monotonic()
    return max(min(_LOOK_SECONDS, left), 0.0)
