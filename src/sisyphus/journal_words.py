"""A line of the journal in plain words. Pure."""

from __future__ import annotations

from sisyphus.plain import one_line
from sisyphus.times import local

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus._types import Json

_ANSWERS = "user-prompt-submit"
"""Where a block is an answer to the user: the prompt needs no model."""

_WHOLE_MS, _MOST_MS = 100, 1e12


class Words:
    """An entry for people: when, what, how long it took ("" = not known), and what it did, one line
    each."""

    __slots__ = ("clock", "event", "said", "took")

    def __init__(self, entry: Json) -> None:
        agent = entry.get("agent")
        whose = f"(subagent {one_line(str(agent))}) " if agent else ""
        first, *more = _said(entry)
        self.clock = local(entry.get("at"), "%H:%M:%S") or "--:--:--"
        self.event = one_line(str(entry.get("event", "?")))
        self.took = _milliseconds(entry.get("ms"))
        self.said = [whose + first, *more]


def day(entry: Json) -> str:
    return local(entry.get("at"), "%Y-%m-%d")


def _said(entry: Json) -> list[str]:
    """What a hook did and why, that it blocked, and how much it sent."""
    notes = entry.get("notes")
    said = [one_line(str(note)) for note in notes] if isinstance(notes, list) else []
    if entry.get("blocked") and not _tells_of_block(entry, said):
        said.insert(0, "blocked")
    sent = entry.get("sent")
    if type(sent) is int and sent > 0:
        count = f"{sent:,} characters"
        at = next((i for i, note in enumerate(said) if note.startswith("sent ")), None)
        if at is None:
            said.append(f"{count} sent")
        else:
            said[at] += f" ({count})"
    return said or ["nothing to say"]


def _tells_of_block(entry: Json, said: list[str]) -> bool:
    if entry.get("event") == _ANSWERS:
        return bool(said)
    return any(note.startswith(("blocked", "woken")) for note in said)


def _milliseconds(value: object) -> str:
    if not isinstance(value, (int, float)) or isinstance(value, bool) or not 0 < value < _MOST_MS:
        return ""
    return f"{value:,.1f} ms" if value < _WHOLE_MS else f"{value:,.0f} ms"
