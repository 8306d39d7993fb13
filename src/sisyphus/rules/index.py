"""The compiled rules of a project in the memory, so that a hook needs neither YAML nor pathspec.

`head` holds everything that decides, `bodies` the rules' texts, of which a hook reads those that it
sends. Both are made anew when a rule file, an included file, a folder that holds them or a settings
file of the client has changed; where the memory is off they are made for each hook.
"""

from __future__ import annotations

import os
import time

from sisyphus import __version__
from sisyphus.quick_json import dumps, loads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypedDict

    from sisyphus.rules.globs import Compiled
    from sisyphus.workspace import Workspace

    class Entry(TypedDict):
        """One rule that can be sent. `patterns` None = every file; `native`: for which of these
        Claude Code sends it by itself, None = for all; `at`, `size`: where its text stands in
        `bodies`, in bytes."""

        label: str
        path: str
        source: int
        native: list[Compiled] | None
        patterns: list[Compiled] | None
        hash: str
        at: int
        size: int

    class Head(TypedDict):
        """What decides. `made`, `newest`: when the files were read and when the newest of them
        had changed, in epoch nanoseconds; `problems`: label, line and text of each."""

        made: int
        newest: int
        stamps: dict[str, list[int]]
        problems: list[tuple[str, int, str]]
        rules: list[Entry]


VERSION = 2
MAKER = f"{__version__}/{VERSION}"
"""Another version of ours may compile another way, so its index is not used."""

_SETTLE_NS = 10_000_000  # two edits within one tick of a file system's clock look alike


class Index:
    """The rules that can be sent, in the order in which they go out. `problems`: label and text of
    what was found wrong with the others, where the index was made just now."""

    def __init__(self, head: Head, bodies: bytes, *, is_new: bool) -> None:
        self.rules = head["rules"]
        self.problems = [(label, text) for label, _, text in head["problems"]] if is_new else []
        self._bodies = bodies

    def body(self, entry: Entry) -> str:
        start, size = entry["at"], entry["size"]
        return str(loads(self._bodies[start : start + size]))


def current(space: Workspace) -> Index:
    """The index as the files are now: from the memory, if it is up to date there."""
    row = space.memory.row(
        "SELECT head, bodies FROM rule_index WHERE project = ? AND home = ? AND made_by = ?",
        space.root, space.home, MAKER,
    )  # fmt: skip
    head: Head | None = loads(row[0]) if row else None
    if row and head and _is_fresh(head):
        return Index(head, row[1], is_new=False)
    return _built(space)


def stamp(path: str) -> list[int]:
    """What changes whenever the file or folder does; [] where there is none.

    The later of content and status time: a new owner or a put-back content time counts too.
    """
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return []
    return [max(found.st_mtime_ns, found.st_ctime_ns), found.st_size]


def _is_fresh(head: Head) -> bool:
    if head["made"] < head["newest"] + _SETTLE_NS <= time.time_ns():
        return False
    return all(stamp(path) == known for path, known in head["stamps"].items())


def _built(space: Workspace) -> Index:
    from sisyphus.rules.build import build

    head, bodies = build(space.root, space.home)
    if not space.memory.problem:
        space.memory.write(
            "INSERT OR REPLACE INTO rule_index (project, home, made_by, made, head, bodies) "
            "VALUES (?, ?, ?, ?, ?, ?)",
            space.root, space.home, MAKER, head["made"], dumps(head), bodies,
        )  # fmt: skip
    for label, line, text in head["problems"]:
        space.log(f"rules: {label}{f':{line}' if line else ''}: {text}")
    return Index(head, bodies, is_new=True)
