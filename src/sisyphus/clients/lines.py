"""Reads the lines of a file to which a client appends JSON objects, however long the file is.

It reads from the offset at which the last reading ended, or backwards until a line is old enough. A
line that is still being written has no line end yet.
"""

from __future__ import annotations

import os

from sisyphus.ground import files, quick_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, BinaryIO

    Json = dict[str, Any]
    Moment = Callable[[Json], float]
    """Returns when a line was written, in seconds since 1970; 0 = unknown."""

LIMIT = 64_000_000
"""The most bytes that we read at once; of a longer turn we skip the start."""

MAX_LINES = 100_000
"""The most lines that we read at once, of a longer turn the last: 64 MB of a real client have about
60,000. Those of three bytes would cost a minute and a gigabyte."""

_CHUNK = 64_000

_TAIL, _LONG_TAIL = 256_000, 4_000_000
"""The bytes at the end of a file in which `last` looks, and those in which it looks once more if
what is wanted is not there: a line holds the whole output of a command."""


def read(
    path: str, moment: Moment, *, offset: int = 0, since: float = 0.0, limit: int = 0
) -> tuple[list[Json], int]:
    """Returns the objects after `offset` or, if it is 0, since a time, and the offset after the
    last complete line. Reads at most the last `limit` bytes and `MAX_LINES` lines. A missing file
    has no lines."""
    try:
        with files.open_regular(path) as file:
            size = file.seek(0, os.SEEK_END)
            start = max(0, size - (limit or LIMIT))
            if 0 < offset <= size:
                return _backwards(file, max(offset, start), size, 0.0, moment)
            return _backwards(file, start, size, since, moment)
    except (OSError, ValueError):
        return [], 0


def parse(line: bytes) -> Json | None:
    """Returns the object in a line; None if it is not one."""
    if not line.lstrip().startswith(b"{"):
        return None  # the end of a line, say: to find out what is wrong with it would cost more
    try:
        raw = quick_json.loads(line)
    except (ValueError, RecursionError):
        return None
    return raw if isinstance(raw, dict) else None


def first(path: str) -> Json:
    """Returns the object in the first line of a file; {} if there is none."""
    try:
        with files.open_regular(path) as file:
            return parse(file.readline(_TAIL)) or {}
    except (OSError, ValueError):
        return {}


def last(path: str, *marks: bytes) -> Iterator[Json]:
    """Yields the objects whose lines contain one of the marks, the last first."""
    seen = 0
    for size in (_TAIL, _LONG_TAIL):
        lines = files.tail(path, size).split(b"\n")
        for line in reversed(lines[: len(lines) - seen]):
            raw = parse(line) if any(mark in line for mark in marks) else None
            if raw:
                yield raw
        if sum(map(len, lines)) + len(lines) < size:
            return  # that was the whole file
        seen = len(lines) - 1  # the first one was cut


def head(path: str, size: int) -> list[Json]:
    """Returns the objects in the first bytes of a file."""
    try:
        with files.open_regular(path) as file:
            lines = file.read(size).split(b"\n")[:-1]
    except (OSError, ValueError):
        return []
    return [raw for line in lines if (raw := parse(line))]


def _backwards(
    file: BinaryIO, start: int, size: int, since: float, moment: Moment
) -> tuple[list[Json], int]:
    """Returns the lines since a time (0 = all of them), none before the offset `start`, and the
    offset after the last complete one."""
    objects: list[Json] = []
    end = size
    for number, line in enumerate(_lines_backwards(file, start, size)):
        if number > MAX_LINES:
            break
        raw = parse(line)
        if number == 0 and raw is None:
            end = size - len(line)
        if raw is None:
            continue
        if since and 0 < moment(raw) < since:
            break
        objects.append(raw)
    return objects[::-1], end


def _lines_backwards(file: BinaryIO, start: int, position: int) -> Iterator[bytes]:
    """Yields the lines between `start` and `position`, the last first. Reads larger chunks as long
    as a line is longer than one."""
    rest = b""
    while position > start:
        size = min(max(_CHUNK, len(rest)), position - start)
        position -= size
        file.seek(position)
        rest, *lines = (file.read(size) + rest).split(b"\n")
        yield from reversed(lines)
    yield rest
