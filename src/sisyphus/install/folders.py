"""Folders that an installation writes into: those that it makes, and those that it empties."""

from __future__ import annotations

import os

from sisyphus.errors import SisyphusError
from sisyphus.paths import NO_HOME, ancestors, is_inside, our_home

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    Left = tuple[tuple[str, tuple[str, ...]], ...]


def check(folder: str, base: str) -> None:
    """Raises `SisyphusError` where no folder can be made, or a link leads out of `base`."""
    nearest = next(path for path in ancestors(folder) if os.path.lexists(path))
    if nearest == os.devnull:
        raise SisyphusError(NO_HOME)
    if not os.path.isdir(nearest):
        raise SisyphusError(f"{nearest} is no folder. Move it away, then run this again.")
    if not is_inside(folder, base):
        raise SisyphusError(
            f"{nearest} leads to {os.path.realpath(nearest)}, which is not in {base}. Put a folder "
            "in the place of that link, then run this again."
        )


def missing(folders: Iterable[str]) -> tuple[str, ...]:
    """Those of these folders, and of the ones above them, that are not there; outermost first.

    The folder of our own state and those above it are none of them: they are there before anything
    is written, and stay.
    """
    gone = {path for folder in folders for path in ancestors(folder) if not os.path.isdir(path)}
    return tuple(sorted(gone.difference(ancestors(our_home())), key=lambda path: (len(path), path)))


def emptied(made: Iterable[str], gone: set[str]) -> tuple[tuple[str, ...], Left]:
    """Which of the folders `made` are empty once the paths in `gone` are, innermost first; and what
    the others hold."""
    drop: list[str] = []
    left = []
    for folder in sorted(made, key=len, reverse=True):
        if not os.path.isdir(folder) or os.path.islink(folder):
            continue
        names = sorted(os.listdir(folder))
        rest = [name for name in names if os.path.join(folder, name) not in {*gone, *drop}]
        if rest:
            left.append((folder, tuple(rest)))
        else:
            drop.append(folder)
    return tuple(drop), tuple(left)
