"""Quotes untrusted text in Markdown that we write: masked, and unable to leave its place."""

from __future__ import annotations

from collections.abc import Iterable

from sisyphus.ground.masking import mask, masked_line
from sisyphus.ground.text import without_tags

_PATH = 160
_ROWS = 200


def plain(text: str, most: int) -> str:
    """Returns a text on one line, with no code span or comment left open, at most `most`
    characters."""
    line = _harmless(text, most)
    return line.replace("`", "'") if line.count("`") % 2 else line


def code(text: str, most: int = _PATH) -> str:
    """Returns a text as a code span."""
    return f"`{_harmless(text, most).replace('`', chr(39))}`"


def block(text: str, most_lines: int, most: int) -> str:
    """Returns the last lines of a text as a block quote, which none of them can end. most: the
    longest line, in characters."""
    lines = mask(text).strip().splitlines()[-most_lines:]
    return "\n".join(f"> {plain(line, most)}".rstrip() for line in lines)


def bullets(rows: Iterable[str], most: int = _ROWS, total: int = 0) -> str:
    """Returns the first `most` rows as a list, and how many more there are. total: how many there
    are if these are the first ones alone."""
    shown = list(rows)
    more = max(total, len(shown)) - most
    lines = [*shown[:most], *([f"and {more:,} more"] if more > 0 else [])]
    return "\n".join(f"- {line}" for line in lines)


def _harmless(text: str, most: int) -> str:
    return without_tags(masked_line(text, most)).replace("<!--", "(!--")
