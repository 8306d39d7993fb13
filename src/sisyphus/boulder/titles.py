"""What plans are called, and which of them a name fits best. Pure."""

from __future__ import annotations

import os

from sisyphus.paths import display

NO_FIT = 5
_EXACT = 3


def fit(wanted: str, name: str, path: str, root: str) -> int:
    """How well a plan is called by what a person wrote, case aside; 0 is best.

    0 its name, 1 its file's, 2 its place, 3 a part of the first two, 4 a part of its place.
    """
    wanted, name = wanted.casefold(), name.casefold()
    file = os.path.basename(path).casefold()
    places = (path.casefold(), display(path, root).casefold())
    tests = (
        wanted == name,
        wanted in (os.path.splitext(file)[0], file),
        wanted in places,
        wanted in name or wanted in file,
        any(wanted in place for place in places),
    )
    return next((rank for rank, is_so in enumerate(tests) if is_so), NO_FIT)


def order(rank: int, *, is_open: bool) -> tuple[int, bool, int]:
    """The smaller, the better: in full goes before in part, and then an open plan before others
    that are called in full, or by the same kind of part."""
    return (0, not is_open, rank) if rank < _EXACT else (rank, not is_open, 0)
