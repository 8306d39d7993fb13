"""The files of a project and when each was last changed: git's list where there is one."""

from __future__ import annotations

import os
import stat

from sisyphus.errors import SisyphusError
from sisyphus.paths import is_inside
from sisyphus.ralph.head import head
from sisyphus.ralph.tree import git
from sisyphus.ralph.tree.bounds import GIT_NAMES, Budget
from sisyphus.ralph.tree.walk import changed_at, walk
from sisyphus.state import debug

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from sisyphus.ralph.tree.bounds import Bounds

    Entries = Iterator[tuple[bytes, int]]

BY_GIT, BY_WALK = "git", "walk"


def find(top: str, bounds: Bounds) -> tuple[str, Entries]:
    """How the files below `top`, links resolved, are found; name and last change of each.

    The change is in nanoseconds since the epoch. Raises `OSError` where there is no such folder;
    it and going through the files raise `TooMuchError`.
    """
    if not os.path.isdir(top):
        raise NotADirectoryError("it is no folder")
    budget = Budget(bounds.git_seconds, GIT_NAMES)
    names = _listed(top, budget)
    if names is not None:
        return BY_GIT, _looked_at(top, names, budget, bounds)
    return BY_WALK, walk(top, Budget(bounds.walk_seconds, bounds.walk_entries))


def _listed(top: str, budget: Budget) -> list[bytes] | None:
    try:
        return git.names(top, budget)
    except (OSError, SisyphusError) as error:
        debug.log(f"git does not tell the files of {top}: {error}")
        return None


def _looked_at(top: str, names: list[bytes], budget: Budget, bounds: Bounds) -> Entries:
    start = os.path.join(os.fsencode(top), b"")
    inner: list[bytes] = []
    for name in names:
        budget.spend()
        try:
            found = os.lstat(start + name)
        except OSError:
            continue  # git still tracks it, but it is gone
        if stat.S_ISDIR(found.st_mode):
            inner.append(name.rstrip(b"/"))
        else:
            yield name, changed_at(found)
    left = Budget(bounds.walk_seconds, bounds.walk_entries)
    for name in inner:
        yield from _repository(top, name, left)


def _repository(top: str, name: bytes, budget: Budget) -> Entries:
    """A repository in the project: the commit it stands at, as part of a name, and its files."""
    folder = os.path.join(top, os.fsdecode(name))
    if not is_inside(folder, top):
        return
    yield name + b"\0" + os.fsencode(head(folder)), 0
    for inner, at in walk(folder, budget):
        yield name + b"/" + inner, at
