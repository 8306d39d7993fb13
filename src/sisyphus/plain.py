"""Texts of strangers on a terminal: one line, and no character that does something."""

from __future__ import annotations


def one_line(text: str, characters: int = 0) -> str:
    """`text` on one line, without control characters and half surrogate pairs.

    With `characters` the line is no longer than that; `...` ends what was cut.
    """
    source = text[: 10 * characters] if characters else text
    words = "".join(c if c.isprintable() else " " for c in source).split()
    line = " ".join(words)
    if not characters or (len(line) <= characters and len(source) == len(text)):
        return line
    return line[: characters - 3].rstrip() + "..."


def harmless(text: str) -> str:
    """`text` without control characters, its line ends kept."""
    return "".join(c if c.isprintable() or c == "\n" else " " for c in text)


def sound(text: str) -> str:
    """`text` with `?` for each half surrogate pair, which JSON can spell and UTF-8 cannot."""
    return text.encode("utf-8", "replace").decode()
