"""The ends of the client's transcripts, for people: what it wrote there of late."""

from __future__ import annotations

import os

from sisyphus.errors import UnreadableError
from sisyphus.reading import open_regular

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

NEWEST = 5
TAIL_BYTES = 256_000

_END = ".jsonl"
_GOAL = b"<command-name>/goal</command-name>"
_MOST_FOLDERS, _MOST_FILES = 1_000, 20_000


def with_goal(home: str) -> Iterator[str]:
    """The sessions of late in which somebody typed `/goal`."""
    for path in newest(home):
        if has_goal(path):
            yield os.path.basename(path).removesuffix(_END)


def has_goal(path: str) -> bool:
    """Whether somebody typed `/goal` of late in the session whose transcript that is."""
    return _GOAL in tail(path)


def newest(home: str) -> list[str]:
    """The few transcripts in the client's folder that were written last, of all projects."""
    found: list[tuple[float, str]] = []
    for folder in _entries(os.path.join(home, "projects"))[:_MOST_FOLDERS]:
        if len(found) < _MOST_FILES and folder.is_dir():
            found += filter(None, map(_written, _entries(folder.path)))
    return [path for _, path in sorted(found, reverse=True)[:NEWEST]]


def tail(path: str) -> bytes:
    """The end of a regular file; b"" where it cannot be read."""
    try:
        with open_regular(path) as file:
            file.seek(max(os.fstat(file.fileno()).st_size - TAIL_BYTES, 0))
            return file.read(TAIL_BYTES)
    except (UnreadableError, OSError):
        return b""


def _written(entry: os.DirEntry[str]) -> tuple[float, str] | None:
    """When a transcript was written last, and its path; None = it is none, or gone meanwhile."""
    try:
        if entry.name.endswith(_END) and entry.is_file():
            return entry.stat().st_mtime, entry.path
    except OSError:
        return None
    return None


def _entries(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as found:
            return list(found)
    except OSError:
        return []
