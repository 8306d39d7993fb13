"""What is advisable where a context is as full as it is. Pure."""

from __future__ import annotations

from sisyphus.checkpoint.outlook.complexity import fits, must_split

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus.checkpoint.outlook.table import ContextFacts

_FIRST = "sisyphus ralph checkpoint"


def recommendation(facts: ContextFacts) -> str:
    """What to do, in one or two sentences; where nothing is known, why."""
    if facts.percent is None:
        why = facts.why_nothing.rstrip(".") or "the model has not answered yet"
        return f"Nothing is known of the context: {why}."
    if facts.level == "L3":
        return "Stop now: the context is almost full. The handoff is written."
    if facts.level == "L2":
        return "Finish the current edit, complete the handoff and stop."
    return f"{_about_item(facts)} Checkpoint will trigger automatically at {facts.l2:g}%."


def _about_item(facts: ContextFacts) -> str:
    expected = facts.expected
    left = 100 - (facts.percent or 0)
    if expected and must_split(expected):
        return "The item is too large for one context: split it first."
    if expected and not fits(expected, left):
        return f"The item may not fit: checkpoint first (`{_FIRST}`)."
    if expected and not fits(expected, facts.l2 - (facts.percent or 0)):
        return "Safe to continue; the item may have to be handed over before it is done."
    if facts.level == "L1":
        return "Begin nothing large."
    return "Safe to continue."
