"""What a command has printed, as plain text, and the end of it. Pure."""

from __future__ import annotations

import re

_ESCAPE = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"  # colours, cursor
    r"|(?:\x1b\]|\x9d)[^\x07\x1b\x9c\n]*(?:\x07|\x1b\\|\x9c)?"  # titles, links
    r"|(?:\x1b[PX^_]|[\x90\x98\x9e\x9f])[^\x1b\x9c\n]*(?:\x1b\\|\x9c)?"
    r"|\x1b[ -/]*[0-~]"
)
# With those that turn the direction of writing, which show a line as what it is not.
_CONTROL = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


def plain(output: bytes) -> str:
    """Lines without escape sequences and control characters; of a line that was written over
    again and again, such as a progress bar, its last state."""
    text = _ESCAPE.sub("", output.decode("utf-8", "replace"))
    if "\r" in text:
        text = "\n".join(map(_last_state, text.split("\n")))
    return _CONTROL.sub("", text)


def last_lines(text: str, characters: int) -> str:
    """The end of `text`, from the start of a line, in at most so many code points.

    Empty space at both ends does not count. Of a last line that is longer its end is kept.
    """
    text = text.rstrip()
    room = max(characters, 0)
    end = text[len(text) - room :] if room < len(text) else text
    if len(end) < len(text) and text[len(text) - room - 1] != "\n":
        end = end.partition("\n")[2] or end
    return end.lstrip("\n")


def _last_state(line: str) -> str:
    return line.rstrip("\r").rpartition("\r")[2]
