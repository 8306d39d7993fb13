"""What two occurrences of one error have in common. Pure."""

from __future__ import annotations

import re

from sisyphus.text import one_line

FIRST_LINE_CHARACTERS = 200

_LONGEST_TEXT = 4_000
_END = 200

_TEMPORARY = r"/(?:tmp|dev/shm|var/tmp|var/folders/\w+/\w+/T)/[^/\s'\":;,)\]]+"

_COLOUR = r"\x1b\[[0-9;?]*[A-Za-z]"

_ALIKE = (
    (_COLOUR, ""),
    (rf"(?:/private)?{_TEMPORARY}", "<temporary>"),
    (r"(?i)\\temp\\[^\\\s'\":;,)\]]+", "<temporary>"),
    (r"\btmp[\w-]{4,}", "<temporary>"),
    (r"(?i)\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b", "#"),  # UUIDs
    (r"(?i)\b0x[0-9a-f]+\b", "#"),
    (r"(?i)\b(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{6,}\b", "#"),  # hashes
    (r"\d+(?:[.,:]\d+)*(?:\s?m?s\b)?", "0"),  # numbers, times, durations
)  # fmt: skip
"""What differs between two occurrences of one error -> what stands for it."""

_WORDLESS = "Exit code 0"  # with any number


def fingerprint(text: str) -> str:
    """What two occurrences of one error have in common, on one line of about 400 characters.

    Of a long text its beginning and its end: compilers name the error first, test runners and
    tracebacks last. "" for an exit code alone: every command that says nothing would be alike.
    """
    if len(text) > _LONGEST_TEXT:
        text = f"{text[: _LONGEST_TEXT // 2]} {text[-_LONGEST_TEXT // 2 :]}"
    for pattern, alike in _ALIKE:
        text = re.sub(pattern, alike, text)
    line = one_line(text)
    if line == _WORDLESS:
        return ""
    return line if len(line) <= 2 * _END else f"{line[:_END]} ... {line[-_END:]}"


def first_line(text: str) -> str:
    """The first line that says something, as it is but harmless; "" where there is none.

    The client puts `Exit code 2` before what a command printed, and that line alone says little.
    """
    plain = re.sub(_COLOUR, "", text[:_LONGEST_TEXT])
    lines = (one_line(line, FIRST_LINE_CHARACTERS) for line in plain.splitlines())
    said = list(filter(None, lines))[:2]
    if len(said) > 1 and re.fullmatch(r"Exit code \d+", said[0]):
        return one_line(": ".join(said), FIRST_LINE_CHARACTERS)
    return said[0] if said else ""
