"""The promise tags of a message: which are whole, what they say, where they stand."""

from __future__ import annotations

import re
from bisect import bisect_right

from sisyphus import markdown
from sisyphus.ralph.promise import HELD_BACK, IN_SENTENCE, MALFORMED, SHOWN, fold

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from sisyphus.markdown import Said

    Mark = re.Match[str]

_MARK = re.compile(r"</?promise>")
_PARAGRAPH_END = re.compile(r"\n[^\S\n]*(?=\n)")
_BEFORE = re.compile(r"[^\S\n]*[*_]{0,3}")
_AFTER = re.compile(r"[*_]{0,3}[.!]?[*_]{0,3}[^\S\n]*")


def refusal(text: str, wanted: str) -> str:
    """Why `text` does not keep the promise `wanted`, the last tag's reason; "" where it does."""
    said = markdown.read(text)
    marks = list(_MARK.finditer(said.text))
    reason = MALFORMED if marks else SHOWN
    for index in _flat_pairs(said.text, marks):
        reason = _refusal(said, marks, index, wanted)
        if not reason:
            break
    return reason


def _flat_pairs(text: str, marks: list[Mark]) -> Iterator[int]:
    """Indices of opening tags that their neighbour closes and that no other tag encloses.

    An opening tag that is never closed encloses what follows in its paragraph; a stray closing
    tag, what stands before it in its own.
    """
    breaks = [found.end() for found in _PARAGRAPH_END.finditer(text)]
    paragraphs = [bisect_right(breaks, mark.start()) for mark in marks]
    closed, pairs = _pair(marks)
    for index, outer in pairs:
        is_enclosed = outer in closed or _same(paragraphs, index, outer)
        behind = index + 2
        if behind < len(marks) and _is_closing(marks[behind]):
            is_enclosed = is_enclosed or _same(paragraphs, index, behind)
        if not is_enclosed:
            yield index


def _pair(marks: list[Mark]) -> tuple[set[int], list[tuple[int, int]]]:
    """Which opening tags are closed; the (opening tag, open tag around it or -1) of neighbours."""
    opened: list[int] = []
    closed = set()
    pairs = []
    for index, mark in enumerate(marks):
        if not _is_closing(mark):
            opened.append(index)
        elif opened:
            closed.add(opened.pop())
            if index - 1 in closed:
                pairs.append((index - 1, opened[-1] if opened else -1))
    return closed, pairs


def _is_closing(mark: Mark) -> bool:
    return mark[0][1] == "/"


def _same(paragraphs: list[int], index: int, other: int) -> bool:
    return other >= 0 and paragraphs[index] == paragraphs[other]


def _refusal(said: Said, marks: list[Mark], index: int, wanted: str) -> str:
    """Why the tag that opens at `marks[index]` does not keep the promise; "" where it does."""
    start, end = marks[index].start(), marks[index + 1].end()
    token = fold(said.source[marks[index].end() : marks[index + 1].start()])
    if token != wanted:
        return f"the tag says `{token[:80]}`"
    before = said.text[marks[index - 1].end() if index else 0 : start]
    is_last = index + 2 == len(marks)
    after = said.text[end : len(said.text) if is_last else marks[index + 2].start()]
    if _is_alone(before, after, is_first=not index, is_last=is_last):
        return ""
    if not is_last or _AFTER.fullmatch(after.rstrip()) is None:
        return IN_SENTENCE
    return _doubt(said, start)


def _is_alone(before: str, after: str, *, is_first: bool, is_last: bool) -> bool:
    """Whether nothing else stands on the line; the two texts reach to the neighbouring tags."""
    line_start, line_end = before.rfind("\n"), after.find("\n")
    if (line_start < 0 and not is_first) or (line_end < 0 and not is_last):
        return False
    line_after = after if line_end < 0 else after[:line_end]
    return bool(_BEFORE.fullmatch(before, line_start + 1) and _AFTER.fullmatch(line_after))


def _doubt(said: Said, start: int) -> str:
    """Why the sentence that the tag ends gives no promise; "" where nothing speaks against it."""
    from sisyphus.ralph import doubts

    paragraph = said.begins[bisect_right(said.begins, start) - 1]
    sentence = doubts.last_sentence(said.text[paragraph:start])
    if "promise>" in sentence:
        return MALFORMED
    doubt = doubts.find(sentence)
    return f"{HELD_BACK}`{doubt}`" if doubt else ""
