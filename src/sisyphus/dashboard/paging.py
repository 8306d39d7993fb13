"""Pages of long lists."""

from __future__ import annotations

from sisyphus.dashboard.page import Params
from sisyphus.ground.record import Record

_DIGITS = 15
"""SQLite has no larger integers than those of 18 digits."""


class Pages(Record, frozen=True):
    """Which part of a list is shown. number: of the page, from 1. last: how many pages there are.
    total: the entries of the whole list."""

    number: int
    last: int
    total: int


def choose(params: Params, total: int, size: int) -> Pages:
    """Returns the page that an address asks for with `page`; the nearest one if there is none with
    that number. size: the entries of a page."""
    last = max(1, -(-total // size))
    return Pages(min(max(1, number(params, "page")), last), last, total)


def number(params: Params, name: str) -> int:
    """Returns a number that is part of an address; 0 = it is none."""
    text = params.get(name, "")
    is_number = text.isascii() and text.isdecimal() and len(text) <= _DIGITS
    return int(text) if is_number else 0
