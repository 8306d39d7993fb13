"""Which files of a project changed since a moment."""

from __future__ import annotations

import os

from sisyphus import work_tree

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def changed(root: str, since: float, edited: Sequence[str]) -> list[str]:
    """Names relative to `root`, with forward slashes, of what changed after `since`.

    `since` is in epoch seconds, 0 = nobody knows. First those of the full paths `edited` that lie
    in the project, whether they are still there or not, then what is seen of its files. Raises
    nothing: what cannot be told is left out, and logged.
    """
    top = os.path.realpath(root) if root else ""
    names = {name for path in edited if (name := _below(path, top))}
    first = sorted(name for name in names if work_tree.is_work(top, name))
    found = work_tree.changes(root, since)[0] if since > 0 else []
    return list(dict.fromkeys([*first, *found]))


def _below(path: str, top: str) -> str:
    """The name of a full path in the project, however it is spelled; "" outside it."""
    if not os.path.isabs(path) or "\0" in path:
        return ""
    folder, name = os.path.split(os.path.normpath(path))
    full = os.path.join(os.path.realpath(folder), name)
    prefix = os.path.join(top, "")
    return full.removeprefix(prefix).replace(os.sep, "/") if full.startswith(prefix) else ""
