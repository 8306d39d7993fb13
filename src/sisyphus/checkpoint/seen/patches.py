"""What a patch changes, line by line. Pure."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_HUNKS = 200
_LINES = 10**9


class Change:
    """`removed` lines from line `old` on became `added` lines from line `new` on."""

    __slots__ = ("added", "new", "old", "removed")

    def __init__(self, old: int, new: int) -> None:
        self.old = old
        self.new = new
        self.removed = 0
        self.added = 0


def changes(patch: object) -> list[Change]:
    """The changes in a patch, without the lines around them that it holds for context."""
    hunks = patch if isinstance(patch, list) else []
    return [change for hunk in hunks[:_HUNKS] for change in _of_hunk(hunk)]


def _of_hunk(hunk: object) -> Iterator[Change]:
    if not isinstance(hunk, dict) or not isinstance(hunk.get("lines"), list):
        return
    old, new = _line(hunk.get("oldStart")), _line(hunk.get("newStart"))
    open_change: Change | None = None
    for line in hunk["lines"]:
        sign = line[:1] if isinstance(line, str) else "\\"
        if sign in ("+", "-"):
            open_change = open_change or Change(old, new)
            open_change.added += sign == "+"
            open_change.removed += sign == "-"
        elif sign != "\\" and open_change:
            yield open_change
            open_change = None
        old += sign not in ("+", "\\")
        new += sign not in ("-", "\\")
    if open_change:
        yield open_change


def moved(line: int, made: Sequence[Change]) -> int:
    """Where a line is after the changes, which are in the order of the file."""
    shift = 0
    for change in made:
        if line < change.old:
            break
        if line < change.old + change.removed:
            return change.new + min(line - change.old, max(change.added - 1, 0))
        shift = change.new + change.added - change.old - change.removed
    return max(line + shift, 1)


def _line(value: object) -> int:
    return value if type(value) is int and 0 < value < _LINES else 1
