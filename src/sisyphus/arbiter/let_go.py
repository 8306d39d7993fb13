"""A command line ended the enforcement of a plan: its holds end, and the sessions that it held tell
the user by whom."""

from __future__ import annotations

from sisyphus.paths import display
from sisyphus.ralph import loop as lp
from sisyphus.ralph import notices, store
from sisyphus.text import line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from sisyphus._types import PlanStatus
    from sisyphus.workspace import Workspace

SWITCHED_OFF = "was switched off"
CLEARED = "was cleared with its plan"

HEAD = "BOULDER ENFORCEMENT OFF"


def tell(space: Workspace, plan: PlanStatus, sessions: Sequence[str], what: str) -> None:
    """Whoever is at work hears of it at the next Stop, and whoever comes back to a hold, which ends
    at once: a session that rests has no Stop that would end it."""
    place = display(plan["active_plan"] or "", plan["project_root"] or "")
    name = f"{line(plan['plan_name'] or '')} ({line(place)})"
    text = f"The enforcement of {name} {what} by {notices.who()}."
    for session in sessions:
        if notices.listens(space.ours, session):
            notices.tell(space.ours, session, HEAD, text, space.now)
        if store.has_loop(space.ours, session):
            _end_holds(space, session, plan["active_plan"] or "")


def _end_holds(space: Workspace, session: str, path: str) -> None:
    from sisyphus.ralph.past import history

    with store.LoopStore(space.ours, session) as held:
        over = [loop for loop in held.loops if loop.plan == path]
        for loop in over:
            history.ended(space.ours, loop, lp.CANCELLED, space.now, f"by {notices.who()}")
        held.save([loop for loop in held.loops if loop not in over])
