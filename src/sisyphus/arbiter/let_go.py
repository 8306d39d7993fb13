"""A command line ended the enforcement of a plan: the sessions it held tell the user by whom."""

from __future__ import annotations

from sisyphus.paths import display
from sisyphus.plain import line
from sisyphus.ralph import notices, store
from sisyphus.session import binding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from sisyphus._types import PlanStatus
    from sisyphus.workspace import Workspace

SWITCHED_OFF = "was switched off"
CLEARED = "was cleared with its plan"

HEAD = "BOULDER ENFORCEMENT OFF"


def tell(space: Workspace, plan: PlanStatus, sessions: Sequence[str], what: str) -> None:
    """Whoever is at work hears of it at the next Stop, and whoever comes back to a hold."""
    place = display(plan["active_plan"] or "", plan["project_root"] or "")
    name = f"{line(plan['plan_name'] or '')} ({line(place)})"
    text = f"The enforcement of {name} {what} by {notices.who()}."
    for session in sessions:
        is_open = binding.is_held(space.ours, session) is not False
        if is_open or store.has_loop(space.ours, session):
            notices.tell(space.ours, session, HEAD, text, space.now)
