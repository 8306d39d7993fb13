"""A pipe that somebody else writes to. All of it is read, so that no writer has to wait; its end
is kept, so that no flood fills memory or disk."""

from __future__ import annotations

import os
from threading import Thread

KEPT_BYTES = 1_000_000

_READ_BYTES = 65_536
_LET_GO_SECONDS = 0.5


class Drain:
    """`entrance` is where to write to; the caller closes it once it was handed on."""

    __slots__ = ("_kept", "_reader", "_size", "entrance")

    def __init__(self) -> None:
        self._kept = bytearray()
        self._size = 0
        exit_, self.entrance = os.pipe()
        self._reader = Thread(target=self._read, args=[exit_], daemon=True)
        self._reader.start()

    def end(self) -> bytes:
        """The last `KEPT_BYTES` at most, from the start of a line where something is left out.

        A process that outlived the command may hold the pipe: it is not waited for.
        """
        self._reader.join(_LET_GO_SECONDS)
        kept = bytes(self._kept)[-KEPT_BYTES:]
        is_whole = self._size <= KEPT_BYTES
        return kept if is_whole else kept.partition(b"\n")[2] or kept

    def _read(self, exit_: int) -> None:
        while chunk := os.read(exit_, _READ_BYTES):
            self._kept += chunk
            self._size += len(chunk)
            if len(self._kept) > 2 * KEPT_BYTES:
                del self._kept[:-KEPT_BYTES]
        os.close(exit_)
