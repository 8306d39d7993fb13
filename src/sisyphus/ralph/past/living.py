"""The loops that have a state file, of every session: those that have not ended."""

from __future__ import annotations

import os

from sisyphus.errors import UnreadableError
from sisyphus.ralph import statefile, store
from sisyphus.reading import read_bytes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus.ralph.loop import Loop

_ENDS = (".local.md", ".outer.md")


def living(ours: str) -> list[tuple[Loop, str]]:
    """Each with the path of its file; what holds no loop is left out."""
    found = []
    for name in _names(ours):
        path = os.path.join(store.folder(ours), name)
        try:
            text = read_bytes(path, store.LOOP_BYTES).decode("utf-8", "surrogatepass")
            loop = statefile.parse(text)
        except (UnreadableError, ValueError):
            continue  # the next Stop of its session sets it aside and says so
        if name.startswith(f"ralph-loop.{loop.session_id}."):
            found.append((loop, path))
    return found


def _names(ours: str) -> list[str]:
    try:
        names = os.listdir(store.folder(ours))
    except OSError:
        return []
    return sorted(n for n in names if n.startswith("ralph-loop.") and n.endswith(_ENDS))
