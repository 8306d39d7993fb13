"""What commands answer, to the user. Pure."""

from __future__ import annotations

from sisyphus.boulder.record import last_touched
from sisyphus.paths import display
from sisyphus.text import line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus._types import PlanStatus
    from sisyphus.boulder.store import Plans

_NAMED = 10


def cleared(status: PlanStatus) -> str:
    """The answer to `boulder clear`, from the status before it."""
    place = f"{line(status['plan_name'] or '')} ({line(status['active_plan'] or '')})"
    if status["state"] in ("active", "stale"):
        return (
            f"Boulder cleared: {place}. It comes back by `sisyphus boulder start`, or when its "
            "file changes."
        )
    return f"Boulder cleared: {place}."


def enforced(status: PlanStatus) -> str:
    """The answer to `boulder enforce`."""
    where = display(status["active_plan"] or "", status["project_root"] or "")
    place = f"{line(status['plan_name'] or '')} ({line(where)})"
    if not status["enforced"]:
        return f"Boulder not enforced any more: {place}. Sessions may stop when they like."
    return (
        f"Boulder enforced: {place}. A session that works on it is held at Stop while there is an "
        "open task that is not blocked, whatever else it turns to; /sisyphus:start-work lets it go "
        "on with another plan. `sisyphus boulder enforce off` ends it."
    )


def noted(status: PlanStatus) -> str:
    """The answer to `boulder checkpoint`."""
    checkpoint = status["checkpoint"] or {}
    message = line(str(checkpoint.get("message") or ""))
    told = f"Checkpoint of {line(status['plan_name'] or '')}: {message}"
    problem = status["record_problem"]
    return f"{told}\nIt is in our own book alone: {line(problem)}" if problem else told


def to_choose(table: str) -> str:
    """The answer to `boulder status` where the plans in `table` are open and none is chosen."""
    return (
        f"No plan is chosen here. Open plans:\n\n{table}\n\n"
        "To continue one: sisyphus boulder start NAME"
    )


def not_followed(plans: Plans) -> str:
    """Why nobody can tell which plan of a project is meant."""
    root = line(plans.root)
    known = sorted(plans.records.values(), key=last_touched, reverse=True)
    if not known:
        return f"no plan is followed in {root}. `sisyphus boulder start` begins with one."
    names = [f"{line(r['plan_name'])} ({line(display(r['active_plan'], root))})" for r in known]
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return (
        f"no plan is chosen in {root}, which has {', '.join(names[:_NAMED])}{more}. "
        "`sisyphus boulder start NAME` chooses one."
    )
