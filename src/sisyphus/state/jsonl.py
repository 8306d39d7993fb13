"""Files of JSON lines, read for people: whatever is no object is passed over."""

from __future__ import annotations

import json
import os

from sisyphus.errors import UnreadableError
from sisyphus.reading import open_regular

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from io import BufferedReader

    from sisyphus._types import Json

MOST_BYTES = 256_000_000
"""Of a longer file the end is read: a few seconds' worth."""

TAIL_BYTES = 64_000_000
LINE_BYTES = 4_000_000
"""What one line may be long where many files are read: the longest of ours has some kilobytes."""

_BLOCK = 65_536


def parse(line: bytes) -> Json | None:
    """The object that a line holds; half surrogate pairs, which UTF-8 cannot spell, become `?`."""
    try:
        value = json.loads(line)
        if b"\\ud" in line or b"\\uD" in line:
            value = json.loads(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def read(path: str, limit: int = MOST_BYTES) -> Iterator[Json]:
    """The objects in `path`, oldest first; a file that is absent or unreadable has none."""
    try:
        with open_regular(path) as file:
            start = max(os.fstat(file.fileno()).st_size - limit, 0)
            if start:
                file.seek(start - 1)
                file.readline()  # the rest of the line that the jump cut
            for line in file:
                value = parse(line)
                if value is not None:
                    yield value
    except (UnreadableError, OSError):
        return


def complete(file: BufferedReader, most: int = LINE_BYTES) -> Iterator[tuple[bytes, int]]:
    """The complete lines of an open file, each with its length; b"" for one longer than `most`."""
    while line := file.readline(most):
        end, size = line, len(line)
        while not end.endswith(b"\n"):
            end = file.readline(_BLOCK)
            if not end:
                return  # it is being written
            size += len(end)
        yield (line if size == len(line) else b""), size


def backwards(path: str, end: int, limit: int = TAIL_BYTES) -> Iterator[bytes]:
    """The lines before byte `end`, the last one first; before them what follows its line end.

    No more is read than asked for, in blocks that double, so that one huge line costs no more
    than its size. Raises `UnreadableError` and `OSError`.
    """
    with open_regular(path) as file:
        floor, position, size, rest = max(end - limit, 0), end, _BLOCK, b""
        while position > floor:
            step = min(size, position - floor)
            position, size = position - step, size * 2
            file.seek(position)
            rest, *lines = (file.read(step) + rest).split(b"\n")
            yield from reversed(lines)
        if not floor:
            yield rest


def appended(path: str, offset: int) -> tuple[list[Json], int]:
    """The objects in the complete lines behind byte `offset`, and where those lines end.

    A file that is shorter than `offset` is another one and is read from its start.
    """
    try:
        with open_regular(path) as file:
            start = offset if offset <= os.fstat(file.fileno()).st_size else 0
            file.seek(start)
            data, newline, _ = file.read(TAIL_BYTES).rpartition(b"\n")
    except (UnreadableError, OSError):
        return [], offset
    found = [value for value in map(parse, data.split(b"\n")) if value is not None]
    return found, start + len(data) + len(newline)
