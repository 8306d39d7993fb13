"""What was said in a loop: of each iteration, and all of it, page by page."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from sisyphus.dashboard.views import searching, stops
from sisyphus.errors import UnreadableError
from sisyphus.paths import is_safe_id
from sisyphus.ralph import iterations as kept
from sisyphus.reading import read_bytes
from sisyphus.text import harmless

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sisyphus._types import Json
    from sisyphus.dashboard.views.searching import Found, Piece

PAGE_CHARACTERS = 200_000
EXPORT_CHARACTERS = 20_000_000
_MOST_BYTES = 4 * kept.TEXT_CHARACTERS + 1_000


class Page(NamedTuple):
    """A page of a text, from 1. `line`: the number of its first line; `first`: that of its first
    hit; `pages_of`: on which page each hit of `found` lies."""

    number: int
    pages: int
    line: int
    pieces: list[Piece]
    first: int
    found: Found
    pages_of: dict[int, int]


def iterations(ours: str, loop_id: str) -> list[Json]:
    """A row each, the oldest first: that of its last Stop, and `size`: of its text, in bytes."""
    latest: dict[int, Json] = {}
    for row in stops.of_loop(ours, loop_id):
        if row["iteration"] is not None:
            latest[row["iteration"]] = row
    return [{**row, "size": _size(ours, loop_id, number)} for number, row in latest.items()]


def text(ours: str, loop_id: str, number: int) -> str:
    """Of one iteration; "" where none was kept."""
    if not is_safe_id(loop_id):
        return ""
    try:
        data = read_bytes(kept.text_path(ours, loop_id, number), _MOST_BYTES)
    except UnreadableError:
        return ""
    return _plain(data.decode("utf-8", "replace"))


def with_text(ours: str, loop_id: str, numbers: Iterable[int | None]) -> set[int]:
    """The iterations of these whose text was kept."""
    return {one for one in numbers if one is not None and _size(ours, loop_id, one)}


def full(ours: str, loop_id: str) -> str:
    """Of all iterations, each below a heading; "" where none was kept."""
    return _plain(kept.full_text(ours, loop_id))


def texts(ours: str, loop_id: str, most: int = EXPORT_CHARACTERS) -> dict[int, str]:
    """By iteration; those that would make it more than `most` characters are left out."""
    found: dict[int, str] = {}
    for row in iterations(ours, loop_id):
        said = text(ours, loop_id, row["iteration"]) if row["size"] else ""
        most -= len(said)
        if most < 0:
            break
        found[row["iteration"]] = said
    return found


def page(said: str, number: int, query: str = "", size: int = PAGE_CHARACTERS) -> Page:
    """Of `said`, with the hits of `query`. Behind the last page is the last one. Pure."""
    bounds = [0, *_ends(said, size)]
    number = min(max(number, 1), len(bounds) - 1)
    start, end = bounds[number - 1 : number + 1]
    found = searching.search(said, query)
    return Page(
        number=number,
        pages=len(bounds) - 1,
        line=said.count("\n", 0, start) + 1,
        pieces=searching.marked(said[start:end], query),
        first=searching.count(said, query, start) + 1,
        found=found,
        pages_of={hit.number: sum(hit.at >= end for end in bounds[1:]) + 1 for hit in found.hits},
    )


def _ends(said: str, size: int) -> Iterator[int]:
    """Where the pages end: behind a line where one ends on the page."""
    start = 0
    while len(said) - start > size:
        start = said.rfind("\n", start, start + size) + 1 or start + size
        yield start
    yield len(said)


def _size(ours: str, loop_id: str, number: int) -> int:
    try:
        return os.stat(kept.text_path(ours, loop_id, number)).st_size
    except OSError:
        return 0


def _plain(said: str) -> str:
    """With the line ends that pages show, and without what would do something on a screen."""
    said = said.replace("\r\n", "\n").replace("\t", "    ")
    if said.replace("\n", "").isprintable():  # 20 MB line by line take half a second
        return said
    return "\n".join(line if line.isprintable() else harmless(line) for line in said.split("\n"))
