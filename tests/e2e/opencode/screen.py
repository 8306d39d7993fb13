"""What stands on a terminal, from what a program wrote to it."""

from __future__ import annotations

import codecs
import re

SEQUENCE = re.compile(
    r"\x1b\[(?P<where>[0-9;]*)H"  # to a row and a column, counted from 1
    r"|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[P_][^\x1b]*\x1b\\"  # titles, questions
    r"|\x1b\[[0-9;?<=>]*[ -/]*[@-~]|\x1b[^\[\]P_]"  # colours, modes
    r"|(?P<text>[^\x00-\x1f]+)|[\x00-\x1a\x1c-\x1f]"
)
BEGUN = re.compile(r"\x1b(?:[\[\]P_][^\x07\x1b]*\x1b?)?")


class Screen:
    """Rows of characters; enough for a program that names the place of all that it writes.

    Colours, and characters that are two columns wide, are passed over.
    """

    def __init__(self, rows: int, columns: int) -> None:
        self._cells = [[" "] * columns for _ in range(rows)]
        self._row = self._column = 0
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._rest = ""

    @property
    def text(self) -> str:
        lines = ["".join(row).rstrip() for row in self._cells]
        return "\n".join(lines)

    def feed(self, data: bytes) -> None:
        written = self._rest + self._decoder.decode(data)
        done = 0
        while found := SEQUENCE.match(written, done):
            done = found.end()
            if found["where"] is not None:
                self._move(found["where"])
            elif found["text"]:
                self._put(found["text"])
        self._rest = written[done:] if BEGUN.fullmatch(written, done) else ""

    def _move(self, where: str) -> None:
        row, _, column = where.partition(";")
        self._row, self._column = int(row or 1) - 1, int(column or 1) - 1

    def _put(self, text: str) -> None:
        for character in text:
            if self._row < len(self._cells) and self._column < len(self._cells[self._row]):
                self._cells[self._row][self._column] = character
            self._column += 1
