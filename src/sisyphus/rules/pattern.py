"""A compiled glob, and the match of a path with some. On the quick path: `re` is loaded when the
first regex is tried, and the literal of a pattern excludes most paths before that."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

MAX_PATH = 1_000
MAX_NAME = 255
"""The most characters of a path, and of a name in it. What is longer matches no pattern: a regex
would try too many ways to split it (see `globs.MAX_STARS`)."""


class Pattern(tuple[str, bool, str, str]):
    """A compiled glob: as written, whether it includes, a literal and a regex.

    A path matches if both are in it; an empty regex means that the literal is enough. It is a
    tuple, so that it can be stored as JSON.
    """

    __slots__ = ()

    @property
    def glob(self) -> str:
        """Returns the glob as written."""
        return self[0]

    @property
    def includes(self) -> bool:
        """Tells whether the glob includes files. One that starts with `!` excludes them."""
        return self[1]


def last_match(patterns: Sequence[Pattern], path: str) -> Pattern | None:
    """Returns the last pattern that matches a path, which is relative and has forward slashes."""
    if len(path) > MAX_PATH or any(len(name) > MAX_NAME for name in path.split("/")):
        return None
    marked = f"/{path}/"
    for pattern in reversed(patterns):
        _, _, literal, regex = pattern
        if literal in marked and (not regex or _is_found(regex, path)):
            return pattern
    return None


def _is_found(regex: str, path: str) -> bool:
    import re

    return re.search(regex, path) is not None
