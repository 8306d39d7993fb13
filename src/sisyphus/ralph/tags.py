"""The tags in a message, and whether they count.

A tag counts if it is a sentence of its own. On its line nothing stands before it, or the end of a
sentence, and nothing behind it. The lines around it do not belong to its sentence either. This
needs no list of words, so it holds in every language: who denies, conditions or postpones a promise
has it inside a sentence. `<blocked>…</blocked>` follows the same law.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right

from sisyphus.ground import markdown
from sisyphus.ground.markdown import Kind
from sisyphus.ground.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from sisyphus.ground.markdown import Line

PLACEHOLDER = "what you need"
"""What stands in the `<blocked>` tag of our own sentences. Who repeats it needs nothing."""

_TAGS = {
    name: re.compile(
        rf"(?P<outer><{name}>\s*)?"
        rf"<{name}>(?P<token>(?:(?!</?{name}\b).){{0,2000}}?)</{name}>"
        rf"(?P<rest>\s*</{name}>)?",
        re.DOTALL,
    )
    for name in ("promise", "blocked")
}

_LISTED = "is in a list or a check box"
_TABLED = "is in a table or a frame"
_STRUCK = "is struck out"
_COMPARED = "is in a diff"
_REPORTED = "is in quoted output"
_QUOTED = "is in quotes"
_MID_LINE = "is in the middle of a line"
_MID_SENTENCE = "is inside a sentence"
CONTINUES = "continues the line before it"
CONTINUED = "is continued by the line after it"
"""Why a tag does not count."""

_CODE = "\ue000"  # nobody's character; stands for each one in a code span
_EMPHASIS = "*_"
_RULE = "-=*_ \t"  # lines of these are thematic breaks, or underline a heading
_PARTS_OF_EMOJI = "\u200d\ufe0f\U0001f3fb\U0001f3fc\U0001f3fd\U0001f3fe\U0001f3ff"
_UNTICKED = "☐☒⬜🔲✗✘✖❌❎🚫⛔⏳⌛🔜❓❔👎🚧🔴⚠🙅🛑"
_QUOTES = "\"'“”„‘’«»‹›「『"
_CLOSING_QUOTES = "\"'”’“»«›‹」』"
_SENTENCE_ENDS = ".!?。！？｡．؟۔।॥։።፧။។៕‼⁇⁈⁉"
"""The marks that end a sentence, of the scripts that have one."""

_BRACKETS = 3
"""How many brackets may follow each other at the end of a sentence. With more it has no end."""

_ABBREVIATION = re.compile(r"(?:^|[\s(])(?:[^\W\d_]\.)+$")  # "e.g.", "z. B.", but not "code 0."
_GOES_ON = ",;:…，；：､、،؛·→↓⇒➡⬇👇👉⟶▼⤵․"
"""The marks after which a line, or even a paragraph, goes on to what follows it. So do dashes and
opening brackets."""

_TITLE_WORDS = 4
"""`## Result:` is a title, and `## Once the tests pass I will say:` is none."""

_WORD = re.compile(r"\S+")
_WITHOUT_BLANKS = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\U00020000-\U0003ffff]{3}"
)
"""Three characters of a script that puts no blanks between words: more than one word."""

_BOX = re.compile(r"\s{0,20}[*_]{0,3}(?:\[[ xX]?\]|[☐☑☒□▢◻⬜🔲])")
_FRAME = re.compile(r"\s{0,20}[|│┃║]")
_DIFF = re.compile(r"[+-](?![+-])\S")
_LABEL = re.compile(
    r"[\W_]{0,5}(?:assistant|user|human|system|tool|agent|ai|stdout|stderr|output|"
    r"(?:next )?task(?: of the plan)?)[\s*_)\]]{0,4}[:：]|\s{0,20}(?:\$|>>>) ",
    re.IGNORECASE,
)
"""Begins a line that shows somebody else's words: of a log, a terminal, or of ours."""

_STRIKE = re.compile(r"~~(?=\S)(?:(?!~~|\n[ \t]*\n).)*~~", re.DOTALL)
_ELEMENT = re.compile(
    r"<(/?)(pre|code|samp|kbd|tt|blockquote|q|del|s|strike|template|script|style|think|thinking|"
    r"stdout|stderr|system-reminder|examples?|samples?|instructions?|prompt|task|output|log|quote|"
    r"user|human|system|tool_result|tool_output|function_results)(?:\s[^<>]{0,200})?>",
    re.IGNORECASE,
)
"""The elements of HTML, and of what models print like it, that show, strike out or think."""

_ELEMENT_LINE = re.compile(r"</?[a-zA-Z][^<>]*>|<(promise|blocked)>.*</\1>")
"""A line that is nothing but a tag of HTML, or one of ours with its content."""

_CURLY = str.maketrans(dict.fromkeys("“”„‟", '"') | dict.fromkeys("‘’‚‛", "'"))


class Tag(Record):
    """A tag in a message.

    head, tail: what stands before and behind it on its line, back to and up to the next tag there.
    first, last: the indexes of its lines.
    """

    token: str
    head: str
    tail: str
    first: int
    last: int
    is_struck: bool


class Message:
    """A message, line by line. `rows` are its lines as far as they are prose."""

    def __init__(self, text: str) -> None:
        self.plain = markdown.plain(text)
        self.visible = _without_elements(markdown.visible(text, _CODE))
        self.lines = list(markdown.lines(text))
        self.rows = self.visible.split("\n")

    def tags(self, name: str) -> Iterator[Tag]:
        """Yields its tags outside code and block quotes. Nested tags are skipped."""
        struck = _STRIKE.sub(lambda strike: "~" * len(strike[0]), self.visible)
        starts = [0]
        for row in self.rows:
            starts.append(starts[-1] + len(row) + 1)
        matches = list(_TAGS[name].finditer(self.visible))
        ends = [0, *(match.end() - 1 for match in matches)]  # with the `>` of the tag before it
        begins = [*(match.start() + 1 for match in matches[1:]), len(self.visible)]
        for match, after, before in zip(matches, ends, begins, strict=False):
            if match["outer"] or match["rest"]:
                continue
            first = bisect_right(starts, match.start()) - 1
            last = bisect_right(starts, match.end() - 1) - 1
            head = self.visible[max(starts[first], after) : match.start()]
            is_heading = self.lines[first].kind is Kind.HEADING
            yield Tag(
                self.plain[match.start("token") : match.end("token")],
                head.lstrip("# ") if is_heading else head,
                self.visible[match.end() : min(starts[last + 1] - 1, before)],
                first,
                last,
                struck[match.start()] == "~",
            )

    def fault(self, tag: Tag) -> str:
        """Returns why a tag does not count, to follow "The tag"; "" = it counts."""
        fault = _fault_of_line(tag, self.lines[tag.first], self.rows[tag.first])
        if fault or _without_marks(tag.head):
            return fault or self._fault_after(tag)
        return self._fault_before(tag) or self._fault_after(tag)

    def _fault_before(self, tag: Tag) -> str:
        """Tells whether the sentence of a tag that is alone on its line begins before it.

        A paragraph without a full stop is over, unless a small letter goes on behind the tag.
        """
        index, is_apart = self._neighbour(tag.first, -1)
        if index < 0 or self._is_over(index):
            return ""
        if not is_apart or _goes_on(self.rows[index]):
            return CONTINUES
        return CONTINUED if self._beginning(tag.last) == "Ll" else ""

    def _fault_after(self, tag: Tag) -> str:
        """Tells whether the next line goes on with the sentence that ends with a tag.

        It does so if it begins with a small letter, or a letter of a script that has no others:
        many of its languages put their verb last ("…とは言えません").
        """
        _, is_apart = self._neighbour(tag.last, 1)
        goes_on = self._beginning(tag.last) in ("Ll", "Lo", "Lm", ",")
        return CONTINUED if goes_on and not is_apart else ""

    def _beginning(self, index: int) -> str:
        """Returns how the text after a line begins (see `_first_letter`); "" = none follows, or a
        block of its own."""
        after, _ = self._neighbour(index, 1)
        if after >= len(self.rows) or self._is_block(after):
            return ""
        return _first_letter(self.rows[after])

    def _neighbour(self, index: int, step: int) -> tuple[int, bool]:
        """Returns the index of the next line that says or shows something, and whether there are
        blank lines, breaks or comments before it. It is outside of the message if there is none."""
        start = index
        index += step
        while 0 <= index < len(self.rows) and not (
            self.lines[index].kind in (Kind.CODE, Kind.QUOTE) or self.rows[index].strip(_RULE)
        ):
            index += step
        return index, abs(index - start) > 1

    def _is_over(self, index: int) -> bool:
        """Tells whether a line leaves nothing open: it is a block of its own, the end of a
        sentence, or a paragraph of one word."""
        row = self.rows[index]
        is_title = self.lines[index].kind is Kind.HEADING and len(row.split()) <= _TITLE_WORDS
        if _goes_on(row) and not is_title and self.lines[index].kind in (Kind.TEXT, Kind.HEADING):
            return False
        is_over = self._is_block(index) or _ends_sentence(row)
        return is_over or (self._is_first(index) and _is_word(_without_marks(row)))

    def _is_block(self, index: int) -> bool:
        """Tells whether a line is one of a list, table, heading, element, code or quote."""
        line, row = self.lines[index], self.rows[index].strip()
        is_table = row.startswith("|") or row.endswith("|")
        is_shown = is_table or not row.strip(_CODE) or bool(_ELEMENT_LINE.fullmatch(row))
        return is_shown or line.kind is not Kind.TEXT or _is_in_item(line)

    def _is_first(self, index: int) -> bool:
        """Tells whether a line begins a paragraph."""
        return index == 0 or not self.rows[index - 1].strip(_RULE) or self._is_block(index - 1)


def of(name: str, text: str) -> Iterator[tuple[Message, Tag]]:
    """Yields the tags in a message, with the message. name: "promise" or "blocked"."""
    if f"<{name}>" in text:
        message = Message(text)
        yield from ((message, tag) for tag in message.tags(name))


def is_in_comment(text: str, start: int) -> bool:
    """Tells whether a place of a text is in an HTML comment. text: by `markdown.plain`."""
    line = list(markdown.lines(text))[text.count("\n", 0, start)]
    is_blanked = markdown.visible(text, _CODE)[start] == " "
    return line.kind is Kind.COMMENT or (line.is_prose and is_blanked)


def normalize(text: str) -> str:
    """Returns the text with plain quotes, single blanks, in one Unicode form and without escapes
    of Markdown and of quotes."""
    plain = unicodedata.normalize("NFC", text).translate(_CURLY)
    return " ".join(re.sub(r"\\([_*~`\\\"'])", r"\1", plain).split())


def is_need(token: str) -> bool:
    """Tells whether a `<blocked>` has words in it, and not our own."""
    words = " ".join(re.findall(r"\w+", token.lower()))
    return words not in ("", PLACEHOLDER)


def _without_elements(visible: str) -> str:
    """Returns the text with code in place of what stands in elements that only show it. Of those
    that are never closed, a `<pre>` at the start of a line hides all that follows."""
    spans, open_ = [], dict[str, int]()
    for element in _ELEMENT.finditer(visible):
        name = element[2].lower()
        if not element[1]:
            open_.setdefault(name, element.start())
        elif name in open_:
            spans.append((open_.pop(name), element.end()))
    start = open_.get("pre", -1)
    if start >= 0 and not visible[visible.rfind("\n", 0, start) + 1 : start].strip():
        spans.append((start, len(visible)))
    position, parts = 0, []
    for start, end in sorted(spans):
        parts.append(visible[position:start])
        parts.append(re.sub(r"[^\n]", _CODE, visible[max(position, start) : end]))
        position = max(position, end)
    return "".join([*parts, visible[position:]])


def _fault_of_line(tag: Tag, line: Line, row: str) -> str:
    """Returns why a tag does not count, as far as its own line tells."""
    faults = {
        _STRUCK: tag.is_struck or tag.head.endswith("~"),
        _LISTED: _is_in_item(line) or _BOX.match(row),
        _TABLED: _FRAME.match(row),
        _COMPARED: _DIFF.match(row),
        _REPORTED: _LABEL.match(row),
        _QUOTED: tag.head.rstrip(_EMPHASIS).endswith(tuple(_QUOTES))
        or tag.tail.startswith(tuple(_CLOSING_QUOTES)),
        _MID_LINE: not _is_closing(tag.tail),
        _MID_SENTENCE: _without_marks(tag.head) and not _ends_sentence(tag.head),
    }
    return next((fault for fault, holds in faults.items() if holds), "")


def _is_in_item(line: Line) -> bool:
    """Tells whether a line begins a list item, or is indented below one."""
    return bool(line.item) or (line.depth > 0 and line.indent > 0)


def _is_closing(tail: str) -> bool:
    """Tells whether a text is nothing but marks that may stand behind a sentence."""
    return not set(tail) & set(f"?？؟፧⁇⁈{_CLOSING_QUOTES}") and all(
        _is_mark(c) or unicodedata.category(c) == "Pe" or c in _SENTENCE_ENDS for c in tail
    )


def _ends_sentence(text: str) -> bool:
    """Tells whether a text ends as a sentence does, closing quotes and brackets aside. So must what
    stands before a bracket at its end."""
    for _ in range(_BRACKETS + 1):
        end = _without_marks(text, f"{_CLOSING_QUOTES})]）】〉》〕")
        is_end = end.endswith(tuple(_SENTENCE_ENDS)) and not end.endswith("..")
        if not is_end or _ABBREVIATION.search(end):
            return False
        text = _last_bracket(text[: len(end) + 1])
        if not text:
            return True
    return False


def _last_bracket(text: str) -> str:
    """Returns what stands before the bracket that a text ends with; "" = it ends with none, or is
    all of it in one."""
    start = text.rfind("(") if text.endswith(")") else -1
    return text[:start].strip() if start > 0 else ""


def _goes_on(text: str) -> bool:
    """Tells whether a text ends as nothing ends that is over, whatever marks stand behind that."""
    end = len(text)
    while end and text[end - 1] not in _GOES_ON and _is_behind(text[end - 1]):
        end -= 1
    text = text[:end]
    last = text[-1:] or " "
    is_open = unicodedata.category(last) in ("Pd", "Ps", "Pi")
    return is_open or last in _GOES_ON or text.endswith(("..", "->", "=>"))


def _is_behind(c: str) -> bool:
    """Tells whether a character may stand behind the mark with which a text goes on."""
    return _is_mark(c) or unicodedata.category(c) in ("Cf", "Pe")


def _is_word(text: str) -> bool:
    """Tells whether a text is one word: who says no more says nothing about what follows."""
    return bool(_WORD.fullmatch(text)) and not _WITHOUT_BLANKS.search(text)


def _first_letter(row: str) -> str:
    """Returns the Unicode category of the letter with which a line begins; "," = it begins with a
    mark that goes on with a sentence."""
    start = row.lstrip(f" \t{_EMPHASIS}{_QUOTES}(（[")[:1] or " "
    category = unicodedata.category(start)
    return "," if start in f".{_GOES_ON}" or category in ("Pd", "Pe", "Pf") else category


def _without_marks(text: str, others: str = "") -> str:
    """Returns a text without the blanks, emphasis, symbols and `others` at its end."""
    end = len(text)
    while end and (_is_mark(text[end - 1]) or text[end - 1] in others):
        end -= 1
    return text[:end]


def _is_mark(c: str) -> bool:
    """Tells whether a character is a blank, emphasis, or a symbol such as ✅, but no box, no cross
    and no frame of a terminal."""
    if c.isspace() or c in _EMPHASIS or c in _PARTS_OF_EMOJI:
        return True
    is_frame = "\u2500" <= c <= "\u25ff"
    return unicodedata.category(c) == "So" and c not in _UNTICKED and not is_frame
