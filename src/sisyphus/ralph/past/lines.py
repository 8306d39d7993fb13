"""The lines of a file of the history, and the record that each is of.

They are read before the lock is taken, which hooks wait for, and under it read on.
"""

from __future__ import annotations

import os
from io import BytesIO

from sisyphus.errors import UnreadableError
from sisyphus.ralph.past import rotation
from sisyphus.reading import open_regular
from sisyphus.state import jsonl

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection
    from io import BufferedReader

    from sisyphus.ralph.past.records import Merge, Record


class Lines:
    """Whatever `path` holds now; `merge` takes it. Raises `UnreadableError` and `OSError`.

    The file stays open until `close`: what takes its place meanwhile cannot get its inode.
    """

    __slots__ = ("_file", "_merge", "_owners", "_parts", "_size", "path")

    def __init__(self, path: str, merge: Merge) -> None:
        self.path = path
        self._merge = merge
        self._parts: list[bytes] = []
        self._owners: list[Record | None] = []
        self._size = 0
        self._file: BufferedReader | None = open_regular(path) if os.path.lexists(path) else None
        try:
            self.read_on()
        except BaseException:
            self.close()
            raise

    def is_current(self) -> bool:
        """Whether `path` holds what was read and nothing else."""
        return self._grown() == 0

    def may_go_on(self) -> bool:
        """Whether it holds what was read, and whole lines behind it or none."""
        grown = self._grown()
        return grown == 0 or (grown > 0 and self._ends_with_line())

    def read_on(self) -> None:
        """Takes what was appended since."""
        if self._file is None:
            return
        room = rotation.LOG_BYTES - self._size
        data = self._file.read(room + 1)
        if len(data) > room:
            raise UnreadableError(f"{self.path}: too large (over {rotation.LOG_BYTES:,} bytes)")
        self._size += len(data)
        self._parts.append(data)
        self._owners += map(self._record, BytesIO(data))

    def owners(self) -> set[Record]:
        """The records that some line is of."""
        return {record for record in self._owners if record}

    def without(self, going: Collection[Record]) -> bytearray | None:
        """The bytes of the other lines; None where all stay."""
        if not any(record in going for record in self._owners if record):
            return None
        staying = bytearray()  # a list of so many lines would be larger than they are
        lines = (line for part in self._parts for line in BytesIO(part))
        for line, record in zip(lines, self._owners, strict=True):
            if record not in going:
                staying += line
        return staying

    def close(self) -> None:
        """It is read no further."""
        if self._file:
            self._file.close()

    def _grown(self) -> int:
        """By how many bytes since it was read; -1 = another file is there now, or it was cut."""
        try:
            found = os.stat(self.path)
        except FileNotFoundError:
            return -1 if self._file else 0
        if self._file is None or not os.path.samestat(found, os.fstat(self._file.fileno())):
            return -1
        return max(found.st_size - self._size, -1)

    def _ends_with_line(self) -> bool:
        last = next((part for part in reversed(self._parts) if part), b"\n")
        return last.endswith(b"\n")

    def _record(self, line: bytes) -> Record | None:
        value = jsonl.parse(line)
        return None if value is None else self._merge.take(value)
