"""Tells prose from code, HTML comments and block quotes in a Markdown text. Plans, promises and
includes of rules count in prose alone.

It follows the block rules of CommonMark that matter here, but for two: raw HTML such as `<details>`
hides nothing, and a code block inside a code block is nested as its writer means it. It reads the
text once, in linear time.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator
from enum import Enum
from functools import cached_property

from sisyphus.ground.record import Record

_TAB = 4
_CODE_INDENT = 4
_MAX_DEPTH = 1_000
"""The most nested list items: a hostile line could open a million."""

_ITEM = re.compile(r"(?:[-*+]|[0-9]{1,9}[.)])(?=\s|$)")
_PLAIN_ITEM = re.compile(r"[-*+] (?=[^\s\-*+0-9`~<>#_])[^\t]*$")  # most lines of most plans
_BREAK = re.compile(r"(?:(?:-\s*){3,}|(?:\*\s*){3,}|(?:_\s*){3,})$")
_FENCE = re.compile(r"(`{3,})[^`]*$|(~{3,})")
_FENCE_LINE = re.compile(
    r"(?m)^[ \t>]*+(?:(?:[-*+]|[0-9]{1,9}[.)])[ \t]++)*+(`{3,}+|~{3,}+)[ \t]*+([^`\n]*+)$"
)
_MAX_FENCES = 1_000
"""How many fences we look ahead for the end of a code block."""

_HEADING = re.compile(r"#{1,6}(?:\s|$)")
_INLINE = re.compile(r"\\.|`+|<!--")


class Kind(Enum):
    BLANK = "blank"
    TEXT = "text"
    HEADING = "heading"
    CODE = "code"
    COMMENT = "comment"
    QUOTE = "quote"


class Line(Record, is_frequent=True):
    """One line.

    number: counts from 1. text: the whole line, without its end.
    content: the text after indentation and list markers.
    item: the marker of the list item that starts here; "" = none does.
    indent: the column of that marker or, without one, of the content.
    depth: how many list items contain the line, with the one that starts here.
    """

    number: int
    text: str
    kind: Kind
    content: str = ""
    item: str = ""
    indent: int = 0
    depth: int = 0

    @property
    def is_prose(self) -> bool:
        return self.kind in (Kind.TEXT, Kind.HEADING)


def lines(text: str) -> Iterator[Line]:
    """Yields every line of a document, with its kind. Any line ends are accepted."""
    text = plain(text)
    reader = _Reader(text)
    for number, line in enumerate(text.split("\n"), 1):
        yield reader.read(number, line)


def is_unclosed(block: list[Line]) -> bool:
    """Tells whether the code block or comment with which a document ends was never closed. block:
    its lines."""
    first, last = block[0], block[-1].text.strip()
    if first.kind is Kind.COMMENT:
        return "-->" not in last
    fence = _FENCE.match(first.content)
    mark = (fence[1] or fence[2]) if fence else ""
    is_closed = len(block) > 1 and last.startswith(mark) and set(last) == {mark[:1]}
    return bool(mark) and not is_closed


def plain(text: str) -> str:
    """Returns the text with `\\n` as line ends and without a byte order mark."""
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


def visible(text: str, code: str = " ") -> str:
    """Returns the text with blanks in place of everything that is not prose, including code spans
    and inline comments. Each character has the place that it has in `plain(text)`.

    code: the character in place of each one of a code span.
    """
    blanked: list[str] = []
    block: list[str] = []  # lines that may share a code span
    for line in lines(text):
        if block and (line.item or line.kind is not Kind.TEXT):
            blanked.append(without_spans("\n".join(block), code))
            block = []
        if line.is_prose:
            block.append(line.text)
        else:
            blanked.append(" " * len(line.text))
    return "\n".join([*blanked, without_spans("\n".join(block), code)] if block else blanked)


def without_spans(block: str, code: str = " ") -> str:
    """Returns lines of one paragraph with blanks in place of comments, and `code` in place of code
    spans. Each character keeps its place."""
    parts = []
    position = 0
    for start, end in _spans(block):
        mark = code if block[start] == "`" else " "
        parts += [block[position:start], re.sub(r"[^\n]", mark, block[start:end])]
        position = end
    return "".join([*parts, block[position:]])


def _spans(block: str) -> Iterator[tuple[int, int]]:
    """Yields where code spans and comments start and end. A span ends at a run of equally many
    backticks. Linear in the text."""
    ends: dict[str, list[int]] = {}
    for run in re.finditer("`+", block):
        ends.setdefault(run[0], []).append(run.end())
    last_comment_end = block.rfind("-->")
    position = 0
    while token := _INLINE.search(block, position):
        end = 0
        if token[0] == "<!--" and token.end() <= last_comment_end:
            end = block.index("-->", token.end()) + len("-->")
        elif token[0][0] == "`":
            later = ends[token[0]]
            index = bisect_right(later, token.end())
            end = later[index] if index < len(later) else 0
        if end:
            yield token.start(), end
        position = end or token.end()


class _Reader:
    """Reads one line after the other, and remembers what is still open."""

    def __init__(self, text: str) -> None:
        self._columns: list[int] = []  # the column of the text of each open list item
        self._fence = ""  # the fence of the open code block
        self._fence_ends = 0  # the line on which it ends, if others are in it; 0 = the first fence
        self._fences = _Fences(text)
        self._is_in_comment = False
        self._paragraph: Kind | None = None  # the kind of the open paragraph

    def read(self, number: int, text: str) -> Line:
        if not (self._fence or self._is_in_comment) and _PLAIN_ITEM.match(text):
            self._columns, self._paragraph = [2], Kind.TEXT
            return Line(number, text, Kind.TEXT, text[2:], text[0], 0, 1)
        line = text.expandtabs(_TAB)
        content = line.lstrip(" ")
        indent = len(line) - len(content)
        if self._is_in_comment:
            self._is_in_comment = "-->" not in content
            return Line(number, text, Kind.COMMENT)
        if not content:
            self._paragraph = None
            return Line(number, text, Kind.CODE if self._fence else Kind.BLANK)
        if self._fence:
            return self._read_in_fence(number, text, content, indent)
        self._leave_items(indent, content)
        return self._start_line(number, text, content, indent)

    def _read_in_fence(self, number: int, text: str, content: str, indent: int) -> Line:
        """Reads a line of a code block, which ends with its closing fence or its list item."""
        if self._columns and indent < self._columns[-1]:
            self._fence = ""
            self._leave_items(indent, content)
            return self._start_line(number, text, content, indent)
        bare = content.rstrip()
        is_end = bare.startswith(self._fence) and set(bare) == {self._fence[0]}
        if is_end and number >= self._fence_ends:
            self._fence = ""
        return Line(number, text, Kind.CODE)

    def _leave_items(self, indent: int, content: str) -> None:
        """Ends the list items whose text is indented more than the line, unless it continues the
        paragraph of the last one."""
        if self._paragraph and not _starts_block(content):
            return
        while self._columns and indent < self._columns[-1]:
            self._columns.pop()
            self._paragraph = None

    def _start_line(self, number: int, text: str, content: str, indent: int) -> Line:
        """Strips list markers from a line and classifies the rest."""
        marker, column = "", indent
        start = self._columns[-1] if self._columns else 0
        room = _room_of_break(content)
        while indent - start < _CODE_INDENT and (item := self._match_item(content, room)):
            marker, column, self._paragraph = item[0], indent, None
            rest = content[item.end() :]
            content = rest.lstrip(" ")
            blanks = len(rest) - len(content)
            indent += item.end() + blanks
            # If an item starts with indented code, its text starts one blank after the marker.
            start = indent if blanks <= _CODE_INDENT else indent - blanks + 1
            self._columns.append(start)
        is_code = indent - start >= _CODE_INDENT
        kind = (self._paragraph or Kind.CODE) if is_code else self._classify(number, content)
        return Line(number, text, kind, content, marker, column, len(self._columns))

    def _match_item(self, content: str, room: int) -> re.Match[str] | None:
        """room: see `_room_of_break`."""
        is_break = len(content) <= room and _BREAK.match(content)
        return None if is_break or len(self._columns) >= _MAX_DEPTH else _ITEM.match(content)

    def _classify(self, number: int, content: str) -> Kind:
        """Returns the kind of a line without its list markers, and opens or closes a block."""
        if fence := _FENCE.match(content):
            self._fence, self._paragraph = fence[1] or fence[2], None
            self._fence_ends = self._fences.end_of(number, self._fence)
            return Kind.CODE
        if content.startswith("<!--"):
            self._is_in_comment, self._paragraph = "-->" not in content[4:], None
            return Kind.COMMENT
        if _HEADING.match(content):
            self._paragraph = None
            return Kind.HEADING
        if content.startswith(">"):
            self._paragraph = Kind.QUOTE if content.strip("> ") else None
            return Kind.QUOTE
        if not content or _BREAK.match(content):
            self._paragraph = None
            return Kind.TEXT
        self._paragraph = self._paragraph or Kind.TEXT
        return self._paragraph


class _Fences:
    """The lines of a text that may open or close a code block."""

    def __init__(self, text: str) -> None:
        self._text = text

    @cached_property
    def _lines(self) -> list[tuple[int, str, bool]]:
        """Of each its number, its fence, and whether words follow it."""
        lines = []
        number, position = 1, 0
        for fence in _FENCE_LINE.finditer(self._text):
            number += self._text.count("\n", position, fence.start())
            position = fence.start()
            lines.append((number, fence[1], bool(fence[2].strip())))
        return lines

    def end_of(self, number: int, fence: str) -> int:
        """Returns the line on which a code block ends that has others in it: a fence with words
        behind it opens one. 0 = it has none, or its end is nowhere in sight.

        number, fence: of the line that opens it.
        """
        start = bisect_right(self._lines, number, key=lambda each: each[0])
        open_ = [fence]
        for line, each, opens in self._lines[start : start + _MAX_FENCES]:
            if opens and each.startswith(fence):
                open_.append(each)
            elif not opens and each.startswith(open_[-1]):
                open_.pop()
                if not open_:
                    return line
        return 0


def _room_of_break(content: str) -> int:
    """Returns how many characters at the end of a line may be a thematic break. It is known before
    the markers are read, so that each of a thousand does not search the rest of the line."""
    bare = content.rstrip()
    mark = bare[-1:]
    return len(content) - len(bare.rstrip(f"{mark} ")) if mark in ("-", "*", "_") else 0


def _starts_block(content: str) -> bool:
    return bool(
        content.startswith((">", "<!--"))
        or _ITEM.match(content)
        or _FENCE.match(content)
        or _HEADING.match(content)
        or _BREAK.match(content)
    )
