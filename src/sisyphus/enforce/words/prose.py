"""What of a message is prose, and in which blocks it stands.

Code, comments and block quotes are none, nor what `quoted.py` hides. Headings are: "## Done" says
that something is done as well as a sentence does.
"""

from __future__ import annotations

from itertools import pairwise

PARAGRAPH, ITEM, HEADING = "paragraph", "item", "heading"

BACK = 200_000
"""Characters that are searched for a fence which is still open where the end begins."""

_FENCES = ("```", "~~~")
_OPEN_BOXES = ("[ ]", "\u2610", "\u2b1c")
_BOXES = (*_OPEN_BOXES, "[x]", "[X]")


class Block:
    """A paragraph, an item or a heading between `start` and `end`, a box before it aside."""

    __slots__ = ("end", "has_open_box", "kind", "start")

    def __init__(self, kind: str, start: int, end: int, *, has_open_box: bool = False) -> None:
        self.kind = kind
        self.start = start
        self.end = end
        self.has_open_box = has_open_box


class Prose:
    """The end of a message. `text` has the length of `source`, with `HIDDEN` for what is hidden."""

    __slots__ = ("blocks", "source", "text")

    def __init__(self, source: str, text: str, blocks: list[Block]) -> None:
        self.source = source
        self.text = text
        self.blocks = blocks


def read(message: str, most: int) -> Prose:
    """The last `most` characters of `message`, from the start of a line."""
    from sisyphus import markdown
    from sisyphus.enforce.words import quoted

    said = markdown.read(end_of(message, most).replace("\0", " "))
    begins = [*said.begins, len(said.text)]
    spans = list(pairwise(begins))
    parts = [quoted.hide(said.text[start:end]) for start, end in spans]
    text = said.text[: begins[0]] + "".join(parts)
    return Prose(said.source, text, [_block(said.source, *span) for span in spans])


def end_of(message: str, most: int) -> str:
    """From the start of a line, or of a word where the lines are long. Where the cut falls into
    a fenced block, the rest of the block is left out too."""
    if len(message) <= most:
        return message
    rest = message[-most:]
    line = rest.find("\n", 0, most // 4)
    rest = rest[line + 1 :] if line >= 0 else rest.partition(" ")[2]
    if not _is_in_fence(message[: -len(rest)][-BACK:]):
        return rest
    lines = rest.split("\n")
    closers = (at for at, line in enumerate(lines) if line.lstrip().startswith(_FENCES))
    return "\n".join(lines[next(closers, len(lines)) + 1 :])


def _is_in_fence(text: str) -> bool:
    """Whether the last line of `text` belongs to a fence. Which fence closes which is not asked."""
    import re

    return len(re.findall(r"^[ \t]*+(?:```|~~~)", text, re.MULTILINE)) % 2 == 1


def _block(source: str, start: int, end: int) -> Block:
    if source.startswith("#", start):
        return Block(HEADING, start, end)
    marker = source[source.rfind("\n", 0, start) + 1 : start].strip()
    box = next((box for box in _BOXES if source.startswith(box, start)), "")
    kind = ITEM if marker or box else PARAGRAPH
    return Block(kind, start + len(box), end, has_open_box=box in _OPEN_BOXES)
