"""What the lines of a Markdown plan are: boxes in list items, headings, or nothing that counts.

A plan is written by hand, and a task that is overlooked ends it too early; so two readings are
more lenient than CommonMark's: a fence ends at its closer even where its list item has ended, and
a comment may begin in mid-line and span items.
"""

from __future__ import annotations

import io
import re

from sisyphus.markdown import CONTINUED, HEADING, TEXT, UNDERLINE, Scanner

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

OPEN, COMPLETED, BLOCKED = "open", "completed", "blocked"
IN_PROGRESS, CANCELLED = "in_progress", "cancelled"

_STATUS = {
    " ": OPEN,
    "x": COMPLETED,
    "X": COMPLETED,
    "~": BLOCKED,
    "!": BLOCKED,
    "/": IN_PROGRESS,
    ">": IN_PROGRESS,
    "-": CANCELLED,
}

_BOX = re.compile(r"\[([ xX~!/>-])\](?= |$)")
_PLAIN_TASK = re.compile(r"[-+*] \[([ xX~!/>-])\](?: (.*)|$)")
_PLAIN_HEADING = re.compile(r"(#{1,6}) ([^#<\t\n]*)\n?")
_CLOSING_HASHES = re.compile(r"(?:^|(?<= ))#+$")
_COMMENT_MARK = re.compile(r"<!--|-->")
_INLINE_MARK = re.compile(r"`+|<!--|-->")


class Box:
    """A list item with a box. A step is one below another such item."""

    __slots__ = ("is_step", "line", "number", "status", "text")

    def __init__(self, status: str, text: str, line: int, is_step: bool, number: str = "") -> None:
        self.status = status
        self.text = text  # Markdown, without marker and box
        self.line = line  # from 1
        self.is_step = is_step
        self.number = number  # of the item, as it is written; "" behind a bullet


class Heading:
    """A heading that no list item holds."""

    __slots__ = ("level", "line", "text")

    def __init__(self, level: int, text: str, line: int) -> None:
        self.level = level
        self.text = text
        self.line = line  # from 1, the first one where it is underlined


class Lines:
    """The boxes and top-level headings of a text whose line ends are all "\n", in file order."""

    __slots__ = ("_first_line", "_text")

    def __init__(self, text: str, first_line: int = 1) -> None:
        self._text = text
        self._first_line = first_line

    def __iter__(self) -> Iterator[Box | Heading]:
        reader = _Reader(self._text, self._first_line)
        for line in reader.source:
            found = reader.next_part(line)
            if found is not None:
                yield found


class _Reader(Scanner):
    """Where the lines so far have left the plan."""

    __slots__ = ("_boxed", "_item", "_item_line", "_line", "_paragraph_line", "_text", "source")

    FENCE_ENDS_WITH_ITEM = False

    _item: re.Match[str]

    def __init__(self, text: str, first_line: int) -> None:
        super().__init__()
        self.source = io.StringIO(text)
        self._text = text
        self._line = first_line - 1
        self._boxed: list[bool] = []  # for each open item: it has a box or is below one that has
        self._item_line = 0  # where the last item begins
        self._paragraph_line = 0  # where a paragraph begins that can become a heading

    def next_part(self, raw: str) -> Box | Heading | None:
        self._line += 1
        if not self.in_comment and not self.fence:
            if (task := _PLAIN_TASK.match(raw)) and "<!--" not in raw:
                return self._plain_task(task)
            if raw[0] == "#" and (heading := _PLAIN_HEADING.fullmatch(raw)):
                self.columns, self._boxed, self.paragraph = [], [], ""
                return Heading(len(heading[1]), heading[2].strip(), self._line)
        kind = self.read(raw)
        if kind == UNDERLINE:
            level = 1 if "=" in raw else 2
            return None if self.columns else Heading(level, self.underlined, self._paragraph_line)
        if "<!--" in raw and kind in (TEXT, HEADING, CONTINUED):
            self._watch_comment(self.line)
        if kind == TEXT:
            self._paragraph_line = self._line
            return self._box(raw) if self._item_line == self._line else None
        return self._heading() if kind == HEADING and not self.columns else None

    def _plain_task(self, task: re.Match[str]) -> Box:
        """The usual line, at the margin: whatever was open, it begins a task. A short way only."""
        self.columns, self._boxed = [2], [True]
        text = (task[2] or "").strip()
        self.paragraph = text or "[ ]"
        return Box(_STATUS[task[1]], text, self._line, is_step=False)

    def begin_item(self, marker: re.Match[str], line: str) -> int:
        del self._boxed[len(self.columns) :]
        self._boxed.append(bool(self._boxed) and self._boxed[-1])
        self._item, self._item_line = marker, self._line
        return super().begin_item(marker, line)

    def _box(self, raw: str) -> Box | None:
        box = _BOX.match(self.line, self.start.end())
        if box is None or self.start.lastgroup:
            return None
        is_step, self._boxed[-1] = self._boxed[-1], True
        text = self.line[box.end() :] if self.line is raw else raw[raw.index("]") + 1 :]
        return Box(_STATUS[box[1]], text.strip(), self._line, is_step, self._item["item"][:-1])

    def _heading(self) -> Heading:
        text = self.line[self.start.end() :].strip()
        if text.endswith("#"):
            text = _CLOSING_HASHES.sub("", text).strip()
        return Heading(len(self.start["heading"]), text, self._line)

    def _watch_comment(self, line: str) -> None:
        """A comment that begins in mid-line counts if it is closed before another one begins."""
        if _ends_in_comment(line):
            mark = _COMMENT_MARK.search(self._text, self.source.tell())
            self.in_comment = mark is not None and mark[0] == "-->"


def _ends_in_comment(line: str) -> bool:
    marks = [mark[0] for mark in _INLINE_MARK.finditer(line)]
    last = {mark: position for position, mark in enumerate(marks)}
    code, in_comment = "", False
    for position, mark in enumerate(marks):
        if in_comment:
            in_comment = mark != "-->"
        elif code:
            code = "" if mark == code else code
        elif mark[0] == "`":
            code = mark if last[mark] > position else ""
        else:
            in_comment = mark == "<!--"
    return in_comment
