"""Measures, cuts and fingerprints text."""

from __future__ import annotations

import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Iterable

_UNSEEN = "\u00ad\u200b-\u200f\u2060-\u2064\u2800\ufeff"
"""Characters that nobody sees, for a set of a regular expression."""

_BLANK = frozenset(map(chr, (
    0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, *range(0x180B, 0x1810), 0x2800, 0x3164, 0xFFA0,
    *range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0),
)))  # fmt: skip
"""Characters that Python calls printable, and that Unicode lets nobody see: fillers of Hangul, the
blank pattern of Braille, and what chooses between forms of the character before it."""

_TAG = (
    rf"(?P<open><|&lt;)(?P<name>[\s/{_UNSEEN}]*(?:system[-{_UNSEEN}]*reminder|promise|blocked|"
    rf"task-notification|user-prompt-submit-hook)\b)(?P<rest>[^<>\n&]*)(?P<close>>|&gt;)?"
)
"""The start of a tag that acts: of the client's, or of ours. Codex and Qwen Code escape it."""

_HEADINGS = ("# Rule from ", "[BOULDER ", "[RALPH LOOP ", "[CONTINUOUS ENFORCEMENT", "CCS_")
"""How lines start that only we write; `CCS_` is how those on a full context do."""


def units(text: str) -> int:
    """Returns the length in UTF-16 code units, which is how the client counts."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def cut(text: str, limit: int) -> str:
    """Returns the start of `text`, at most `limit` UTF-16 units, cut at a line end if there is
    one."""
    limit = max(limit, 0)
    start = text[:limit]
    while (excess := units(start) - limit) > 0:
        start = start[: -((excess + 1) // 2)]  # a character has two units at most
    if len(start) == len(text):
        return text
    line_end = start.rfind("\n") + 1
    return start[:line_end] if line_end else start


def shorten(text: str, limit: int, note: str) -> str:
    """Cuts a text to at most `limit` UTF-16 units, `note` included, which is added if it is cut."""
    return text if units(text) <= limit else cut(text, limit - units(note)) + note


def one_line(text: str, limit: int = 300) -> str:
    """Returns untrusted text on one line, without control characters and tags, at most `limit`
    characters."""
    if len(text) <= limit and text.isprintable() and "<" not in text and "&" not in text:
        return " ".join(text.split())
    words = "".join(c if c.isprintable() else " " for c in text[: 2 * limit]).split()
    line = without_tags(" ".join(words))
    return line if len(line) <= limit else line[: limit - 1] + "…"


def has_unseen(text: str) -> bool:
    """Tells whether there are characters in a text that nobody can see, as controls, marks of the
    direction, and letters that are blank."""
    return not text.isprintable() or not _BLANK.isdisjoint(text)


def likely(word: str, words: Iterable[str]) -> str:
    """Returns which of `words` somebody means who wrote `word`; "" = none, or several have it as a
    part. One that has it as a part, or is a part of it, is nearer than one that is spelled like
    it."""
    from difflib import get_close_matches  # imported late: it is slow, and errors are rare

    words = list(words)
    if longer := [each for each in words if word in each]:
        return longer[0] if len(longer) == 1 else ""
    parts = [each for each in words if each in word]
    return parts[0] if len(parts) == 1 else "".join(get_close_matches(word, parts or words, 1))


def sentence(text: str, limit: int = 300) -> str:
    """Returns a text on one line that ends as a sentence does."""
    line = one_line(text, limit)
    return line if line.endswith((".", "?", "!", "\u2026")) else f"{line}."


def without_tags(text: str) -> str:
    """Returns untrusted text in which no tag acts: `</system-reminder>` would end the frame around
    it and let it speak as we or the client do; a `<promise>` or `<blocked>` would count when the
    agent repeats it."""
    if "<" not in text and "&lt;" not in text.lower():
        return text
    import re

    return re.sub(_TAG, _without_brackets, text, flags=re.IGNORECASE)


def _without_brackets(tag: re.Match[str]) -> str:
    return f"[{tag['name']}{tag['rest']}{']' if tag['close'] else ''}"


def without_headings(text: str) -> str:
    """Returns the text of a rule or document in which no line poses as a heading of ours: as the
    next rule, or as what makes the agent go on or stop."""
    if not any(mark in text for mark in _HEADINGS):
        return text
    import re

    headings = "|".join(map(re.escape, _HEADINGS))
    return re.sub(rf"(?m)^([ \t>*_#\-{_UNSEEN}]*)({headings})", r"\1\\\2", text)


def fingerprint(text: str | bytes) -> str:
    """Returns a hash of a text, 16 hexadecimal digits."""
    from _blake2 import blake2b  # `hashlib` wraps it and loads OpenSSL: 3 ms more

    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    return str(blake2b(data, digest_size=8).hexdigest())


def iso(moment: float) -> str:
    """Formats a time, in seconds since 1970, for files of other programs: UTC, to the second."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(moment))


def moment(text: object) -> float:
    """Returns the seconds since 1970 of a time in ISO 8601; 0 = it is not one."""
    from datetime import datetime  # imported late: hooks seldom need it

    try:
        return datetime.fromisoformat(text).timestamp() if isinstance(text, str) else 0.0
    except (ValueError, OverflowError):
        return 0.0
