"""How full a session's context was over time, read from the client's transcript as it grows."""

from __future__ import annotations

import os

from sisyphus import transcript
from sisyphus.checkpoint.size.points import Points
from sisyphus.clients import files_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


class Series:
    """The answers and compactions in the transcript at `path`; `told` has them since `update`.

    Of what is new at a time, the last `most` bytes are read: 0.2 s for 64 MB.
    """

    __slots__ = ("_file", "_most", "_offset", "path", "told")

    def __init__(self, path: str, most: int = transcript.TAIL_BYTES) -> None:
        self.path = path
        self.told = Points()
        self._most = most
        self._file: object = None  # which one was read
        self._offset = 0

    def update(self) -> bool:
        """Reads on; whether there was anything. A file that is shorter, or another one, begins
        anew; of one that is gone what was told stays."""
        try:
            state = os.stat(self.path)
        except OSError:
            return False
        file = (state.st_dev, state.st_ino)
        if file != self._file or state.st_size < self._offset:
            self._file, self._offset, self.told = file, 0, Points()
        before = self._offset
        if state.st_size > before:
            self.told.take(self._lines(), files_of(self.path))
        return self._offset > before

    def _lines(self) -> Iterator[bytes]:
        for start, line in transcript.lines(self.path, self._offset, self._most):
            if start > self._offset:
                self.told.is_cut = True
            self._offset = start + len(line)
            yield line
