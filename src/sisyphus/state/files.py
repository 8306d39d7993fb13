"""State files: one JSON object each, written whole or not at all, read as if by a stranger.

A writer holds the file's lock, writes `NAME.tmp` (a killed writer's leftover is overwritten) and
renames it. Fields that this version does not know stay. What cannot be read is set aside as
`NAME.corrupt-TIMESTAMP`, never deleted and never obeyed.
"""

from __future__ import annotations

import os
import time

from sisyphus.errors import NewerVersionError, UnreadableError
from sisyphus.quick_json import dumps, loads
from sisyphus.reading import read_bytes
from sisyphus.state import debug

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from sisyphus._types import Json

STATE_BYTES = 32_000_000


def read_json(path: str) -> Json | None:
    """The object in `path`; None where it is absent or unreadable. Needs no lock."""
    try:
        value = loads(read_bytes(path, STATE_BYTES))
    except (UnreadableError, ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def load_json(path: str) -> Json:
    """`read_json` for a holder of the lock: what is unreadable is set aside, and {} comes back."""
    value = read_json(path)
    if value is None and os.path.lexists(path):
        set_aside(path)
    return value or {}


def set_aside(path: str) -> None:
    """Moves an unreadable file out of the way, keeping it for whoever wants to look."""
    kept = f"{path}.corrupt-{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}"
    while os.path.lexists(kept):
        kept += "x"
    os.rename(path, kept)
    debug.log(f"set aside unreadable state: {kept}")


def update_json(
    path: str,
    change: Callable[[Json], Json | None],
    *,
    version: int | None = 1,
    indent: int | None = None,
) -> Json:
    """Read, change and write under the lock; returns what the file holds afterwards.

    `change` gets the object ({} where there is none) and returns the new one, or None to leave
    the file alone. `version` None: the file's shape is somebody else's and carries no version.
    Raises `NewerVersionError` where a newer version would be overwritten, and `OSError`.
    """
    from sisyphus.state.lock import Lock

    ensure_folder(os.path.dirname(path))
    with Lock(path):
        found = load_json(path)
        changed = change(found)
        if changed is None:
            return found
        check_version(path, found, version)
        write_json(path, changed, version=version, indent=indent)
        return changed


def write_json(
    path: str, value: Json, *, version: int | None = 1, indent: int | None = None
) -> None:
    """Writes the whole object; the caller holds the lock."""
    stage_json(path, value, version=version, indent=indent).commit()


def stage_json(
    path: str, value: Json, *, version: int | None = 1, indent: int | None = None
) -> Staged:
    """Everything that can fail for want of space or rights, done ahead of the decisive rename."""
    check_version(path, value, version)
    if version is not None:
        value = {**value, "version": version}
    return Staged(path, (_spelled(value, indent) + "\n").encode())


def _spelled(value: Json, indent: int | None) -> str:
    if indent is None:
        return dumps(value)
    import json

    return json.dumps(value, indent=indent)


def check_version(path: str, found: Json, version: int | None = 1) -> None:
    """Raises `NewerVersionError` where `found` is of a later version than `version`."""
    theirs = found.get("version")
    if version is not None and isinstance(theirs, int) and theirs > version:
        raise NewerVersionError(f"{path} was written by a newer sisyphus; upgrade to change it")


class Staged:
    """Bytes that wait beside their target for `commit`."""

    __slots__ = ("_path", "_temporary")

    def __init__(self, path: str, data: bytes | bytearray) -> None:
        self._path = path
        self._temporary = path + ".tmp"
        if os.path.lexists(self._temporary):  # a killed writer's, or a link to lead us astray
            os.unlink(self._temporary)
        fd = os.open(self._temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(fd, "wb") as file:
            file.write(data)

    def dress(self, mode: int, mtime_ns: int) -> None:
        """Gives the file its rights and its time before anybody sees it."""
        os.chmod(self._temporary, mode)
        os.utime(self._temporary, ns=(mtime_ns, mtime_ns))

    def commit(self) -> None:
        os.replace(self._temporary, self._path)


class Removal:
    """A file that goes at `commit`."""

    __slots__ = ("_path",)

    def __init__(self, path: str) -> None:
        self._path = path

    def commit(self) -> None:
        os.unlink(self._path)


def write_text(path: str, text: str) -> None:
    """Writes a whole text file byte for byte; the caller holds the lock."""
    Staged(path, text.encode("utf-8", "surrogatepass")).commit()


def ensure_folder(folder: str) -> None:
    """Makes a folder and what is missing above it, for this user alone."""
    if not os.path.isdir(folder):
        ensure_folder(os.path.dirname(folder))
        try:
            os.mkdir(folder, 0o700)
        except FileExistsError:
            if not os.path.isdir(folder):
                raise


def append_line(path: str, value: Json) -> None:
    """Appends one JSON line with a single write, so that lines of two processes do not mix."""
    append_text(path, dumps(value) + "\n")


def append_text(path: str, text: str) -> None:
    """Appends whole lines at once. Raises `OSError`."""
    ensure_folder(os.path.dirname(path))
    fd = os.open(path, debug.APPEND, 0o600)
    try:
        data = memoryview(text.encode())
        while data:
            data = data[os.write(fd, data) :]
    finally:
        os.close(fd)
