"""The loops that have a state file, of every session: those that have not ended."""

from __future__ import annotations

import os

from sisyphus.ralph import store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sisyphus._types import Owner
    from sisyphus.ralph.loop import Loop

_ENDS = (".local.md", ".outer.md")


def living(ours: str) -> list[tuple[Loop, str]]:
    """Each with the path of its file; what holds no loop is left out."""
    found = []
    for name in _names(ours):
        path = os.path.join(store.folder(ours), name)
        loop = store.peek(path)  # None: the next Stop of its session sets it aside and says so
        if loop and name.startswith(f"ralph-loop.{loop.session_id}."):
            found.append((loop, path))
    return found


def needed(ours: str) -> Iterator[Owner]:
    """What has not ended; every loop for as long as one of the files cannot be read."""
    names, found = _names(ours), living(ours)
    for name in names:
        session = name.removeprefix("ralph-loop.")
        is_outer = session.endswith(_ENDS[1])
        session = session[: -len(_ENDS[is_outer])]
        yield "session", session.rpartition(".")[0] if is_outer else session
    yield from (("loop", loop.loop_id) for loop, _ in found)
    if len(found) < len(names):
        yield "loop", "*"


def unreadable(ours: str, found: Iterable[tuple[Loop, str]]) -> list[str]:
    """The names of the files beside those of `found`: each may hold a loop all the same."""
    known = {os.path.basename(path) for _, path in found}
    return [name for name in _names(ours) if name not in known]


def _names(ours: str) -> list[str]:
    try:
        names = os.listdir(store.folder(ours))
    except OSError:
        return []
    return sorted(n for n in names if n.startswith("ralph-loop.") and n.endswith(_ENDS))
