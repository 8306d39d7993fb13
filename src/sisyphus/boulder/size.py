"""How much of a context an item needs, by its mark: `(complex)`, `[L]`, `~200 LOC`.

The sizes are estimates. An item without a mark is of medium size: no word in it says how large it
is.
"""

from __future__ import annotations

import re

from sisyphus.ground.record import Record

MUST_BE_SPLIT = 60
"""Percent of a context from which an item must be split before anybody begins with it."""


class Size(Record):
    """A row of the table. least, most: percent of a context."""

    name: str
    least: int
    most: int

    @property
    def estimate(self) -> int:
        """Returns the middle of the range, in percent of a context."""
        return (self.least + self.most) // 2

    @property
    def must_be_split(self) -> bool:
        """Tells whether it does not fit into one context."""
        return self.least >= MUST_BE_SPLIT


TRIVIAL = Size("Trivial", 5, 10)
SIMPLE = Size("Simple", 10, 20)
MEDIUM = Size("Medium", 20, 40)
COMPLEX = Size("Complex", 40, 60)
VERY_COMPLEX = Size("Very Complex", 60, 100)

_WORDS = {each.name.lower(): each for each in (TRIVIAL, SIMPLE, MEDIUM, COMPLEX, VERY_COMPLEX)}
_LETTERS = {"XS": TRIVIAL, "S": SIMPLE, "M": MEDIUM, "L": COMPLEX, "XL": VERY_COMPLEX}
_LINES = ((50, TRIVIAL), (150, SIMPLE), (300, MEDIUM), (450, COMPLEX))
"""Fewer lines than this are of this size. The design stops at 300 lines, which are 40 %; at that
rate 450 are 60 %."""

_WORD = re.compile(rf"\(({'|'.join(_WORDS)})\)", re.IGNORECASE)
_LETTER = re.compile(r"(?<!\w)\[(XS|S|M|L|XL)\](?!\()")
_LOC = re.compile(r"~\s?(\d[\d,]{0,8})\s?(?:LOC|lines)\b", re.IGNORECASE)


def of(item: str) -> Size:
    """Returns the size of an item by its mark; MEDIUM if it has none."""
    if word := _WORD.search(item):
        return _WORDS[word[1].lower()]
    if letter := _LETTER.search(item):
        return _LETTERS[letter[1]]
    if lines := _LOC.search(item):
        number = int(lines[1].replace(",", ""))
        return next((size for most, size in _LINES if number < most), VERY_COMPLEX)
    return MEDIUM
