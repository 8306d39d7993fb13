"""Signs that a loop gets somewhere: a commit, an edit, a change of the work tree.

`loop.signs` holds what the last look saw: `head` (commit), `names` (hash of the files' names, ""
where they were not looked at), `at` (epoch seconds), and the plan with its tasks that were done.
"""

from __future__ import annotations

import os

from sisyphus.git import head
from sisyphus.times import epoch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from sisyphus.ralph.loop import Loop
    from sisyphus.workspace import Workspace


_MOMENTS = 1e12  # epoch seconds; what lies beyond is no time


def begin(loop: Loop, space: Workspace) -> None:
    """Notes how things are as the loop begins."""
    from sisyphus import work_tree

    names = work_tree.look(loop.project, space.now, "", _aside(space)).names
    loop.signs = {"head": head(loop.project), "names": names, "at": space.now}


def show(loop: Loop, edits: Sequence[str], space: Workspace) -> bool:
    """Whether a commit or an edit shows progress since the last look.

    Then it is not known any more which files and tasks there were.
    """
    before, now = loop.signs.get("head"), head(loop.project)
    is_commit = isinstance(before, str) and before != now
    if not is_commit and not any(_counts(path, loop.project, space) for path in edits):
        return False
    loop.signs = {**loop.signs, "head": now, "names": "", "done": None, "at": space.now}
    return True


def search(loop: Loop, space: Workspace) -> bool | None:
    """Whether the work tree changed since the last look; None = cannot tell."""
    from sisyphus import work_tree

    names = loop.signs.get("names")
    known = names if isinstance(names, str) else ""
    found = work_tree.look(loop.project, _since(loop), known, _aside(space))
    loop.signs = {**loop.signs, "head": head(loop.project), "names": found.names, "at": space.now}
    return found.changed


def _since(loop: Loop) -> float:
    at = loop.signs.get("at")
    if isinstance(at, (int, float)) and 0 <= at < _MOMENTS:
        return at
    return epoch(loop.started_at)


def _counts(path: str, root: str, space: Workspace) -> bool:
    """Whether an edit of this file is work on the project."""
    from sisyphus.work_tree import OWN_FILES

    full = os.path.normpath(os.path.join(root, path))
    if not _is_below(full, root) or (_is_below(space.home, root) and _is_below(full, space.home)):
        return False
    return not full.startswith(tuple(os.path.join(root, name) for name in OWN_FILES))


def _is_below(path: str, folder: str) -> bool:
    return path.startswith(folder.rstrip(os.sep) + os.sep)


def _aside(space: Workspace) -> tuple[str, ...]:
    """The client's own folder may lie in the project, and its files change by themselves."""
    return (space.home,)
