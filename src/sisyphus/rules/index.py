"""The compiled rules of a project on disk, so that a hook needs neither YAML nor pathspec.

`cache/rules-PROJECT.jsonl`: its first line holds everything that decides, the lines after it the
rules' texts, of which a hook reads those that it sends. It is made anew when a rule file, an
included file, a folder that holds them or a settings file of the client has changed; where it
cannot be written it is made for each hook.
"""

from __future__ import annotations

import json
import os
import time

from sisyphus import __version__
from sisyphus.errors import LockedError, UnreadableError
from sisyphus.paths import project_id
from sisyphus.reading import open_regular
from sisyphus.state.files import Staged, ensure_folder
from sisyphus.state.lock import Lock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from io import BufferedReader
    from typing import TypedDict

    from sisyphus.rules.globs import Compiled
    from sisyphus.workspace import Workspace

    class Entry(TypedDict):
        """One rule that can be sent. `patterns` None = every file; `native`: for which of these
        Claude Code sends it by itself, None = for all; `at`, `size`: where its text stands after
        the first line, in bytes."""

        label: str
        path: str
        source: int
        native: list[Compiled] | None
        patterns: list[Compiled] | None
        hash: str
        at: int
        size: int

    class Head(TypedDict):
        """The first line. `made`, `newest`: when the files were read and when the newest of them
        had changed, in epoch nanoseconds; `problems`: label, line and text of each."""

        version: int
        made_by: str
        root: str
        home: str
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

    def __init__(self, head: Head, file: BufferedReader | None, bodies: bytes = b"") -> None:
        self.rules = head["rules"]
        self.problems = [] if file else [(label, text) for label, _, text in head["problems"]]
        self._file = file
        self._start = file.tell() if file else 0
        self._bodies = bodies

    def __enter__(self) -> Index:
        return self

    def __exit__(self, *raised: object) -> None:
        if self._file:
            self._file.close()

    def body(self, entry: Entry) -> str:
        start, size = entry["at"], entry["size"]
        if self._file is None:
            return str(json.loads(self._bodies[start : start + size]))
        self._file.seek(self._start + start)
        return str(json.loads(self._file.read(size)))


def index_path(space: Workspace) -> str:
    return os.path.join(space.ours, "cache", f"rules-{project_id(space.root)}.jsonl")


def current(space: Workspace) -> Index:
    """The index as the files are now: from the disk, if it is up to date there."""
    path = index_path(space)
    return _stored(path, space) or _renewed(path, space)


def stamp(path: str) -> list[int]:
    """What changes whenever the file or folder does; [] where there is none.

    The later of content and status time: a new owner or a put-back content time counts too.
    """
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return []
    return [max(found.st_mtime_ns, found.st_ctime_ns), found.st_size]


def _stored(path: str, space: Workspace) -> Index | None:
    try:
        file = open_regular(path)
    except UnreadableError:
        return None
    try:
        head = json.loads(file.readline())
        if _is_ours(head, space) and _is_fresh(head):
            return Index(head, file)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        space.log(f"rules: {path} is not understood and made anew")
    file.close()
    return None


def _is_ours(head: Head, space: Workspace) -> bool:
    return [head["made_by"], head["root"], head["home"]] == [MAKER, space.root, space.home]


def _is_fresh(head: Head) -> bool:
    if head["made"] < head["newest"] + _SETTLE_NS <= time.time_ns():
        return False
    return all(stamp(path) == known for path, known in head["stamps"].items())


def _renewed(path: str, space: Workspace) -> Index:
    """Made by one process at a time: what one of many parallel hooks made serves the others."""
    try:
        ensure_folder(os.path.dirname(path))
        with Lock(path):
            return _stored(path, space) or _built(space, path)
    except (OSError, LockedError) as error:
        space.log(f"rules: the index is not kept: {error}")
        return _built(space)


def _built(space: Workspace, path: str = "") -> Index:
    from sisyphus.rules.build import build

    head, bodies = build(space.root, space.home)
    if path:
        Staged(path, json.dumps(head).encode() + b"\n" + bodies).commit()
    for label, line, text in head["problems"]:
        space.log(f"rules: {label}{f':{line}' if line else ''}: {text}")
    return Index(head, None, bodies)
