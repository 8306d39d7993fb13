"""What a Markdown message says itself, and what it only shows: code, comments, quotations.

The block rules are CommonMark's as far as they decide this: containers of list items, fences,
indented code, comments, block quotes and the lines that lazily continue them. One pass, linear.
"""

from __future__ import annotations

import re

HIDDEN = "\0"

_TAB_STOP = 4
_CODE_INDENT = 4
_MARKERS_ON_A_LINE = 8  # `- - - - …` of 5 MB must not open a million items

_VISIBLE = re.compile(r"\S")
_START = re.compile(
    r"(?P<indent>[ \t]*)(?:"
    r"(?P<fence>`{3,}(?=[^`\n]*$)|~{3,})"
    r"|(?P<quote>>)"
    r"|(?P<comment><!--)"
    r"|(?P<item>(?:[-+*]|[0-9]{1,9}[.)])(?=[ \t]|$))"
    r"|(?P<heading>\#{1,6}(?=[ \t]|$)))?",
    re.MULTILINE,
)
_INLINE = re.compile(r"\\.|`+|<!--", re.DOTALL)
# Lines that can only go on with what is before them; possessive, so that millions cost no memory.
_PLAIN_LINES = re.compile(r"(?:\n[ \t]*+[^\s`~<>+*#0-9-][^\n]*+)++")
_NO_PARAGRAPH = re.compile(r"[ \t]*(?:#{1,6}(?:[ \t]|$)|```|~~~|$)", re.MULTILINE)


class Said:
    """A message with everything that it only shows blotted out.

    `text` has the length of `source`: `HIDDEN` stands for each hidden character. `begins` holds
    where paragraphs, items and headings begin, in rising order.
    """

    __slots__ = ("begins", "source", "text")

    def __init__(self, source: str, text: str, begins: list[int]) -> None:
        self.source = source
        self.text = text
        self.begins = begins


def read(message: str, *, hides_quotes: bool = True) -> Said:
    """Line ends become "\\n"; a NUL, which `HIDDEN` needs, becomes U+FFFD."""
    source = message.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\ufffd")
    reader = _Reader(source, hides_quotes=hides_quotes)
    position = 0
    while visible := _VISIBLE.search(source, position):
        start = source.rfind("\n", position, visible.start()) + 1 or position
        end = source.find("\n", visible.start())
        is_apart = source.count("\n", position, start) > 1
        position = reader.read(start, len(source) if end < 0 else end, is_apart=is_apart)
    hidden = reader.hidden + [
        span for begin, end in reader.blocks for span in _hidden_inline(source, begin, end)
    ]
    return Said(source, _blot(source, sorted(hidden)), [begin for begin, _ in reader.blocks])


class _Reader:
    """Where the lines so far have left the message."""

    __slots__ = (
        "_base", "_fence", "_hides_quotes", "_is_open", "_is_quoted", "_items", "_source", "blocks",
        "hidden",
    )  # fmt: skip

    def __init__(self, source: str, *, hides_quotes: bool) -> None:
        self._source = source
        self._hides_quotes = hides_quotes
        self._items: list[int] = []  # columns at which the text of the open list items begins
        self._is_open = False  # a paragraph that the next line may continue
        self._is_quoted = False  # that paragraph stands in a block quote
        self._fence = ""  # what must close it
        self._base = 0  # column of the fence's container
        self.blocks: list[tuple[int, int]] = []
        self.hidden: list[tuple[int, int]] = []

    def read(self, start: int, end: int, *, is_apart: bool) -> int:
        """Takes in one line that is not blank; returns where to read on."""
        found = _start(self._source, start)
        column = _columns(found["indent"])
        if self._fence and self._stays_in_fence(found, column, end):
            self.hidden.append((start, end))
            return end
        if is_apart:
            self._is_open = self._is_quoted = False
        if self._is_open and self._continues(found, column):
            return self._continue(start, end)
        while self._items and column < self._items[-1]:
            self._items.pop()
        if column - (self._items[-1] if self._items else 0) >= _CODE_INDENT:
            self._is_open = False
            self.hidden.append((start, end))
            return end
        return self._begin(found, column, end)

    def _stays_in_fence(self, found: re.Match[str], column: int, end: int) -> bool:
        """Whether the line belongs to the open fence, which it may close or whose item it ends."""
        if column < self._base:
            self._fence = ""
            return False
        shown = self._source[found.end("indent") : end].rstrip()
        is_closer = shown.startswith(self._fence) and not shown.strip(self._fence[0])
        if is_closer and column - self._base < _CODE_INDENT:
            self._fence = ""
        return True

    def _continues(self, found: re.Match[str], column: int) -> bool:
        base = self._items[-1] if self._items else 0
        return found.lastgroup == "indent" or column - base >= _CODE_INDENT

    def _continue(self, start: int, end: int) -> int:
        plain = _PLAIN_LINES.match(self._source, end)
        end = plain.end() if plain else end
        if self._is_quoted:
            self.hidden.append((start, end))
        else:
            self.blocks[-1] = (self.blocks[-1][0], end)
        return end

    def _begin(self, found: re.Match[str], column: int, end: int) -> int:
        """Opens the block at the start of a line; several items may begin in one line."""
        for _ in range(_MARKERS_ON_A_LINE):
            if found.lastgroup != "item":
                break
            column = self._open_item(found, column, end)
            found = _start(self._source, found.end())
        return self._open(found, end)

    def _open_item(self, found: re.Match[str], column: int, end: int) -> int:
        """Returns the column at which the item's text begins."""
        after = found.end()
        text = len(self._source[after:end]) - len(self._source[after:end].lstrip(" \t"))
        is_bare = after + text >= end or text > _CODE_INDENT
        column += len(found["item"]) + (1 if is_bare else text)
        self._items.append(column)
        return column

    def _open(self, found: re.Match[str], end: int) -> int:
        start = found.end("indent")
        kind = found.lastgroup
        self._is_open = kind in ("indent", "item") and start < end
        self._is_quoted = False
        if kind == "comment":
            return self._comment(start)
        if kind == "quote":
            self._is_quoted = self._hides_quotes
            (self.hidden if self._is_quoted else self.blocks).append((start, end))
            self._is_open = not _NO_PARAGRAPH.match(self._source, found.end())
        elif kind == "fence":
            self.hidden.append((start, end))
            self._fence = found["fence"]
            self._base = self._items[-1] if self._items else 0
        else:
            self.blocks.append((start, end))
        return end

    def _comment(self, start: int) -> int:
        """A comment that begins its line and is never closed runs to the end of the message."""
        closed = self._source.find("-->", start + 2)  # `<!-->` is a whole comment
        end = closed + 3 if closed >= 0 else len(self._source)
        self.hidden.append((start, end))
        line_end = self._source.find("\n", end)
        line_end = len(self._source) if line_end < 0 else line_end
        if end < line_end:
            self.blocks.append((end, line_end))
        return line_end


def _start(source: str, at: int) -> re.Match[str]:
    found = _START.match(source, at)
    if found is None:
        raise AssertionError("the pattern matches the empty text")
    return found


def _columns(indent: str) -> int:
    return len(indent.expandtabs(_TAB_STOP))


def _hidden_inline(source: str, begin: int, end: int) -> list[tuple[int, int]]:
    """Code spans and comments between `begin` and `end`."""
    if source.find("`", begin, end) < 0 and source.find("<!--", begin, end) < 0:
        return []
    closers = _closers(source, begin, end)
    last_close = source.rfind("-->", begin, end)
    spans = []
    position = begin
    while found := _INLINE.search(source, position, end):
        position = found.end()
        if found[0] == "<!--":
            stop = source.find("-->", position - 2) + 3 if position - 2 <= last_close else 0
        else:
            stop = _next(closers.get(found[0]), position)
        if stop:
            spans.append((found.start(), stop))
            position = stop
    return spans


def _closers(source: str, begin: int, end: int) -> dict[str, list[int]]:
    """For each length of a run of backticks the ends of such runs, the last first."""
    found: dict[str, list[int]] = {}
    for run in re.finditer(r"`+", source[begin:end]):
        found.setdefault(run[0], []).append(begin + run.end())
    return {run: ends[::-1] for run, ends in found.items()}


def _next(ends: list[int] | None, position: int) -> int:
    """The first of `ends` behind `position`; what lies before it is used up. 0 = none."""
    while ends and ends[-1] <= position:
        ends.pop()
    return ends[-1] if ends else 0


def _blot(source: str, hidden: list[tuple[int, int]]) -> str:
    parts = []
    position = 0
    for start, end in hidden:
        parts += [source[position:start], HIDDEN * (end - start)]
        position = end
    return "".join([*parts, source[position:]])
