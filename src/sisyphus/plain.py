"""Texts of strangers on a terminal: one line, and no character that does something."""

from __future__ import annotations

_LINE = 300
"""Of a name or a task in a text: a hostile plan must not fill the reply."""


def one_line(text: str, characters: int = 0) -> str:
    """`text` on one line, without control characters and half surrogate pairs.

    With `characters` the line is no longer than that; `...` ends what was cut.
    """
    source = text[: 10 * characters] if characters else text
    words = "".join(c if c.isprintable() else " " for c in source).split()
    joined = " ".join(words)
    if not characters or (len(joined) <= characters and len(source) == len(text)):
        return joined
    return joined[: characters - 3].rstrip() + "..."


def line(text: str) -> str:
    """`text` on one line of at most 300 code points, a space for each that cannot be printed."""
    shown = "".join(c if c.isprintable() else " " for c in text[: _LINE + 1])
    return shown if len(shown) <= _LINE else shown[: _LINE - 1] + "…"


def harmless(text: str) -> str:
    """`text` without control characters, its line ends kept."""
    return "".join(c if c.isprintable() or c == "\n" else " " for c in text)


def sound(text: str) -> str:
    """`text` with `?` for each half surrogate pair, which JSON can spell and UTF-8 cannot."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()
