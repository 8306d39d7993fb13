"""What lies where a file of ours lies or may lie."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass

from sisyphus import __version__
from sisyphus.errors import UnreadableError
from sisyphus.install import marks
from sisyphus.reading import DOCUMENT_BYTES, read_bytes

ABSENT = "absent"
OURS = "ours"  # as we wrote it, line ends aside
EDITED = "edited"
NEWER = "newer"
FOREIGN = "foreign"
SHARED = "shared"  # somebody else's, and we edit our part of it

TEMPORARY = ".sisyphus-tmp"
"""Ends the name of a file that waits to be renamed; what is left of a run that was killed."""


_MOST_FILES = 1_000  # of a kind in a folder, which may be a stranger's


@dataclass(frozen=True)
class Found:
    kind: str
    why: str = ""
    data: bytes = b""
    mode: int = 0


def look(path: str) -> Found:
    """What is at `path`, without following a link; raises `OSError` where that cannot be seen."""
    try:
        info = os.lstat(path)
    except FileNotFoundError:
        return Found(ABSENT)
    if not stat.S_ISREG(info.st_mode):
        kind = "a link" if stat.S_ISLNK(info.st_mode) else "no file"
        return Found(FOREIGN, f"it is {kind}, not written by sisyphus")
    try:
        data = read_bytes(path, DOCUMENT_BYTES)
    except UnreadableError as error:
        return Found(FOREIGN, str(error).removeprefix(f"{path}: "))
    return _judged(data, stat.S_IMODE(info.st_mode))


def _judged(data: bytes, mode: int) -> Found:
    mark = marks.read(data)
    if mark is None:
        return Found(FOREIGN, "not written by sisyphus")
    if not mark.intact:
        return Found(EDITED, "changed since sisyphus wrote it", data, mode)
    if marks.is_newer(mark.version, __version__):
        return Found(
            NEWER, f"written by sisyphus {mark.version}; this is {__version__}", data, mode
        )
    return Found(OURS, "", data, mode)


def of_ours(folders: list[str], suffix: str) -> dict[str, Found]:
    """Path -> what it is, for every file in these folders that carries our mark."""
    looked = {path: look(path) for path in files(folders, suffix)}
    return {path: one for path, one in looked.items() if one.kind in (OURS, EDITED, NEWER)}


def files(folders: list[str], suffix: str) -> list[str]:
    """The paths in these folders that end in `suffix`, in order; of a folder 1,000 at most."""
    paths = []
    for folder in folders:
        names = sorted(name for name in os.listdir(folder) if name.endswith(suffix))
        paths += [os.path.join(folder, name) for name in names[:_MOST_FILES]]
    return paths
