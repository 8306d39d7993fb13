"""Reads files of a project, which are untrusted: opening never blocks, the size is limited, and
no link is followed out of the project. Makes files and folders that are the user's alone."""

from __future__ import annotations

import codecs
import os
import stat

from sisyphus.ground import paths
from sisyphus.ground.errors import UnreadableError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from typing import BinaryIO

MAX_NAMES = 10_000
"""The most names of one folder that a hook looks at, 10 ms: a million would take seconds."""

_MAX_WALKED = 100_000
"""The same for each folder of a walk."""

TEMPORARY = ".tmp"
"""The ending of a file that is not yet complete."""

DOCUMENT_BYTES = 1_000_000
"""The largest rule or document that we read. A file without a limit could cost a hook 2 s or 200
MB."""


def read(path: str, *, inside: str = "", limit: int = DOCUMENT_BYTES) -> str:
    """Reads a regular file of at most `limit` bytes; line ends become `\\n`.

    It is UTF-8, or UTF-16 if a byte order mark says so, as PowerShell writes it.
    inside: the folder that must contain the file, links resolved; "" = anywhere.
    Raises `UnreadableError`.
    """
    if inside and not paths.is_inside(path, inside):
        raise UnreadableError(f"it is outside {inside}")
    text = _decode(read_bytes(path, inside, limit))
    if "\0" in text:
        raise UnreadableError("it is binary")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def read_bytes(path: str, inside: str, limit: int) -> bytes:
    """Reads a regular file like `read`, as bytes."""
    try:
        with open_regular(path) as file:
            if inside and not _is_inside(file, path, inside):
                raise UnreadableError(f"it is outside {inside}")
            size = min(os.fstat(file.fileno()).st_size, limit)
            data = file.read(size + 1)  # a buffer for all of the limit takes 0.1 ms
            if size < len(data) <= limit:  # somebody writes it, or its size is not known
                data += file.read(limit + 1 - len(data))
    except (OSError, ValueError) as error:
        raise UnreadableError(getattr(error, "strerror", None) or str(error)) from error
    if len(data) > limit:
        raise UnreadableError(f"it is too large (over {limit:,} bytes)")
    return data


def _is_inside(file: BinaryIO, path: str, folder: str) -> bool:
    """Tells whether an open file is inside a folder: a link may have changed since we checked its
    path. Linux knows the path of an open file, without links."""
    try:
        real = os.readlink(f"/proc/self/fd/{file.fileno()}")
    except OSError:
        real = ""
    if real.startswith(os.sep):
        return paths.is_real_inside(real, folder)
    return paths.is_inside(path, folder) and os.path.samestat(
        os.fstat(file.fileno()), os.stat(os.path.realpath(path))
    )


def _decode(data: bytes) -> str:
    is_wide = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    encoding = "UTF-16" if is_wide else "UTF-8"
    try:
        return data.decode(encoding).lstrip("\ufeff")
    except UnicodeDecodeError as error:
        raise UnreadableError(f"it is not {encoding}") from error


def open_regular(path: str) -> BinaryIO:
    """Opens a regular file for reading. An ordinary open would block forever on a FIFO.

    Raises `OSError` and `ValueError`.
    """
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError("it is not a regular file")
    return open(descriptor, "rb")


def is_single(path: str) -> bool:
    """Tells whether a path names a regular file itself: no link is on the way, and the file has no
    second name."""
    is_plain = path == os.path.realpath(path) and os.path.isfile(path)
    return is_plain and os.stat(path).st_nlink == 1


def walk(folder: str, skipped: Collection[str]) -> Iterator[str]:
    """Yields the files below a folder, however deep; `os.walk` of Python 3.11 is recursive.

    skipped: names of folders that are left out. Links to folders are not followed.
    """
    folders = [folder]
    while folders:
        for entry in entries(folders.pop(), _MAX_WALKED):
            if entry.is_dir(follow_symlinks=False):
                folders += [] if entry.name in skipped else [entry.path]
            elif not (entry.is_symlink() and os.path.isdir(entry.path)):
                yield entry.path


def entries(folder: str, most: int = MAX_NAMES) -> list[os.DirEntry[str]]:
    """Returns what is in a folder, sorted by name; none if it cannot be read. Of a folder with more
    than `most` names it returns those that the system lists first."""
    try:
        with os.scandir(folder) as found:
            some = [entry for _, entry in zip(range(most), found, strict=False)]
    except (OSError, ValueError):
        return []
    return sorted(some, key=lambda entry: entry.name)


def tail_contains(path: str, word: bytes, within: int = 1_000_000) -> bool:
    """Tells whether the last `within` bytes of a file contain `word`; no if it cannot be read."""
    return word in tail(path, within)


def tail(path: str, size: int) -> bytes:
    """Returns the last `size` bytes of a file; empty if it cannot be read."""
    try:
        with open_regular(path) as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - size))
            return file.read(size)
    except (OSError, ValueError):
        return b""


def stamp(path: str) -> str:
    """Returns a string that changes whenever the file or folder does; "" if it does not exist."""
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return ""
    return f"{status.st_mtime_ns} {status.st_ctime_ns} {status.st_size} {status.st_ino}"


def size(path: str) -> int:
    """Returns the bytes of a file; -1 if it does not exist."""
    try:
        return os.stat(path).st_size
    except (OSError, ValueError):
        return -1


def modified_at(path: str) -> float:
    """Returns when a file was written, in seconds since 1970; 0 if it does not exist."""
    try:
        return os.stat(path).st_mtime
    except (OSError, ValueError):
        return 0.0


def make_folder(path: str) -> None:
    """Makes a folder, with the folders above it, for the user alone whatever the umask.

    Raises `OSError`.
    """
    if os.path.isdir(path):
        return
    make_folder(os.path.dirname(path))
    try:
        os.mkdir(path)
    except FileExistsError:  # another hook may have made it
        return
    os.chmod(path, 0o700)


def open_private(path: str, flags: int) -> BinaryIO:
    """Opens a file for writing, for the user alone whatever the umask; creates it if needed.
    Follows no link and waits for no FIFO. flags: more flags for `os.open`.

    Raises `OSError`.
    """
    safe = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | safe | flags, 0o600)
    os.fchmod(descriptor, 0o600)
    return open(descriptor, "wb")


def replace(path: str, data: bytes, mode: int) -> None:
    """Writes a file whole, or not at all. The file is private until it is complete. If root writes
    it, it belongs to whom the old one did or, if there was none, the folder does. Raises
    `OSError`."""
    temporary = f"{path}.{os.getpid()}{TEMPORARY}"
    try:
        with open_private(temporary, os.O_TRUNC) as file:
            file.write(data)
            _give(file, path)
            os.fchmod(file.fileno(), mode)
        os.replace(temporary, path)
    except OSError:
        if os.path.lexists(temporary):
            os.unlink(temporary)
        raise


def _give(file: BinaryIO, path: str) -> None:
    """Gives a new file that will be at `path` to its owner, if we are root in somebody's home."""
    if os.geteuid() == 0 and os.fstat(file.fileno()).st_nlink == 1:
        owner = os.stat(path if os.path.exists(path) else os.path.dirname(path))
        os.fchown(file.fileno(), owner.st_uid, owner.st_gid)
