"""Where a project's record lies, and how it is read and written.

`PROJECT/docs/kord/boulder.json` where that exists, else `boulder.json` beside the project's book.
The one in the project is its people's: while it cannot be understood it is left as it is. Ours is
then set aside and written anew.
"""

from __future__ import annotations

import json
import os
import stat
import time
from binascii import crc32

from sisyphus.boulder.discover import file_stamp as stamp
from sisyphus.boulder.kord import record
from sisyphus.boulder.record import is_newer
from sisyphus.boulder.store import record_in_project
from sisyphus.errors import UnreadableError
from sisyphus.reading import read_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus._types import Json

RECORD_BYTES = 1_000_000
"""A thousand stories and the todos of a client take a quarter of it."""

_NEWER = "it was written by a newer program"
_MODE = 0o644  # git keeps no other
_OUR_MODE = 0o600


def read_boulder_state(root: str) -> Json:
    """What `docs/kord/boulder.json` of a project says; {} where there is none, or none to read."""
    found = RecordFile(record_in_project(root), root)
    return found.found if found.is_usable else {}


class RecordFile:
    """One look at the record at `path`; `problem` says why it is not to be written, nor, but
    for one that is newer, used."""

    __slots__ = ("crc", "found", "is_newer", "path", "problem", "root", "stamp")

    def __init__(self, path: str, root: str) -> None:
        self.path = path
        self.root = root
        self.found: Json = {}
        self.problem = ""
        self.is_newer = False
        self.crc = 0  # of the text; 0 = there is no file
        self.stamp = stamp(path)
        if self.is_in_project and os.path.realpath(path) != path:
            self.problem = f"{path}: reached by a link"  # to any file, which is then no record
        elif os.path.lexists(path):
            self._read()

    @property
    def is_usable(self) -> bool:
        """Whether it can be read; what a newer program wrote is, as far as we understand it."""
        return not self.problem or self.is_newer

    @property
    def is_in_project(self) -> bool:
        return self.path == record_in_project(self.root)

    def _read(self) -> None:
        text = ""
        try:
            text = read_text(self.path, RECORD_BYTES)
            self.crc = crc32(text.encode()) or 1
            found = json.loads(text)
        except UnreadableError as error:
            self.problem = str(error)
        except (ValueError, RecursionError) as error:
            conflict = "merge conflict markers" if "<<<<<<< " in text else ""
            self.problem = f"{self.path}: no JSON ({conflict or _one_line(error)})"
        else:
            self._take(found)

    def _take(self, found: object) -> None:
        if not isinstance(found, dict):
            self.problem = f"{self.path}: no object"
            return
        why = record.problem(found)
        self.is_newer = not why and is_newer(found)
        why = _NEWER if self.is_newer else why
        self.found, self.problem = found, f"{self.path}: {why}" if why else ""

    def write(self, text: Text) -> bool:
        """Writes the record; False where somebody else wrote it since it was read. The caller
        holds the lock of the project's book."""
        if self.problem or stamp(self.path) != self.stamp:
            return False
        self._put(text)
        self.found, self.crc, self.stamp = text.found, text.crc, stamp(self.path)
        return True

    def _put(self, text: Text) -> None:
        from sisyphus.state.files import Staged, ensure_folder

        if self.is_in_project:
            os.makedirs(os.path.dirname(self.path), exist_ok=True)
        else:
            ensure_folder(os.path.dirname(self.path))
        staged = Staged(self.path, text.data)
        staged.dress(_mode(self.path, is_ours=not self.is_in_project), text.stamp[0])
        staged.commit()


class Text:
    """What a record is about to say. `stamp` is known before it is written, so that whoever is
    killed in between leaves no riddle."""

    __slots__ = ("crc", "data", "found", "stamp")

    def __init__(self, found: Json) -> None:
        self.found = found
        self.data = _encoded(found)
        self.crc = crc32(self.data) or 1
        self.stamp = [time.time_ns(), len(self.data)]


def _encoded(value: Json) -> bytes:
    try:
        return json.dumps(value, indent=2, ensure_ascii=False).encode() + b"\n"
    except UnicodeEncodeError:  # half a surrogate pair, which JSON can spell and UTF-8 cannot
        return json.dumps(value, indent=2).encode() + b"\n"


def _mode(path: str, *, is_ours: bool) -> int:
    if is_ours:
        return _OUR_MODE
    try:
        return stat.S_IMODE(os.stat(path).st_mode)
    except OSError:
        return _MODE


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())[:200]
