"""What a client leaves behind where its group and its session do not reach: processes that have
called `setsid`, and daemons.

They have the mark of the run in their environment. One that has taken it out becomes a child of
ours when its parent ends, because we adopt orphans while the client runs. Both need Linux: without
`/proc` nothing is found.
"""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress

from sisyphus.ground import processes

_SET_ADOPTION, _GET_ADOPTION = 36, 37
"""`PR_SET_CHILD_SUBREAPER` and `PR_GET_CHILD_SUBREAPER` of `prctl`."""

_REAP_SECONDS = 5.0
"""How often we ask whether an orphan has ended. Until then it is a zombie."""

_END_SECONDS = 2.0
"""How long we go on killing what is there. Something may start processes as fast as we find
them."""


class Orphans:
    """The orphans of a client that has just been started and has not begun. Adopts them until
    `end()`.

    mark: "NAME=VALUE", a variable in the environment of the client. client: its process.
    """

    def __init__(self, mark: str, client: int) -> None:
        self._mark = mark
        self._others = {client, *processes.children()}
        is_first = os.getpid() != 1 and not _adopts()
        self._is_adopting = is_first and _adopt(is_on=True)
        is_alone = not any(processes.key(pid) for pid in self._others - {client})
        self._has_all = self._is_adopting and is_alone
        """All that we adopt is the client's: no process that we have started before leaves
        any."""
        self._reaped_at = time.monotonic()

    def reap(self) -> None:
        """Asks now and then which orphans have ended."""
        if self._is_adopting and time.monotonic() - self._reaped_at > _REAP_SECONDS:
            self._reap()
            self._reaped_at = time.monotonic()

    def end(self) -> None:
        """Kills the orphans, and what they start meanwhile."""
        deadline = time.monotonic() + _END_SECONDS
        while (left := self._left()) and time.monotonic() < deadline:
            for pid in left:
                with suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.01)
            self._reap()
        self._reap()
        if self._is_adopting:
            _adopt(is_on=False)
            self._is_adopting = self._has_all = False

    def _left(self) -> set[int]:
        adopted = self._adopted() if self._has_all else set()
        return processes.marked(self._mark) | {pid for pid in adopted if processes.key(pid)}

    def _adopted(self) -> set[int]:
        return processes.children() - self._others

    def _reap(self) -> None:
        for pid in self._adopted() if self._is_adopting else ():
            with suppress(OSError):
                os.waitpid(pid, os.WNOHANG)


def _adopts() -> bool:
    """Tells whether orphans below us become our children already."""
    with suppress(ImportError, AttributeError, OSError):
        import ctypes  # some builds of Python have none

        answer = ctypes.c_int(0)
        ctypes.CDLL(None).prctl(_GET_ADOPTION, ctypes.byref(answer), 0, 0, 0)
        return answer.value != 0
    return False


def _adopt(*, is_on: bool) -> bool:
    """Makes the orphans below us our children, or those of whoever comes next above us; tells
    whether it could."""
    with suppress(ImportError, AttributeError, OSError):
        import ctypes

        return int(ctypes.CDLL(None).prctl(_SET_ADOPTION, int(is_on), 0, 0, 0)) == 0
    return False
