"""What the end of an iteration is judged by."""

from __future__ import annotations

from sisyphus.paths import is_safe_id
from sisyphus.runner import claims, handed
from sisyphus.runner.task import fix_plan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus._types import Checkpoint
    from sisyphus.runner.attend import Landed
    from sisyphus.runner.desk import Desk
    from sisyphus.runner.looks import Change


class Case:
    """An iteration that has ended, and what was found out about it."""

    __slots__ = (
        "change", "claim", "entry", "full", "is_full", "landed", "newly_done", "plan", "session",
    )  # fmt: skip

    def __init__(self, desk: Desk, landed: Landed) -> None:
        seen, before = landed.seen, list(desk.run.completed_items)
        self.landed = landed
        self.session = seen.session if is_safe_id(seen.session) else _ours(desk)
        self.full = handed.filled(desk.space, seen.peak, seen.model, seen.window)
        self.plan = fix_plan.read(desk.places.root)
        self.newly_done = [item for item in self.plan.done if not _took(before, item)]
        self.claim = claims.Claim()
        self.entry: Checkpoint | None = None
        self.is_full = False  # the context was the reason of the handoff
        self.change: Change | None = None


def _ours(desk: Desk) -> str:
    """The id that we asked the client to take."""
    return str(desk.run.in_flight.get("session_id") or "")


def _took(items: list[str], item: str) -> bool:
    """Of two equal boxes the one that was ticked before hides the other no more."""
    if item in items:
        items.remove(item)
        return True
    return False
