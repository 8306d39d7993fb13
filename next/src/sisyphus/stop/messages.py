"""Every sentence about holds that the model and the user read."""

from __future__ import annotations

from dataclasses import dataclass

from sisyphus.ralph import messages as ralph
from sisyphus.text import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus.boulder.record import PlanRecord
    from sisyphus.ralph.loop import Loop

HEADING = "[BOULDER HOLD]"

TURN_OFF = "`sisyphus boulder hold off`"

_NAME = 60
_TASK = 100
_SHORT_TASK = 60


@dataclass(eq=False, repr=False)
class PlanFacts:
    """What a hold has to know of its plan.

    progress: as "5 of 20 tasks". is_complete: all its tasks are done.
    blocked_on: why nobody can go on with it now; "" = somebody can. next_task: "" = none.
    """

    name: str
    progress: str
    is_complete: bool
    blocked_on: str
    next_task: str


def plan_is_gone(record: PlanRecord) -> str:
    return f"the plan {one_line(record.name, _NAME)} is gone or has no tasks"


def only_blocked_tasks(record: PlanRecord) -> str:
    return f"all that is left of the plan {one_line(record.name, _NAME)} is blocked"


def hold_reason(plan: PlanFacts, *, whole: bool) -> str:
    """Returns the reason of a Stop that a hold blocks.

    The client shows it to the model twice, so only the first one is written in full (`whole`).
    """
    name = one_line(plan.name, _NAME)
    if not whole:
        task = f"Next: {one_line(plan.next_task, _SHORT_TASK)}"
        return "\n".join((HEADING, f"{name}: {plan.progress}. {task}", ralph.WAY_OUT))
    return "\n\n".join(
        (
            HEADING,
            f"The plan {name} is not complete: {plan.progress}. Continue with it.",
            f"Next task: {one_line(plan.next_task, _TASK)}",
            f"Tick its box in the plan when it is done.\n{ralph.WAY_OUT}",
        )
    )


def held(hold: Loop, plan: PlanFacts) -> str:
    """Tells the user that a hold has blocked a Stop."""
    return f"Hold of the plan: {plan.progress}, {ralph.iteration(hold)}"


def hold_started(hold: Loop, plan: PlanFacts) -> str:
    """Tells the user what the hold does, and how it ends."""
    limits = ralph.limits(hold)
    when = f", or after {limits}" if limits else ""
    name = one_line(plan.name, _NAME)
    return (
        f"Sessions that follow the plan {name} ({plan.progress}) may not stop until it is complete"
        f"{when}. To end this now, run {TURN_OFF}."
    )


def hold_complete(name: str) -> str:
    return f"[BOULDER HOLD COMPLETE]\n\nThe plan {one_line(name, _NAME)} is complete."


def hold_ended(hold: Loop) -> str:
    why = f"{hold.why[:1].upper()}{hold.why[1:]}"
    return f"[BOULDER HOLD ENDED]\n\n{why}. The plan is not complete."


def hold_rests(why: str) -> str:
    """Tells the user that one session may stop, though the hold goes on."""
    return f"The agent needs you: {one_line(why)}. Your next prompt makes it go on with the plan."


PLAN_COMPLETE = "the plan is complete"


def plan_open(plan: PlanFacts) -> str:
    """Says why a hold does not end, for the journal."""
    return f"the plan is not complete: {plan.progress}"
