"""What an iteration is about, as PROMPT.md says it. Pure."""

from __future__ import annotations

from sisyphus.checkpoint.outlook import complexity
from sisyphus.text import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from sisyphus.checkpoint.outlook.complexity import Estimate
    from sisyphus.runner.task.fix_plan import FixPlan

SHOWN_ITEMS = 5


def text(item: str, plan: FixPlan, estimate: Estimate | None, order: Sequence[int]) -> str:
    """`item` "" = none is open; `order`: the places of the open ones in the order that suits."""
    if not item:
        return _without_item(plan)
    rows = [f"- **Item**: {item}", *_steps(item, plan), *_sized(estimate)]
    others = [plan.todo[place] for place in order if plan.todo[place] != item]
    if others:
        rows.append(f"- **Later, in this order**: {_some(others)}. Leave them alone now.")
    return "## This Iteration\n\n" + "\n".join(rows)


def _steps(item: str, plan: FixPlan) -> list[str]:
    """Those of an item that is begun, or whose own box is ticked too early."""
    rows = []
    if steps := plan.steps.get(item):
        rows.append(f"- **Its open steps**: {_some(steps)}. Each is to be done and ticked.")
    if steps := plan.blocked_steps.get(item):
        rows.append(f"- **Its blocked steps**: {_some(steps)}.")
    return rows


def _some(texts: Sequence[str]) -> str:
    shown = "; ".join(one_line(text, 80) for text in texts[:SHOWN_ITEMS])
    more = f"; {len(texts) - SHOWN_ITEMS} more" if len(texts) > SHOWN_ITEMS else ""
    return f"{shown}{more}"


def _without_item(plan: FixPlan) -> str:
    if plan.problem:
        return f"## This Iteration\n\n{one_line(plan.problem, 300)}. Put that file right first."
    if plan.blocked:
        number = len(plan.blocked)
        count = f"{number} item{'s' * (number > 1)}"
        return (
            f"## This Iteration\n\nWhat is left in {plan.path} is blocked ({count}). Take the one "
            "that you can unblock, and say what the others need."
        )
    if plan.is_done:
        return f"## This Iteration\n\nEvery item of {plan.path} is ticked. Check the whole."
    return ""


def _sized(estimate: Estimate | None) -> list[str]:
    if estimate is None:
        return []
    if complexity.must_split(estimate):
        size = f"{estimate.name} (over 60% of a context: {estimate.why})"
        return [f"- **Complexity**: {size}. It must be split first, see step 2."]
    size = f"{estimate.name} ({estimate.why})"
    return [
        f"- **Complexity**: {size}",
        f"- **Context budget**: {estimate.low}-{estimate.high}%. Beyond it, stop and leave notes.",
    ]
