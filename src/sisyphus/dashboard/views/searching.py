"""Finds words in a long text. Pure. Small and capital letters count as the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST = 200
AROUND = 80
"""Characters of a line that are shown before and behind a hit."""


class Piece(NamedTuple):
    text: str
    is_hit: bool


class Hit(NamedTuple):
    """`number`: from 1, of all hits; `at`: where it begins in the text; `line`: from 1."""

    number: int
    at: int
    line: int
    before: str
    hit: str
    after: str


class Found(NamedTuple):
    """`more`: so many hits are not among `hits`."""

    hits: list[Hit]
    more: int


def search(text: str, query: str, most: int = MOST) -> Found:
    """The first hits of what stands in `query`, one behind the other."""
    wanted, folded = _folded(query.strip()), _folded(text)
    if not wanted:
        return Found([], 0)
    hits: list[Hit] = []
    line, behind = 1, 0
    for at in _places(folded, wanted):
        if len(hits) == most:
            return Found(hits, folded.count(wanted, at))
        line += text.count("\n", behind, at)
        behind = at
        hits.append(_hit(text, len(hits) + 1, at, at + len(wanted), line))
    return Found(hits, 0)


def marked(text: str, query: str) -> list[Piece]:
    """`text` in pieces that say whether they are hits; joined they are `text` again."""
    wanted, pieces, behind = _folded(query.strip()), [], 0
    for at in _places(_folded(text), wanted) if wanted else ():
        end = at + len(wanted)
        pieces += [Piece(text[behind:at], False), Piece(text[at:end], True)]
        behind = end
    pieces.append(Piece(text[behind:], False))
    return [piece for piece in pieces if piece.text]


def count(text: str, query: str, end: int) -> int:
    """How many hits begin before `end`."""
    wanted = _folded(query.strip())
    return _folded(text[: end + len(wanted) - 1]).count(wanted) if wanted and end else 0


def _places(folded: str, wanted: str) -> Iterator[int]:
    at = folded.find(wanted)
    while at >= 0:
        yield at
        at = folded.find(wanted, at + len(wanted))


def _hit(text: str, number: int, at: int, end: int, line: int) -> Hit:
    """A query may reach over a line end: what is shown of the text around it does not."""
    start = max(text.rfind("\n", 0, at) + 1, at - AROUND)
    stop = text.find("\n", end, end + AROUND)
    stop = min(end + AROUND, len(text)) if stop < 0 else stop
    return Hit(number, at, line, text[start:at], text[at:end], text[end:stop])


def _folded(text: str) -> str:
    """As long as `text`. Of all letters the small form of one alone is longer, and one has a form
    of its own at the end of a word."""
    return text.replace("\u0130", "i").lower().replace("\u03c2", "\u03c3")
