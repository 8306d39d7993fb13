"""The block rules of CommonMark, as far as they decide what a text says and what it only shows.

`Scanner` says what each line is: containers of list items, fences, indented code, comments, block
quotes and the lines that lazily continue them; a plan is read with it. `read` finds what a message
says itself: code, comments and quotations only show it. One pass, linear. In three places both
are more lenient: a comment that begins its line runs to its end, a numbered item may follow a
paragraph with any number, raw HTML such as `<details>` hides nothing.
"""

from __future__ import annotations

import re
from bisect import bisect_right

HIDDEN = "\0"

BLANK, TEXT, CONTINUED, HEADING, UNDERLINE, RULE = (
    "blank",
    "text",
    "continued",
    "heading",
    "underline",
    "rule",
)
ITEM, FENCE, CODE, QUOTE, COMMENT = "item", "fence", "code", "quote", "comment"

_TAB_STOP = 4
_CODE_INDENT = 4
_MARKERS_ON_A_LINE = 8  # `- - - - …` of 5 MB must not open a million items
_QUOTED = ">"  # stands for a paragraph in a block quote: it may go on without its marker

_START = re.compile(
    r" *+(?:(?P<rule>(?:(?:- *+){3,}+|(?:\* *+){3,}+|(?:_ *+){3,}+)$)"
    r"|(?P<item>(?:[-+*]|[0-9]{1,9}[.)])(?= |$))|(?P<fence>`{3,}|~{3,})|(?P<quote>>)"
    r"|(?P<heading>#{1,6}(?= |$))|(?P<comment><!--))?"
)
_UNDERLINE = re.compile(r" *(?:=+|-+) *$")
# Compiled where they are needed only: each pattern costs a hook a fifth of a millisecond.
_NO_PARAGRAPH = r"#{1,6}(?:\s|$)|```|~~~|\s*$"
_INLINE = r"(?s:\\.|`+|<!--)"
_BLANKS = r"\s+"
_SHOWN = r"\S"


class Scanner:
    """Where the lines so far have left a document.

    `read` takes in the next line and says what it is. Of a line that begins a block, `start` is
    the match of its marker in `line`, the line with its tabs expanded.
    """

    __slots__ = (
        "columns", "fence", "fence_column", "in_comment", "line", "paragraph", "start",
        "underlined",
    )  # fmt: skip

    FENCE_ENDS_WITH_ITEM = True

    start: re.Match[str]

    def __init__(self) -> None:
        self.columns: list[int] = []  # where the contents of the open list items begin
        self.paragraph = ""  # first line of the paragraph that the next line may continue
        self.fence = ""  # what must close it
        self.fence_column = 0  # where the content of its item begins
        self.in_comment = False
        self.line = ""
        self.underlined = ""  # first line of the heading that ends with this line

    @property
    def is_quoted(self) -> bool:
        return self.paragraph is _QUOTED

    def read(self, raw: str) -> str:
        if self.in_comment:
            self.in_comment = "-->" not in raw
            return COMMENT
        line = self.line = raw.expandtabs(_TAB_STOP) if "\t" in raw else raw
        if self.fence and self._stays_in_fence(line):
            return CODE
        if not line or line.isspace():
            self.paragraph = ""
            return BLANK
        return self._block(line)

    def _stays_in_fence(self, line: str) -> bool:
        """Whether the line belongs to the open fence, which it may close or whose item it ends."""
        shown = line.strip()
        if not shown:
            return True
        column = line.index(shown) - self.fence_column
        if column < 0 and self.FENCE_ENDS_WITH_ITEM:
            self.fence = ""
            return False
        is_closer = shown.startswith(self.fence) and not shown.strip(self.fence[0])
        if is_closer and column < _CODE_INDENT:
            self.fence = ""
        return True

    def _block(self, line: str) -> str:
        """Finds the container of a line, then whether the line begins a block in it."""
        start = begin(line)
        indent = start.start(start.lastgroup) if start.lastgroup else start.end()
        depth = bisect_right(self.columns, indent)
        is_code = indent - (self.columns[depth - 1] if depth else 0) >= _CODE_INDENT
        if self.paragraph:
            if not is_code and depth == len(self.columns) and self._is_underline(line):
                self.underlined, self.paragraph = self.paragraph, ""
                return UNDERLINE
            if is_code or not self._interrupts(start, line, depth):
                return CONTINUED
        del self.columns[depth:]
        self.paragraph = ""
        return CODE if is_code else self._open(start, line)

    def _interrupts(self, start: re.Match[str], line: str, depth: int) -> bool:
        """Whether the block ends a paragraph before it: an item without content does not."""
        if (
            start.lastgroup == "item"
            and depth == len(self.columns)
            and self.paragraph is not _QUOTED
        ):
            return bool(line[start.end() :].strip())
        return start.lastgroup is not None

    def _is_underline(self, line: str) -> bool:
        return self.paragraph is not _QUOTED and _UNDERLINE.match(line) is not None

    def _open(self, start: re.Match[str], line: str) -> str:
        """The block that begins at `start`; several items may begin in one line."""
        for _ in range(_MARKERS_ON_A_LINE):
            self.start = start
            if start.lastgroup != "item":
                return self._leaf(start, line)
            content = self.begin_item(start, line)
            if not content:
                return ITEM
            start = begin(line, content)
        return ITEM

    def begin_item(self, marker: re.Match[str], line: str) -> int:
        """Opens the item behind `marker`; returns the column of its text, 0 for none."""
        end = marker.end()
        rest = line[end:]
        shown = rest.lstrip(" ")
        spaces = len(rest) - len(shown)
        has_text = spaces <= _CODE_INDENT and shown not in ("", "\n")
        self.columns.append(end + spaces if has_text else end + 1)
        return end + spaces if has_text else 0

    def _leaf(self, start: re.Match[str], line: str) -> str:
        kind, end = start.lastgroup, start.end()
        if kind == QUOTE:
            shown = line[end:].lstrip("> ")
            self.paragraph = "" if re.match(_NO_PARAGRAPH, shown) else _QUOTED
        elif kind == COMMENT:
            self.in_comment = "-->" not in line[start.start(kind) + 2 :]
        elif kind == FENCE and not (start[kind][0] == "`" and "`" in line[end:]):
            self.fence = start[kind]
            self.fence_column = self.columns[-1] if self.columns else 0
        elif kind in (None, FENCE):
            self.paragraph = line[start.start(kind or 0) :].strip()
            return TEXT
        return kind or TEXT


def begin(line: str, position: int = 0) -> re.Match[str]:
    start = _START.match(line, position)
    if start is None:
        raise AssertionError("the pattern matches any text")
    return start


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
    reader = _Message(source, hides_quotes=hides_quotes)
    reader.read()
    hidden = reader.hidden + [
        span for start, end in reader.blocks for span in _hidden_inline(source, start, end)
    ]
    return Said(source, _blot(source, sorted(hidden)), [start for start, _ in reader.blocks])


class _Message:
    """The spans of a message that are hidden, and those of its paragraphs, items and headings."""

    def __init__(self, source: str, *, hides_quotes: bool) -> None:
        self._source = source
        self._hides_quotes = hides_quotes
        self._scanner = Scanner()
        self.blocks: list[tuple[int, int]] = []
        self.hidden: list[tuple[int, int]] = []

    def read(self) -> None:
        start = comment = 0
        for line in self._source.split("\n"):
            end = start + len(line)
            was_in_comment = self._scanner.in_comment
            kind = self._scanner.read(line)
            if kind == COMMENT:
                comment = comment if was_in_comment else self._block_start(start)
                if not self._scanner.in_comment:
                    self._comment(comment, max(start, comment + 2), end)
            elif kind != BLANK:
                self._line(kind, start, end)
            start = end + 1
        if self._scanner.in_comment:
            self.hidden.append((comment, len(self._source)))

    def _comment(self, start: int, search: int, line_end: int) -> None:
        end = self._source.index("-->", search) + 3
        self.hidden.append((start, end))
        if end < line_end:
            self.blocks.append((end, line_end))

    def _line(self, kind: str, start: int, end: int) -> None:
        if kind in (CODE, FENCE):
            if self._source[start:end].strip():
                self.hidden.append((start if kind == CODE else self._block_start(start), end))
        elif kind in (CONTINUED, UNDERLINE):
            if self._scanner.is_quoted and self._hides_quotes:
                self.hidden.append((start, end))
            else:
                self.blocks[-1] = (self.blocks[-1][0], end)
        elif kind == QUOTE and self._hides_quotes:
            self.hidden.append((self._block_start(start), end))
        else:
            self.blocks.append((self._block_start(start), end))

    def _block_start(self, start: int) -> int:
        """Where the block behind the markers of list items begins in the source."""
        found = self._scanner.start
        column = found.start(found.lastgroup) if found.lastgroup else found.end()
        if found.lastgroup == ITEM:
            column = found.end()
        marks = len(re.sub(_BLANKS, "", self._scanner.line[:column]))
        for mark in re.compile(_SHOWN).finditer(self._source, start):
            if not marks:
                return min(mark.start(), self._end(start))
            marks -= 1
        return self._end(start)

    def _end(self, start: int) -> int:
        end = self._source.find("\n", start)
        return len(self._source) if end < 0 else end


def _hidden_inline(source: str, begin: int, end: int) -> list[tuple[int, int]]:
    """Code spans and comments between `begin` and `end`."""
    if source.find("`", begin, end) < 0 and source.find("<!--", begin, end) < 0:
        return []
    closers = _closers(source, begin, end)
    last_close = source.rfind("-->", begin, end)
    spans = []
    position = begin
    inline = re.compile(_INLINE)
    while found := inline.search(source, position, end):
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
