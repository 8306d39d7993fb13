"""A value that is read once, and again when what it was read from has changed."""

from __future__ import annotations

import os
from threading import Lock
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")

Stamp = tuple[object, ...]


class Kept(Generic[T]):
    """`read` makes the value, `stamp` tells by being unequal that it is out of date."""

    def __init__(self, read: Callable[[], T], stamp: Callable[[], Stamp]) -> None:
        self._read = read
        self._stamp = stamp
        self._lock = Lock()
        self._known: tuple[Stamp, T] | None = None

    def __call__(self) -> T:
        """Requests at the same time wait for one reading."""
        with self._lock:
            stamp = self._stamp()  # before the reading: a change meanwhile makes another one
            if self._known is None or self._known[0] != stamp:
                self._known = (stamp, self._read())
            return self._known[1]

    def forget(self) -> None:
        with self._lock:
            self._known = None


def of_file(path: str) -> Stamp:
    """What tells a file from itself in another state."""
    try:
        found = os.stat(path)
    except OSError:
        return ()
    return found.st_mtime_ns, found.st_size, found.st_ino


def of_folder(path: str) -> Stamp:
    """The same of all files of a folder."""
    try:
        with os.scandir(path) as entries:
            return tuple(sorted((entry.name, *of_file(entry.path)) for entry in entries))
    except OSError:
        return ()
