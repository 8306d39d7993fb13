"""What the lines of a Markdown plan are: boxes in list items, headings, or nothing that counts.

The block rules are CommonMark's as far as they decide whether a box is a task: containers of list
items, fences, indented code, comments, block quotes, continuation lines. A plan is written by hand,
and a task that is overlooked ends it too early; so four readings are more lenient: a fence ends at
its closer even where its list item has ended, a comment may begin in mid-line and span items, a
numbered item may follow a paragraph with any number, raw HTML such as `<details>` hides nothing.
"""

from __future__ import annotations

import io
import re
from bisect import bisect_right

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

_TAB_STOP = 4
_CODE_INDENT = 4
_QUOTE = ">"  # stands for a paragraph in a block quote: it may go on without its marker
_MARKERS_ON_A_LINE = 8  # `- - - - …` of 5 MB must not open a million items

_START = re.compile(
    r" *+(?:(?P<rule>(?:(?:- *+){3,}+|(?:\* *+){3,}+|(?:_ *+){3,}+)$)"
    r"|(?P<item>(?:[-+*]|[0-9]{1,9}[.)])(?= |$))|(?P<fence>`{3,}|~{3,})|(?P<quote>>)"
    r"|(?P<heading>#{1,6}(?= |$))|(?P<comment><!--))?"
)
_BOX = re.compile(r"\[([ xX~!/>-])\](?= |$)")
_PLAIN_TASK = re.compile(r"[-+*] \[([ xX~!/>-])\](?: (.*)|$)")
_PLAIN_HEADING = re.compile(r"(#{1,6}) ([^#<\t\n]*)\n?")
_UNDERLINE = re.compile(r" *(?:=+|-+) *$")
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
            found = reader.read(line)
            if found is not None:
                yield found


class _Reader:
    """Where the lines so far have left the document."""

    __slots__ = (
        "_boxed", "_columns", "_comment", "_fence", "_fence_column", "_line", "_paragraph",
        "_paragraph_line", "_text", "source",
    )  # fmt: skip

    def __init__(self, text: str, first_line: int) -> None:
        self.source = io.StringIO(text)
        self._text = text
        self._line = first_line - 1
        self._columns: list[int] = []  # where the contents of the open list items begin
        self._boxed: list[bool] = []  # whether each of them has a box or is below one that has
        self._paragraph = ""  # first line of the paragraph that the next line may continue
        self._paragraph_line = 0  # where a paragraph begins that can become a heading
        self._fence = ""  # what must close it
        self._fence_column = 0  # where the content of its item begins
        self._comment = False

    def read(self, raw: str) -> Box | Heading | None:
        self._line += 1
        if self._comment:
            self._comment = "-->" not in raw
        elif self._fence:
            self._close_fence(raw.expandtabs(_TAB_STOP))
        elif (task := _PLAIN_TASK.match(raw)) and "<!--" not in raw:
            return self._plain_task(task)
        elif raw[0] == "#" and (heading := _PLAIN_HEADING.fullmatch(raw)):
            self._columns, self._boxed, self._paragraph = [], [], ""
            return Heading(len(heading[1]), heading[2].strip(), self._line)
        elif raw.isspace():
            self._paragraph = ""
        else:
            return self._block(raw.expandtabs(_TAB_STOP) if "\t" in raw else raw, raw)
        return None

    def _close_fence(self, line: str) -> None:
        shown = line.strip()
        is_closer = shown.startswith(self._fence) and not shown.strip(self._fence[0])
        if is_closer and line.index(self._fence) - self._fence_column < _CODE_INDENT:
            self._fence = ""

    def _plain_task(self, task: re.Match[str]) -> Box:
        """The usual line, at the margin: whatever was open, it begins a task. A short way only."""
        self._columns, self._boxed = [2], [True]
        text = (task[2] or "").strip()
        self._paragraph = text or "[ ]"
        return Box(_STATUS[task[1]], text, self._line, is_step=False)

    def _block(self, line: str, raw: str) -> Box | Heading | None:
        """Finds the container of a line, then whether the line begins a block in it."""
        start = _begin(line)
        indent = start.start(start.lastgroup) if start.lastgroup else start.end()
        depth = bisect_right(self._columns, indent)
        is_code = indent - (self._columns[depth - 1] if depth else 0) >= _CODE_INDENT
        if self._paragraph:
            if not is_code and depth == len(self._columns) and self._is_underline(line):
                return self._underlined(line)
            if is_code or not self._interrupts(start, line, depth):
                self._watch_comment(line)
                return None
        del self._columns[depth:], self._boxed[depth:]
        self._paragraph = ""
        return None if is_code else self._open(start, line, raw)

    def _interrupts(self, start: re.Match[str], line: str, depth: int) -> bool:
        """Whether the block ends a paragraph before it: an item without content does not."""
        if start.lastgroup == "item" and depth == len(self._columns):
            return bool(line[start.end() :].strip())
        return start.lastgroup is not None

    def _is_underline(self, line: str) -> bool:
        return self._paragraph is not _QUOTE and _UNDERLINE.match(line) is not None

    def _underlined(self, line: str) -> Heading | None:
        text, self._paragraph = self._paragraph, ""
        level = 1 if "=" in line else 2
        return None if self._columns else Heading(level, text, self._paragraph_line)

    def _open(self, start: re.Match[str], line: str, raw: str) -> Box | Heading | None:
        """The block that begins at `start`; several items may begin in one line."""
        for _ in range(_MARKERS_ON_A_LINE):
            if start.lastgroup != "item":
                return self._leaf(start, line)
            content = self._begin_item(start.end(), line)
            if not content:
                return None
            if box := _BOX.match(line, content):
                return self._box(box, line, raw, number=start["item"][:-1])
            start = _begin(line, content)
        return None

    def _begin_item(self, end: int, line: str) -> int:
        """Opens the item whose marker ends at `end`; returns the column of its text, 0 for none."""
        rest = line[end:]
        shown = rest.lstrip(" ")
        spaces = len(rest) - len(shown)
        has_text = spaces <= _CODE_INDENT and shown not in ("", "\n")
        self._boxed.append(bool(self._boxed) and self._boxed[-1])
        self._columns.append(end + spaces if has_text else end + 1)
        return end + spaces if has_text else 0

    def _box(self, box: re.Match[str], line: str, raw: str, number: str) -> Box:
        is_step, self._boxed[-1] = self._boxed[-1], True
        text = (line[box.end() :] if line is raw else raw[raw.index("]") + 1 :]).strip()
        self._paragraph = text or "[ ]"
        self._watch_comment(line)
        return Box(_STATUS[box[1]], text, self._line, is_step, number)

    def _leaf(self, start: re.Match[str], line: str) -> Heading | None:
        kind, end = start.lastgroup, start.end()
        if kind == "heading":
            self._watch_comment(line)
            text = line[end:].strip()
            if text.endswith("#"):
                text = _CLOSING_HASHES.sub("", text).strip()
            level = len(start["heading"])
            return None if self._columns else Heading(level, text, self._line)
        if kind == "quote":
            self._paragraph = _QUOTE if line[end:].strip("> \n") else ""
        elif kind == "comment":
            self._comment = "-->" not in line[start.start(kind) :]
        elif kind == "fence" and not (start[kind][0] == "`" and "`" in line[end:]):
            self._fence = start[kind]
            self._fence_column = self._columns[-1] if self._columns else 0
        elif kind in (None, "fence"):
            self._paragraph = line[start.start(kind or 0) :].strip()
            self._paragraph_line = self._line
            self._watch_comment(line)
        return None

    def _watch_comment(self, line: str) -> None:
        """A comment that begins in mid-line counts if it is closed before another one begins."""
        if "<!--" in line and _ends_in_comment(line):
            mark = _COMMENT_MARK.search(self._text, self.source.tell())
            self._comment = mark is not None and mark[0] == "-->"


def _begin(line: str, position: int = 0) -> re.Match[str]:
    start = _START.match(line, position)
    if start is None:
        raise AssertionError("the pattern matches any text")
    return start


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
