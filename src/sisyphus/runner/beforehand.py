"""What the user is to know before the first client of a run costs anything."""

from __future__ import annotations

from sisyphus.errors import SisyphusError
from sisyphus.runner import report, texts
from sisyphus.runner.keep import store
from sisyphus.runner.keep.places import Places
from sisyphus.runner.keep.state import COMPLETED, Run
from sisyphus.runner.task import fix_plan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus.runner.asked import Asked
    from sisyphus.runner.desk import Screen
    from sisyphus.runner.task.fix_plan import FixPlan
    from sisyphus.workspace import Workspace


def look(space: Workspace, asked: Asked, screen: Screen, *, resume: bool) -> Run | None:
    """The run, where it is complete before it begins. Raises `SisyphusError` for what was asked
    for, and for items that cannot be read."""
    asked.check()
    old = store.glance(Places(space))
    if resume and asked.flags and old.text("client_command") and asked.client_command is None:
        raise SisyphusError(
            "the run that is resumed has a client command of its own, which flags behind `--` "
            "would not reach. Leave them out, or give --client-command with all it needs."
        )
    plan = fix_plan.read(space.root)
    if plan.problem:
        raise SisyphusError(f"the items cannot be read: {plan.problem}. Put that right or away.")
    if plan.path and not plan.total:
        screen.note(f"{plan.path} has no items (lines such as `- [ ] a task`); the prompt decides")
    if resume:
        return None
    if old.loop_id and old.status != COMPLETED and not report.is_at_work(old):
        screen.note(texts.replaced(old))
    return _nothing_to_do(plan, asked)


def _nothing_to_do(plan: FixPlan, asked: Asked) -> Run | None:
    if not plan.is_done or asked.completion_promise is not None or asked.verify:
        return None
    run = Run({"status": COMPLETED, "reason": f"every item of {plan.path} is done already"})
    plan.note_in(run)
    return run
