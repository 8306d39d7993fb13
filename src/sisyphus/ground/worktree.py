"""Which files of a project have changed since a time, by their times: nothing is remembered."""

from __future__ import annotations

import os
from itertools import islice

from sisyphus.ground import files, git

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

HANDOFFS = os.path.join(".claude", "handoffs")
PROMPT = os.path.join(".claude", "PROMPT.md")
STATE = os.path.join(".claude", "ralph-state.json")
PROGRESS = os.path.join(".claude", "progress.txt")
_OURS = (PROMPT, STATE, PROGRESS)
"""What we write into a project ourselves, besides handoffs: the files of a run."""

_CACHES = ("__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".hypothesis", ".tox")
"""Folders into which tests and linters write at each run."""

_MAX_FILES = 20_000


def changed(project: str, since: float, now: float) -> Iterator[str]:
    """Yields the absolute paths of the files that changed after `since`, deleted ones too, but not
    our own. A time in the future does not count, or it would count for ever."""
    paths = git.known_paths(project)
    if paths is None:
        paths = list(islice(files.walk(project, git.SKIPPED_FOLDERS), _MAX_FILES))
    fresh = (path for path in paths if since < changed_at(path) <= now)
    return (path for path in fresh if not (is_ours(path, project) or _is_cache(path)))


def _is_cache(path: str) -> bool:
    """Tells whether a tool has made a file by itself, where nobody tells git to ignore it."""
    return any(f"{os.sep}{name}{os.sep}" in path for name in _CACHES)


def last_change(project: str, now: float, apart: Collection[str] = ()) -> float:
    """Returns when a file of a project changed last, in seconds since 1970; 0 = there is none.
    apart: absolute paths of files that do not count. Their folders tell no time of a file that is
    gone: who saves a file anew changes its folder."""
    folders = {os.path.dirname(path) for path in apart}
    found = (path for path in changed(project, 0.0, now) if path not in apart)
    times = (
        changed_at(path)
        for path in found
        if os.path.dirname(path) not in folders or os.path.lexists(path)
    )
    return max(times, default=0.0)


def is_ours(path: str, project: str) -> bool:
    """Tells whether we write a file of a project ourselves. path: absolute."""
    name = path[len(project) + 1 :]
    return name in _OURS or name.startswith(HANDOFFS + os.sep)


def own_paths(project: str) -> list[str]:
    """Returns the paths of the files and folders that we write into a project."""
    return [os.path.join(project, name) for name in (*_OURS, HANDOFFS)]


def changed_at(path: str) -> float:
    """Returns when a file was written or, if it is gone, when its nearest folder changed."""
    while True:
        try:
            return os.lstat(path).st_mtime
        except OSError:
            parent = os.path.dirname(path)
            if parent == path:
                return 0.0
            path = parent
