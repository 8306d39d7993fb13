"""The checklist of a loop at its Stops: whether it is done, and what the model is told of it."""

from __future__ import annotations

from sisyphus.ralph.checklists import checklist_store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from sisyphus.ralph.checklists.criteria import Criterion

REMINDER_CHARACTERS = 1_500

_LINE_CHARACTERS = 200
_WHY_CHARACTERS = 80
_NAMED = 5
_MARKS = {"pending": " ", "in_progress": ">", "completed": "x"}


def gate(ours: str, loop_id: str) -> tuple[bool, str]:
    """Whether all of at least one criterion are completed, and why (not), in words."""
    found = _listed(ours, loop_id)
    if not found:
        return False, (
            "it is empty; write down what must be true in the end: "
            '`sisyphus ralph checklist add "TEXT" …`'
        )
    left = [criterion for criterion in found if not criterion.is_done]
    counts = f"{len(found) - len(left)} of {len(found)} criteria are completed"
    return not left, f"{counts}; open: {_named(left)}" if left else counts


def reminder(ours: str, loop_id: str) -> str:
    """The checklist for the model, and how to tick; "" where there is none."""
    found = _listed(ours, loop_id)
    if not found:
        return ""
    left = [criterion for criterion in found if not criterion.is_done]
    head = f"Checklist ({len(found) - len(left)} of {len(found)} done):"
    foot = f"Tick what is done: `sisyphus ralph checklist done {left[0].id}`" if left else ""
    room = REMINDER_CHARACTERS - len(head) - len(foot) - 2
    return "\n".join(filter(None, [head, *_fitting(found, left, room), foot]))


def lines(found: Sequence[Criterion], characters: int = 0) -> list[str]:
    """Each criterion as a task of a Markdown list, its text cut at `characters` (0 = whole)."""
    from sisyphus.text import one_line

    return [f"- [{_MARKS[c.status]}] {c.id} {one_line(c.text, characters)}" for c in found]


def _listed(ours: str, loop_id: str) -> list[Criterion]:
    found = checklist_store.read(ours, loop_id)
    if not found:
        return []
    from sisyphus.ralph.checklists.criteria import listed

    return listed(found)


def _named(left: Sequence[Criterion]) -> str:
    from sisyphus.text import one_line

    names = [f"{c.id} {one_line(c.text, _WHY_CHARACTERS)}" for c in left[:_NAMED]]
    more = f"; and {len(left) - _NAMED} more" if len(left) > _NAMED else ""
    return "; ".join(names) + more


def _fitting(found: Sequence[Criterion], left: Sequence[Criterion], room: int) -> list[str]:
    """All lines; where they are too many, those that are open, as many of them as there is room."""
    every = lines(found, _LINE_CHARACTERS)
    if len("\n".join(every)) <= room:
        return every
    kept: list[str] = []
    for line in lines(left, _LINE_CHARACTERS):
        more = f"- … and {len(found) - len(kept)} more: `sisyphus ralph checklist list`"
        if len("\n".join([*kept, line, more])) > room:
            break
        kept.append(line)
    return [*kept, f"- … and {len(found) - len(kept)} more: `sisyphus ralph checklist list`"]
