"""What the client's own settings files say, where that decides what it loads.

Measured on Claude Code 2.1.329: `settings.json` of its own folder and of the folder where the
session began, and `settings.local.json` of the latter; the lists `claudeMdExcludes` of all of
them count together.
"""

from __future__ import annotations

import os
from fnmatch import fnmatchcase
from functools import lru_cache

from sisyphus.state.files import read_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from sisyphus._types import Json

    Rest = tuple[str, ...]

MAX_EXCLUDES = 100
MAX_CHARACTERS = 500
MAX_STARS = 4
"""Of one file; of one glob; of the `**` in it. A stranger's globs are matched against every rule of
a project."""


def paths(home: str, folder: str, root: str) -> list[str]:
    """The settings files of a session that began in `folder` of the project `root`, the weakest
    first. `home` is the client's own folder."""
    found = (
        os.path.join(home, "settings.json"),
        os.path.join(folder, ".claude", "settings.json"),
        os.path.join(root, ".claude", "settings.local.json"),
        os.path.join(folder, ".claude", "settings.local.json"),
    )
    return list(dict.fromkeys(found))


def load(home: str, folder: str, root: str) -> list[Json]:
    """What these files hold; {} for one that is absent or unreadable."""
    return [read_json(path) or {} for path in paths(home, folder, root)]


def excludes(settings: Iterable[Json]) -> list[str]:
    """All globs of files that the client is told not to load."""
    lists = [some for one in settings if isinstance(some := one.get("claudeMdExcludes"), list)]
    globs = [glob for some in lists for glob in some[:MAX_EXCLUDES] if isinstance(glob, str)]
    return [g for g in globs if len(g) <= MAX_CHARACTERS and g.count("**") <= MAX_STARS]


def is_excluded(path: str, globs: Iterable[str]) -> bool:
    """Whether a glob matches the whole absolute path, as the client does it.

    Known are `**`, `*`, `?` and `[…]`. Braces, `!` and `~` are not: such a glob excludes nothing.
    """
    folder, _, name = path.rpartition(os.sep)
    return () in _step(_below(folder, tuple(globs)), name)


@lru_cache(maxsize=1_000)  # many rules stand in few folders
def _below(folder: str, globs: tuple[str, ...]) -> frozenset[Rest]:
    """What of the globs a path in this folder has yet to match."""
    rests = _opened(tuple(glob.split("/")) for glob in globs)
    for part in folder.split(os.sep):
        rests = _step(rests, part)
    return rests


def _step(rests: Iterable[Rest], part: str) -> frozenset[Rest]:
    """Follows all readings of `**` at once: a search with a way back takes exponential time."""
    going_on = {rest for rest in rests if rest[:1] == ("**",)}
    others = (rest for rest in rests if rest and rest[0] != "**")
    return _opened(going_on.union(rest[1:] for rest in others if fnmatchcase(part, rest[0])))


def _opened(rests: Iterable[Rest]) -> frozenset[Rest]:
    """These, and what is left of each where its `**` stands for no folder at all."""
    opened = set(rests)
    for rest in list(opened):
        depth = 0
        while rest[depth : depth + 1] == ("**",):
            depth += 1
            opened.add(rest[depth:])
    return frozenset(opened)
