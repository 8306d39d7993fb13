"""The sections of a handoff that the model fills in. Pure.

They stand at the end of the document, behind `## Notes`, each behind a heading of the third level.
A section that says nothing holds its placeholder.
"""

from __future__ import annotations

import re

from sisyphus.text import harmless, sound

HEADING = "## Notes"

SECTIONS = {
    "Decisions": "what was decided, and why",
    "Tried And Rejected": "what did not work, and why",
    "Open Questions": "what is not settled",
    "For The Next Session": "what else must be known to go on",
}
"""What belongs into each."""

CHARACTERS = 2_000
"""Of one section."""

_HEADINGS = {f"### {name}": name for name in SECTIONS}
_INTRODUCTION = (
    "What the facts above do not tell. Put your words in the place of the lines in italics."
)
_RESERVED = re.compile(rf"(?m)^(?={re.escape(HEADING)}\s*$|(?:{'|'.join(_HEADINGS)})\s*$)")


def placeholder(name: str) -> str:
    return f"_Nothing noted yet: {SECTIONS[name]}._"


def render(notes: dict[str, str]) -> str:
    parts = [HEADING, _INTRODUCTION]
    for heading, name in _HEADINGS.items():
        said = clean(notes.get(name, ""))
        parts += [heading, _RESERVED.sub(r"\\", said) or placeholder(name)]
    return "\n\n".join(parts)


def notes(text: str) -> dict[str, str]:
    """What was written into the sections of a handoff, by their names."""
    found: dict[str, list[str]] = {}
    name = ""
    lines = iter(_lines(text))
    if not any(line.rstrip() == HEADING for line in lines):
        return {}
    for line in lines:
        name = _HEADINGS.get(line.rstrip(), name)
        if name and line.rstrip() not in _HEADINGS and line.strip() != placeholder(name):
            found.setdefault(name, []).append(line)
    said = ((name, clean("\n".join(lines))) for name, lines in found.items())
    return {name: text for name, text in said if text}


def clean(said: str) -> str:
    """A section's text as it is kept: no control characters, no empty space around it."""
    text = harmless(sound("\n".join(_lines(said)))).strip()
    return text[:CHARACTERS].rstrip()


def _lines(text: str) -> list[str]:
    """Line feeds end lines; to Markdown, half of what Python takes for a line end is none."""
    whole = text.replace("\r\n", "\n").replace("\r", "\n").replace("\t", "    ")
    return [line.rstrip() for line in whole.split("\n")]
