"""The files of a folder that is no work tree of git, as far as a budget goes."""

from __future__ import annotations

import os
import stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from sisyphus.ralph.tree.bounds import Budget

PASSED_OVER = frozenset(
    (
        b".cache", b".git", b".gradle", b".hg", b".mypy_cache", b".next", b".nox", b".nuxt",
        b".pytest_cache", b".ruff_cache", b".svn", b".tox", b".venv", b"__pycache__", b"build",
        b"coverage", b"dist", b"node_modules", b"target", b"venv",
    )
)  # fmt: skip
"""Folders of what is made from the work, not of the work itself."""


def walk(folder: str, budget: Budget) -> Iterator[tuple[bytes, int]]:
    """The name below `folder`, with forward slashes, and the last change of each file.

    Links are not followed; what cannot be looked at is passed over. Raises `TooMuchError`.
    """
    top = os.path.join(os.fsencode(folder), b"")
    waiting = [b""]
    while waiting:
        inner = waiting.pop()
        for entry in _entries(top + inner):
            budget.spend()
            found = _stat(entry)
            if found is None:
                continue
            if not stat.S_ISDIR(found.st_mode):
                yield inner + entry.name, changed_at(found)
            elif entry.name not in PASSED_OVER:
                waiting.append(inner + entry.name + b"/")


def changed_at(found: os.stat_result) -> int:
    """When a file was last changed, in nanoseconds since the epoch.

    `st_mtime` can be set to any time by anybody, `st_ctime` by the kernel alone; on Windows the
    latter is when the file was made.
    """
    return found.st_mtime_ns if os.name == "nt" else found.st_ctime_ns


def _entries(folder: bytes) -> list[os.DirEntry[bytes]]:
    try:
        with os.scandir(folder) as found:
            return list(found)
    except OSError:
        return []


def _stat(entry: os.DirEntry[bytes]) -> os.stat_result | None:
    try:
        return entry.stat(follow_symlinks=False)
    except OSError:
        return None
