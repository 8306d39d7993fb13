"""Keeps the history short without losing a line: what is over moves to an archive.

The archive is written first, so that a killed process leaves a loop in both files, never in none.
"""

from __future__ import annotations

import os

from sisyphus.errors import UnreadableError
from sisyphus.reading import open_regular, read_bytes
from sisyphus.state import debug
from sisyphus.state.files import Staged
from sisyphus.state.jsonl import parse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

    Key = str | int

LOG_BYTES = 512_000_000
"""A larger log is left as it is."""


def rotate(path: str, archive: str, living: Collection[str], room: int) -> None:
    """Leaves about `room` bytes in `path`; the caller holds its lock.

    `living`: the ids of loops that have not ended; they stay. Raises `UnreadableError`, `OSError`.
    """
    going, staying = divide(read_bytes(path, LOG_BYTES), living, room)
    if going:
        append(archive, going)
        Staged(path, staying).commit()


def divide(data: bytes, living: Collection[str], room: int) -> tuple[bytes, bytes]:
    """The lines that go and those that stay, both in their order.

    Loops go whole, what ended longest ago first; a line that belongs to no loop goes by itself.
    """
    lines = [line for line in data.split(b"\n") if line]
    keys: list[Key] = [_loop_id(line) or number for number, line in enumerate(lines)]
    sizes: dict[Key, int] = {}
    for key, line in zip(keys, lines, strict=True):
        sizes[key] = sizes.pop(key, 0) + len(line) + 1  # as late as its last line
    going = _oldest(sizes, living, sum(sizes.values()) - room)
    parts: tuple[list[bytes], list[bytes]] = ([], [])
    for key, line in zip(keys, lines, strict=True):
        parts[key not in going].append(line + b"\n")
    return b"".join(parts[0]), b"".join(parts[1])


def append(path: str, data: bytes) -> None:
    """Appends whole lines; what a killed writer left of one becomes a line of its own first."""
    fd = os.open(path, debug.APPEND, 0o600)
    with os.fdopen(fd, "wb") as file:
        file.write(b"" if ends_with_line(path) else b"\n")
        file.write(data)


def ends_with_line(path: str) -> bool:
    """Whether the next line may follow at once; an empty or absent file is in nobody's way."""
    try:
        with open_regular(path) as file:
            file.seek(-1, os.SEEK_END)
            return file.read(1) == b"\n"
    except (UnreadableError, OSError):
        return True


def _oldest(sizes: dict[Key, int], living: Collection[str], surplus: int) -> set[Key]:
    going: set[Key] = set()
    for key, size in sizes.items():
        if surplus <= 0:
            break
        if key not in living:
            going.add(key)
            surplus -= size
    return going


def _loop_id(line: bytes) -> str:
    value = parse(line) or {}
    loop_id = value.get("loop_id")
    return loop_id if isinstance(loop_id, str) else ""
