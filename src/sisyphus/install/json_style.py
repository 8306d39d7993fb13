"""How the JSON around a place is written: on one line or many, indented by what, with which
spaces; and values written the same way."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from sisyphus.install.json_text import BOM

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from sisyphus.install.json_tree import Member, Node

    Chain = Sequence[Node]  # from the root to the container that is looked at

_USUAL_UNIT, _USUAL_COLON = "  ", ": "
_INDENTED = re.compile(r"\n([ \t]++)[^\s]")
_INDENT = re.compile(r"[ \t]*+")


@dataclass(frozen=True)
class Style:
    """What is added to a container: each part on a line of its own (`is_spread`) or behind the
    one before it, after `gap`; and the values in it, on many lines or on one."""

    is_spread: bool
    has_lines: bool
    indent: str
    newline: str
    unit: str
    colon: str
    gap: str

    def name(self, key: str | None) -> str:
        """What stands before a value; an item has no key."""
        return "" if key is None else _dumped(key, None, None) + self.colon

    def written(self, value: Any, indent: str) -> str:
        """A value that begins on a line of this indent."""
        if not self.has_lines:
            return _dumped(value, None, ("," + self.gap, self.colon))
        lines = _dumped(value, self.unit, (",", self.colon))
        return lines.replace("\n", self.newline + indent)


def of(text: str, chain: Chain) -> Style:
    """The style of what is added to the last of the chain, an object or a list."""
    node, colon, unit = chain[-1], _colon(text, chain), _unit(text, chain[-1])
    is_spread, held = _is_spread(text, chain), parts(chain[-1])
    deeper = unit if is_spread else ""
    return Style(
        is_spread=is_spread,
        has_lines=is_spread or "\n" in text[node.start : node.end],
        indent=indent(text, held[-1].start) if held else indent(text, node.start) + deeper,
        newline=newline(text),
        unit=unit,
        colon=colon,
        gap=_gap(text, node, colon),
    )


def parts(node: Node) -> Sequence[Member | Node]:
    """What an object or a list holds."""
    return node.members or node.items


def lead(text: str, node: Node, number: int) -> str:
    """The white space between a part of a container and the bracket or comma before it."""
    held = parts(node)
    if number == 0:
        return text[node.start + 1 : held[0].start]
    return text[held[number - 1].end : held[number].start].partition(",")[2]


def newline(text: str) -> str:
    """The first line end of a text; what is added never changes which one that is."""
    first = text.find("\n")
    return "\r\n" if first > 0 and text[first - 1] == "\r" else "\n"


def indent(text: str, offset: int) -> str:
    """The white space at the beginning of the line of an offset."""
    line = text.rfind("\n", 0, offset) + 1
    found = _INDENT.match(text, line + text.startswith(BOM, line), offset)
    return found[0] if found else ""


def _is_spread(text: str, chain: Chain) -> bool:
    """An empty container is filled as it stands in the one around it; an empty file, on lines."""
    node = chain[-1]
    if held := parts(node):
        return "\n" in lead(text, node, len(held) - 1)
    if len(chain) == 1:
        return True
    around = chain[-2]
    ends = [part.end for part in parts(around)]
    return "\n" in lead(text, around, ends.index(node.end))


def _unit(text: str, node: Node) -> str:
    """One step of indentation: this container's own, else the first of the text."""
    if held := parts(node):
        before = lead(text, node, len(held) - 1)
        deeper = before.rpartition("\n")[2].removeprefix(indent(text, node.start))
        if "\n" in before and deeper:
            return deeper
    found = _INDENTED.search(text)
    return found[1] if found else _USUAL_UNIT


def _colon(text: str, chain: Chain) -> str:
    nearest = next((node.members[-1] for node in reversed(chain) if node.members), None)
    known = nearest or next(_members(chain[0]), None)
    written = text[known.key_end : known.node.start] if known else _USUAL_COLON
    return _USUAL_COLON if "\n" in written else written


def _gap(text: str, node: Node, colon: str) -> str:
    """The space between two parts on one line."""
    count = len(parts(node))
    before = lead(text, node, count - 1) if count > 1 else ""
    if count > 1 and "\n" not in before:
        return before
    return " " if colon[-1].isspace() else ""


def _members(node: Node) -> Iterator[Member]:
    yield from node.members
    for item in node.items:
        yield from _members(item)


def _dumped(value: Any, unit: str | None, separators: tuple[str, str] | None) -> str:
    """As the client writes it: what is no ASCII stands as it is, but for halves of a character."""
    written = json.dumps(
        value, indent=unit, separators=separators, ensure_ascii=False, allow_nan=False
    )
    try:
        written.encode()
    except UnicodeEncodeError:
        return json.dumps(value, indent=unit, separators=separators, allow_nan=False)
    return written
