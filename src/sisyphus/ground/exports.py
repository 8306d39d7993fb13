"""Writes files for other programs: whole, from the rows, after the commit.

The rows are read under the write lock: if two hooks write a file at the same time, the later one
has the newer rows.
"""

from __future__ import annotations

import os
import stat

from sisyphus.ground import files, log, quick_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from sisyphus.ground.store import Store


def write(store: Store, path: str, content: Callable[[], object]) -> None:
    """Replaces the file at `path` with `content()` as JSON. Raises `OSError`."""
    with store.write():
        replace(path, as_json(content()))


def as_json(value: object) -> bytes:
    """Returns a value as the JSON of a file; half a surrogate pair becomes "?"."""
    return quick_json.pretty(value).encode("utf-8", "replace") + b"\n"


def replace(path: str, data: bytes, *, is_shared: bool = False) -> None:
    """Writes a file whole, or not at all. Raises `OSError`.

    is_shared: others use it too, so it keeps its mode; a new one can be read by all.
    """
    files.make_folder(os.path.dirname(path))
    is_old = is_shared and os.path.exists(path)
    new_mode = 0o644 if is_shared else 0o600
    files.replace(path, data, stat.S_IMODE(os.stat(path).st_mode) if is_old else new_mode)


def run(exports: Iterable[Callable[[], None]]) -> None:
    """Runs each export. If one fails it is logged, and the others still run: the hook or command
    has done its work."""
    for export in exports:
        try:
            export()
        except Exception as error:
            log.failure("export", error)
