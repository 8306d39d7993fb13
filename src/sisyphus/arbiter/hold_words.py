"""What is said of a plan that a session is held to. Pure; the text of a plan is a stranger's."""

from __future__ import annotations

from sisyphus.ralph import texts
from sisyphus.text import cut_units, line, one_line, units

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus.boulder.enforcement import Standing
    from sisyphus.ralph.loop import Loop

_NAME_UNITS = 80
_PLACE_UNITS = 120
_TASK_UNITS = 200


def prompt(plan: Standing) -> str:
    """The hold as lists of loops name it."""
    return f"boulder: {_name(plan)} ({_place(plan)})"


def rests(plan: Standing) -> str:
    """Why the plan asks for nothing now; "" where it does."""
    if plan.state == "missing":
        return f"the plan {_place(plan)} is gone"
    if plan.state == "unreadable":
        return f"the plan {_place(plan)} cannot be read"
    if plan.state == "no_tasks":
        return f"the plan {_place(plan)} has no tasks"
    if plan.state == "complete":
        return f"all tasks of {_name(plan)} are done"
    return "" if plan.task else f"{_done(plan)}, and only blocked ones are left"


def asks(plan: Standing) -> str:
    """What the plan asks for, in one line for the journal."""
    return f"{_done(plan)}; next: {_cut(plan.task, _TASK_UNITS)} (line {plan.line})"


def go_on(loop: Loop, plan: Standing) -> str:
    """Why the model may not stop, in at most `texts.REASON_UNITS`: the client shows it twice."""
    start = f"Boulder: {_done(plan)}. Next task: "
    end = (
        f" ({_place(plan)}, line {plan.line}). Do it, check its box, and go on with the next one. "
        "A task that cannot be done is marked `[!]`; where you need the user, ask.\n\n"
        f"{texts.where(loop)}"
    )
    return start + _cut(plan.task, texts.REASON_UNITS - units(start + end)) + end


def _done(plan: Standing) -> str:
    return f"{plan.done:,}/{plan.total:,} tasks of {_name(plan)} are done"


def _name(plan: Standing) -> str:
    return _cut(plan.name, _NAME_UNITS)


def _place(plan: Standing) -> str:
    return _cut(plan.place, _PLACE_UNITS)


def _cut(text: str, limit: int) -> str:
    shown = one_line(line(text))
    return shown if units(shown) <= limit else cut_units(shown, limit - 1) + "…"
