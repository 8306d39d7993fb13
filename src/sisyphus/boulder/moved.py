"""Where plan files went that are gone from their places."""

from __future__ import annotations

import os
from binascii import crc32
from itertools import islice

from sisyphus.boulder.discover import MAX_ENTRIES
from sisyphus.errors import UnreadableError
from sisyphus.reading import PLAN_BYTES, read_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container, Iterator

    from sisyphus.workspace import Workspace

WALK_ENTRIES = 20_000
"""Files and folders that one search meets: a twentieth of a second."""

MOST_READ = 200
"""Files that one search opens; it reads no more than the longest plan in all."""

_PASSED_OVER = frozenset(("__pycache__", "build", "dist", "node_modules", "target", "venv"))
"""Folders of what is made from the work; hidden ones are passed over as well."""


class Search:
    """Of a project, for the plans of one hook: its files are walked once, as far as is asked.

    Links, the client's own folder and projects within this one are passed over.
    """

    __slots__ = ("_bytes", "_crcs", "_files", "_met", "_root")

    def __init__(self, space: Workspace, root: str) -> None:
        self._root = root
        self._files = _files(root, space.home)
        self._met: dict[int, list[str]] = {}  # paths by the sizes of the files
        self._crcs: dict[str, int] = {}  # of the files that were read
        self._bytes = 0  # of them

    def find(self, crc: int, size: int, known: Container[str]) -> str:
        """The path of the `.md` file that says what a plan said; "" for none.

        `crc` is that of its text (`Look.crc`), `size` that of its file in bytes; `known` are the
        paths of other plans. Of several such files it is the one nearest to the root, the first
        by name.
        """
        if not 0 < size <= PLAN_BYTES:
            return ""
        alike = (path for path in self._of_size(size) if path not in known)
        return next((path for path in alike if self._crc(path, size) == crc), "")

    def _of_size(self, size: int) -> Iterator[str]:
        yield from self._met.get(size, ())
        for entry in self._files:
            if entry.name.endswith(".md"):
                found = _size(entry)
                self._met.setdefault(found, []).append(entry.path)
                if found == size:
                    yield entry.path

    def _crc(self, path: str, size: int) -> int:
        """-1 for a file that this search does not read any more."""
        if path not in self._crcs:
            if len(self._crcs) >= MOST_READ or self._bytes + size > PLAN_BYTES:
                return -1
            self._bytes += size
            self._crcs[path] = _crc(path, self._root)
        return self._crcs[path]


def _files(root: str, home: str) -> Iterator[os.DirEntry[str]]:
    """The files of the project that are not hidden, those of upper folders first."""
    left, clients = WALK_ENTRIES, os.path.realpath(home)
    waiting = [root]
    for folder in waiting:
        entries = _entries(folder, min(left, MAX_ENTRIES))
        left -= len(entries)
        for entry in entries:
            kind = _kind(entry)
            if kind == "file" and entry.name[0] != ".":
                yield entry
            elif kind == "folder" and entry.path != clients and _is_of_the_work(entry):
                waiting.append(entry.path)


def _entries(folder: str, most: int) -> list[os.DirEntry[str]]:
    """The first `most` of a folder, by name."""
    if not most:
        return []
    try:
        with os.scandir(folder) as found:
            return sorted(islice(found, most), key=lambda entry: entry.name)
    except (OSError, ValueError):
        return []


def _kind(entry: os.DirEntry[str]) -> str:
    try:
        if entry.is_dir(follow_symlinks=False):
            return "folder"
        return "file" if entry.is_file(follow_symlinks=False) else ""
    except OSError:
        return ""


def _is_of_the_work(folder: os.DirEntry[str]) -> bool:
    if folder.name in _PASSED_OVER or (folder.name[0] == "." and folder.name != ".claude"):
        return False
    return not os.path.lexists(os.path.join(folder.path, ".git"))


def _size(entry: os.DirEntry[str]) -> int:
    try:
        return entry.stat(follow_symlinks=False).st_size
    except OSError:
        return -1


def _crc(path: str, root: str) -> int:
    """The checksum of a text as a look at a plan takes it; -1 where it cannot be read."""
    try:
        return crc32(read_text(path, PLAN_BYTES, inside=root).encode())
    except UnreadableError:
        return -1
