"""What the model reads around a rule, and how much of the rule one reply can carry. Pure."""

from __future__ import annotations

from sisyphus.text import REPLY_UNITS, cut_units, units

TAIL = "\n</system-reminder>"

_HEAD = "<system-reminder>\nThe following rules apply to {}:\n\n"
_PATH_CHARACTERS = 80  # of a path in a late head; its end says more than its start


def head(path: str = "") -> str:
    """The frame's start. A text that comes later than its file names it by `path`."""
    name = _one_line(path)
    if len(name) > _PATH_CHARACTERS:
        name = "…" + name[1 - _PATH_CHARACTERS :]
    return _HEAD.format(name or "this file")


def title(label: str) -> str:
    return f"# Rule from {_one_line(label)}\n\n"


def shorten(text: str, label: str, path: str, line: int) -> str:
    """The text, or the start of it that one reply can carry with a note where to read on.

    `line` is the line of `path` on which the text begins; 0 = not all of it stands there.
    """
    frame = units(head("😀" * _PATH_CHARACTERS) + title(label) + TAIL)
    room = REPLY_UNITS - frame
    if units(text) <= room:
        return text
    room -= units(_note(text, len(text), path, 10 * len(text)))
    kept = cut_units(text, room)
    return kept.rstrip("\n") + _note(text, len(kept), path, line and line + kept.count("\n"))


def _note(text: str, kept: int, path: str, line: int) -> str:
    where = _one_line(path) + (f", from line {line}" if line else "")
    return f"\n\n[Cut here: {kept:,} of {len(text):,} characters. Read on in {where}.]"


def _one_line(name: str) -> str:
    """A file's name cannot end the line it stands on, nor hold half a character."""
    return "".join(char if char.isprintable() else "?" for char in name)
