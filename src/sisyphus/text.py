"""Text as people and clients take it: one line of a stranger's words, sizes in UTF-16 units, cuts
that fall on line ends, and a fingerprint."""

from __future__ import annotations

REPLY_UNITS = 10_000
"""A hook's text above this many UTF-16 units is replaced by a 2 KB preview (Claude Code 2.1.329:
exactly 10,000 passes, 5,000 emoji pass, 5,001 do not)."""

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


def units(text: str) -> int:
    """Length in UTF-16 code units."""
    if text.isascii():  # spares the import of the codec
        return len(text)
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def cut_units(text: str, limit: int) -> str:
    """The longest start of `text` within `limit` UTF-16 units, ending at a line end if it can."""
    limit = max(limit, 0)
    kept = text[:limit]
    while (over := units(kept) - limit) > 0:
        kept = kept[: -((over + 1) // 2)]  # a character has two units at most
    return text if len(kept) == len(text) else _to_line_end(kept)


def end_units(text: str, limit: int) -> str:
    """The last whole lines of `text` within `limit` UTF-16 units; "" where not one fits."""
    kept: list[str] = []
    for line in reversed(text.strip("\n").split("\n")):
        limit -= units(line) + 1
        if limit < -1:  # the last line needs no line end
            break
        kept.append(line)
    return "\n".join(reversed(kept)).strip("\n")


def cut_chars(text: str, limit: int) -> str:
    """The longest start of `text` within `limit` code points, ending at a line end if it can."""
    return text if len(text) <= limit else _to_line_end(text[: max(limit, 0)])


def _to_line_end(text: str) -> str:
    end = text.rfind("\n")
    return text[: end + 1] if end > 0 else text


def fingerprint(text: str) -> str:
    """16 hexadecimal digits that tell a text from every other."""
    try:
        from _blake2 import blake2b  # `hashlib` loads OpenSSL: 3 ms at every session start
    except ImportError:
        from hashlib import blake2b
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
