"""Which rules cover a file, and in which order they go out. Pure."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from sisyphus.rules.globs import Compiled


def decisive(patterns: Sequence[Compiled], path: str) -> int | None:
    """The index of the last pattern that matches `path`; None where none does.

    `path` is relative to the project, with forward slashes.
    """
    marked = f"/{path}/"
    for index in range(len(patterns) - 1, -1, -1):
        _, literal, regex = patterns[index]
        if literal in marked and (not regex or _fits(regex, path)):
            return index
    return None


def _fits(regex: str, path: str) -> bool:
    import re

    return re.search(regex, path) is not None


def covers(patterns: Sequence[Compiled] | None, path: str) -> bool:
    """Whether the last match includes `path`; None stands for every file."""
    if patterns is None:
        return True
    index = decisive(patterns, path)
    return index is not None and patterns[index][0]


def order(priority: float, source: int, label: str) -> tuple[float, int, str]:
    """Sort key: higher priority first, then the order of the sources, then the name."""
    return -priority, source, label
