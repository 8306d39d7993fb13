"""How rows of text are put on a terminal: colours, bars and marks, within its width. Pure."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Paint = Callable[[str], str]
    Part = tuple[str, Paint]
    Row = Sequence[Part]

WIDTH = 80
LEAST_WIDTH = 24
"""A narrower terminal wraps."""

DONE, CURRENT, BEGUN, BLOCKED, PENDING = "done", "current", "begun", "blocked", "pending"

_MARKS = {DONE: "✓", CURRENT: "▸", BEGUN: "◐", BLOCKED: "✗", PENDING: "○"}
_ASCII_MARKS = {DONE: "x", CURRENT: ">", BEGUN: "/", BLOCKED: "!", PENDING: "."}


def plain(text: str) -> str:
    return text


class Style:
    """What a terminal can show. Each paint takes a text and returns it with its colour."""

    __slots__ = ("bold", "dash", "dim", "dots", "green", "is_ascii", "marks", "yellow")

    def __init__(
        self,
        *,
        bold: Paint = plain,
        dim: Paint = plain,
        green: Paint = plain,
        yellow: Paint = plain,
        is_ascii: bool = False,
    ) -> None:
        self.bold = bold
        self.dim = dim
        self.green = green
        self.yellow = yellow
        self.is_ascii = is_ascii
        self.dash = "-" if is_ascii else "—"
        self.dots = "..." if is_ascii else "…"
        self.marks = _ASCII_MARKS if is_ascii else _MARKS

    def bar(self, done: int, total: int, size: int) -> str:
        """`size` characters; it is full only where all is done."""
        length = size - 2 if self.is_ascii else size
        filled = length * min(max(done, 0), total) // total if total > 0 else 0
        if self.is_ascii:
            return f"[{'#' * filled}{'-' * (length - filled)}]"
        return "█" * filled + "░" * (length - filled)

    def cut(self, text: str, width: int) -> str:
        if len(text) <= width:
            return text
        return text[: max(width - len(self.dots), 0)].rstrip() + self.dots

    def cut_start(self, text: str, width: int) -> str:
        """Without its beginning, where a path says the least."""
        if len(text) <= width:
            return text
        return self.dots + text[len(text) - max(width - len(self.dots), 0) :]

    def wrapped(self, text: str, width: int, most: int) -> list[str]:
        """At most `most` lines of `text`; one that is empty where it says nothing."""
        import textwrap

        return textwrap.wrap(text, width, max_lines=most, placeholder=self.dots) or [""]

    def fit(self, row: Row, width: int) -> str:
        """The parts side by side, painted, in no more than `width` characters."""
        length = sum(len(text) for text, _ in row)
        room = width if length <= width else width - len(self.dots)
        painted = []
        for text, paint in row:
            if shown := text[:room]:
                painted.append(paint(shown))
            room -= len(shown)
        return "".join(painted) + (self.dots if length > width else "")


PLAIN = Style()
