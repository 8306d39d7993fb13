"""Files of a project are a stranger's: each is opened without waiting, and bounded in size."""

from __future__ import annotations

import os
import stat

from sisyphus.errors import UnreadableError
from sisyphus.paths import is_inside

TYPE_CHECKING = False
if TYPE_CHECKING:
    from io import BufferedReader

DOCUMENT_BYTES = 1_000_000
PLAN_BYTES = 5_000_000

# A FIFO would block an ordinary open for good; Windows has neither the flag nor FIFOs there.
_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


def open_regular(path: str) -> BufferedReader:
    """A regular file opened for reading; raises `UnreadableError` for anything else."""
    try:
        fd = os.open(path, _FLAGS)
    except (OSError, ValueError) as error:
        raise UnreadableError(f"{path}: {_reason(error)}") from error
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise UnreadableError(f"{path}: not a regular file")
    return os.fdopen(fd, "rb")


def read_head(path: str, limit: int) -> bytes:
    """The first `limit` bytes of a regular file; raises `UnreadableError`."""
    with open_regular(path) as file:
        try:
            return file.read(limit)
        except OSError as error:
            raise UnreadableError(f"{path}: {_reason(error)}") from error


def read_bytes(path: str, limit: int) -> bytes:
    """The whole of a regular file of at most `limit` bytes; raises `UnreadableError` otherwise."""
    data = read_head(path, limit + 1)
    if len(data) > limit:
        raise UnreadableError(f"{path}: too large (over {limit:,} bytes)")
    return data


def read_text(path: str, limit: int, inside: str = "") -> str:
    """The text of a UTF-8 file, without its byte order mark, line ends as they are.

    With `inside`, a path that leaves that folder (by a link, say) is `UnreadableError`.
    """
    if inside and not is_inside(path, inside):
        raise UnreadableError(f"{path}: leaves {inside}")
    data = read_bytes(path, limit)
    if b"\0" in data:
        raise UnreadableError(f"{path}: binary")
    try:
        return data.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        raise UnreadableError(f"{path}: not UTF-8") from error


def _reason(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)
