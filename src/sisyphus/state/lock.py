"""One process at a time. A lock dies with its holder, so there are no stale ones to break."""

from __future__ import annotations

import os
import time

from sisyphus import state
from sisyphus.errors import LockedError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

WAIT_SECONDS = 5.0
"""64 hooks started at once on two cores are through in about a second."""

_PAUSE_SECONDS = 0.002

_FLAGS = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
"""A link in its place would make a file wherever it leads."""

try:
    import fcntl

    def _acquire(fd: int) -> None:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)

except ImportError:  # Windows
    import msvcrt

    def _acquire(fd: int) -> None:
        msvcrt.locking(fd, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]  # Windows only


class Lock:
    """Held inside a `with` block, for the file beside which `PATH.lock` lies.

    The lock belongs to the file's inode, so the file stays, that two processes may not lock two of
    one name. Who removes it with its file holds it: who waited for that one takes the new one.
    Raises `LockedError` after `wait` seconds.
    """

    __slots__ = ("_fd", "_path", "_wait")

    def __init__(self, path: str, wait: float = WAIT_SECONDS) -> None:
        self._path = path + ".lock"
        self._wait = wait
        self._fd = -1

    def __enter__(self) -> Lock:
        self._fd = os.open(self._path, _FLAGS, 0o600)
        deadline = time.monotonic() + self._wait
        if state.lock_deadline is not None:
            deadline = min(deadline, state.lock_deadline)
        while not self._try():
            if time.monotonic() > deadline:
                os.close(self._fd)
                raise LockedError(f"another process holds {self._path}. Try again")
            time.sleep(_PAUSE_SECONDS)
        return self

    def enter(self, load: Callable[[], None]) -> None:
        """Takes the lock and loads what it guards; where that fails, the lock is free again."""
        self.__enter__()
        try:
            load()
        except BaseException:
            self.__exit__(None, None, None)
            raise

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        os.close(self._fd)

    def _try(self) -> bool:
        try:
            _acquire(self._fd)
        except OSError:
            return False
        if os.fstat(self._fd).st_nlink or not self._is_unlinked():
            return True
        os.close(self._fd)
        self._fd = os.open(self._path, _FLAGS, 0o600)
        return self._try()

    def _is_unlinked(self) -> bool:
        """Some file systems count no links."""
        try:
            return not os.path.samestat(os.fstat(self._fd), os.lstat(self._path))
        except OSError:
            return True
