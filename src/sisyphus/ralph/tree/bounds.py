"""How much a look at a stranger's files may cost."""

from __future__ import annotations

import time

GIT_SECONDS = 2.0
WALK_SECONDS = 0.3
WALK_ENTRIES = 20_000
GIT_NAMES = 500_000
"""A look at so many takes about a second; git's list of them is some 30 MB."""


class TooMuchError(Exception):
    """The look would cost more than it may. Its text says what was exceeded."""


class Bounds:
    """Seconds for git and for a walk without it, and the entries that a walk may meet."""

    __slots__ = ("git_seconds", "walk_entries", "walk_seconds")

    def __init__(
        self,
        git_seconds: float = GIT_SECONDS,
        walk_seconds: float = WALK_SECONDS,
        walk_entries: int = WALK_ENTRIES,
    ) -> None:
        self.git_seconds = git_seconds
        self.walk_seconds = walk_seconds
        self.walk_entries = walk_entries


class Budget:
    """What is left of the time, from now on, and of the entries."""

    __slots__ = ("_left", "_most", "_seconds", "deadline")

    def __init__(self, seconds: float, entries: int) -> None:
        self._seconds = seconds
        self._most = self._left = entries
        self.deadline = time.monotonic() + seconds

    def spend(self) -> None:
        """Counts one entry; raises `TooMuchError` where there was none left."""
        self._left -= 1
        if self._left < 0:
            raise TooMuchError(f"there are more than {self._most:,} files")
        self.check()

    def check(self) -> None:
        """Raises `TooMuchError` where the time is over."""
        if time.monotonic() >= self.deadline:
            raise TooMuchError(f"it took longer than {self._seconds:g} s")
