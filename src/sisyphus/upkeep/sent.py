"""Which texts a hook sent, as its line in the journal tells. Pure.

A text is named by its kind and its file: `rules .claude/rules/a.md`, `readme README.md`, `loop`.
"""

from __future__ import annotations

import re

from sisyphus.upkeep.cost import number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from sisyphus._types import Json

NAME_CHARACTERS = 300
"""Of a file's name, the last ones; the names are a stranger's."""

TEXTS, CHARACTERS = 500, 20_000
"""How many different texts one session remembers, and how long their names may be together: all
sessions share one file."""

_KIND_CHARACTERS = 20
_SENT = "sent "
_PARTS = re.compile(r" \(\d+ parts\)$")
_KINDS = ("boulder", "loop", "checkpoint")
_PLACES = (
    ("readme", re.compile(r"(^|/)README\.md$")),
    ("agents", re.compile(r"(^|/)AGENTS\.md$")),
    ("loop", re.compile(r"\.local\.md$")),
    ("checkpoint", re.compile(r"(^|/)handoffs/")),
    ("rules", re.compile(r"(^|/)(rules|\.github)/")),
)
"""Where files of a kind lie; any other one is a plan."""


class Texts:
    """`found`: text -> how often it was sent to one session, and the last time in epoch seconds."""

    __slots__ = ("_room", "found")

    def __init__(self, kept: object = None) -> None:
        self.found: dict[str, tuple[int, float]] = {}
        self._room = CHARACTERS
        for text, times in kept.items() if isinstance(kept, dict) else ():
            often, last = (*times, 0, 0)[:2] if isinstance(times, list) else (0, 0)
            self.add(text, int(number(often)), number(last))

    @property
    def is_full(self) -> bool:
        """Whether a text may have found no room."""
        return self._room < NAME_CHARACTERS + _KIND_CHARACTERS or len(self.found) >= TEXTS

    def add(self, text: str, often: int, at: float) -> None:
        if text not in self.found:
            if len(text) > self._room or len(self.found) >= TEXTS:
                return
            self._room -= len(text)
        before, last = self.found.get(text, (0, 0))
        self.found[text] = (before + often, max(last, at))


def texts(entry: Json) -> list[str]:
    """The names of the texts; of a line that an older version wrote, as far as its notes tell."""
    named = entry.get("texts")
    if isinstance(named, list):
        spelled = [text.partition(" ") for text in named if isinstance(text, str)]
        return [label(kind, name) for kind, _, name in spelled if kind]
    notes = entry.get("notes") if entry.get("sent") else None
    return [name for note in notes for name in _noted(note)] if isinstance(notes, list) else []


def label(kind: str, name: str) -> str:
    """One name for one text, however its file is called; half surrogate pairs become `?`."""
    clean = name[-NAME_CHARACTERS:].encode("utf-8", "replace").decode()
    return f"{kind} {clean}" if clean else kind


def _noted(note: object) -> Iterator[str]:
    if isinstance(note, str) and note.startswith(_SENT):
        for name in note[len(_SENT) :].split(", "):
            yield _guessed(_PARTS.sub("", name))


def _guessed(name: str) -> str:
    if name in _KINDS:
        return name
    kinds = (kind for kind, place in _PLACES if place.search(name))
    return label(next(kinds, "boulder"), name)
