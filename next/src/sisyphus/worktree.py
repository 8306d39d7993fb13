"""Which files of a project have changed since a time, by their times: nothing is remembered."""

from __future__ import annotations

import os
from itertools import islice

from sisyphus import files, git

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

HANDOFFS = os.path.join(".claude", "handoffs")
"""The folder of a project in which we write ourselves."""

_MAX_FILES = 20_000
_SKIPPED_FOLDERS = {".git", "node_modules", ".venv", "venv", "__pycache__"}


def changed(project: str, since: float, now: float) -> Iterator[str]:
    """Yields the absolute paths of the files that changed after `since`, deleted ones too, but not
    our own. A time in the future does not count, or it would count for ever."""
    paths = git.known_paths(project)
    if paths is None:
        paths = list(islice(files.walk(project, _SKIPPED_FOLDERS), _MAX_FILES))
    ours = os.path.join(project, HANDOFFS)
    return (p for p in paths if since < changed_at(p) <= now and not p.startswith(ours))


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
