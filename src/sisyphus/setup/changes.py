"""Reads and writes the files of other programs. A file is written whole or not at all, keeps its
mode, and if it is a link, its target is written."""

import os
import stat
from collections.abc import Iterable
from contextlib import suppress

from sisyphus.ground import files, paths
from sisyphus.ground.errors import SisyphusError
from sisyphus.setup import messages
from sisyphus.setup.install import Files, UneditableError

MAX_BYTES = 10_000_000
"""The largest file that we edit."""


def read(path: str) -> bytes | None:
    """Returns the content of a file; None if it does not exist. Raises `UneditableError`."""
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            raise UneditableError(*messages.unreadable(path, "it is not a regular file"))
        with open(path, "rb") as file:
            data = file.read(MAX_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        why = error.strerror or str(error)
        raise UneditableError(*messages.unreadable(path, why)) from error
    if len(data) > MAX_BYTES:
        raise UneditableError(*messages.unreadable(path, f"it has over {MAX_BYTES:,} bytes"))
    return data


def check(files: Files, project: str) -> None:
    """Raises `UneditableError` if one of these files cannot or must not be written. A file below
    the project ("" = there is none) must not lead out of it."""
    for path in files:
        target = os.path.realpath(path)
        is_below = project and path.startswith(project + os.sep)
        if is_below and not paths.is_inside(target, project):
            raise UneditableError(*messages.leads_out(path))
        existing = [each for each in paths.ancestors(target) if os.path.exists(each)]
        for each in existing[: 2 if existing[0] == target else 1]:  # the file, and its folder
            if not _is_writable(each):
                raise UneditableError(*messages.read_only(each))


def apply(before: Files, after: Files) -> None:
    """Writes and deletes files, one after the other. Raises `SisyphusError` at the first that
    fails or that has changed since it was read."""
    for path, data in after.items():
        if read(path) != before[path]:
            raise SisyphusError(messages.changed(path))
        try:
            if data is None:
                os.unlink(os.path.realpath(path))
            else:
                _write(os.path.realpath(path), data)
        except OSError as error:
            raise SisyphusError(messages.failed(path, error.strerror or str(error))) from error


def missing_folders(files: Files) -> list[str]:
    """Returns the folders that `apply` will make."""
    missing: dict[str, None] = {}
    for path, data in files.items():
        for folder in paths.ancestors(os.path.dirname(os.path.realpath(path))):
            if data is None or os.path.isdir(folder):
                break
            missing[folder] = None
    return list(missing)


def remove_empty(folders: Iterable[str]) -> None:
    """Removes those of the folders that are empty, or are when the others are gone."""
    for folder in sorted(set(folders), key=len, reverse=True):
        with suppress(OSError):  # there is something in it, or it is gone
            os.rmdir(folder)


def _write(path: str, data: bytes) -> None:
    os.makedirs(os.path.dirname(path), exist_ok=True)
    files.replace(path, data, _mode(path))


def _mode(path: str) -> int:
    """Returns the mode of a file; for a new one what the umask gives."""
    if os.path.exists(path):
        return stat.S_IMODE(os.stat(path).st_mode)
    umask = os.umask(0)
    os.umask(umask)
    return 0o666 & ~umask


def _is_writable(path: str) -> bool:
    """Tells whether a file or folder may be written. The mode counts for root, too: a file that is
    read-only is managed elsewhere."""
    return os.access(path, os.W_OK) and bool(os.stat(path).st_mode & 0o222)
