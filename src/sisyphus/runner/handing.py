"""The handoff of an iteration that has ended: whose it is, and what it says."""

from __future__ import annotations

from sisyphus.clients.running import CONTEXT
from sisyphus.runner import handed
from sisyphus.runner.handed import COMPACTION, CUT_SHORT, LEVEL
from sisyphus.text import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus._types import Checkpoint
    from sisyphus.runner.case import Case
    from sisyphus.runner.desk import Desk
    from sisyphus.runner.task.fix_plan import FixPlan


def is_full(case: Case) -> bool:
    """Whether the context was the reason of the handoff."""
    by_hooks = bool(case.entry and case.entry.get("occasion") in (LEVEL, COMPACTION))
    return by_hooks or case.full.is_checkpoint or case.landed.failure.kind == CONTEXT


def find(desk: Desk, case: Case) -> Checkpoint | None:
    """The handoff of this iteration: that of its hooks, else ours where the context was full or
    the work was cut short."""
    entry = case.entry or handed.open_of(desk.space, case.session) or _made(desk, case)
    return _brought_up_to_date(entry, case.plan) if entry else None


def _made(desk: Desk, case: Case) -> Checkpoint | None:
    landed = case.landed
    if case.full.is_checkpoint or landed.failure.kind == CONTEXT:
        return write(desk, case, LEVEL, "")
    if (landed.timed_out or landed.failure) and landed.seen.tool_calls:
        return write(desk, case, CUT_SHORT, landed.failure.why)
    return None


def _brought_up_to_date(entry: Checkpoint, plan: FixPlan) -> Checkpoint:
    """The item that was in hand may have been ticked behind the handoff, or just before it."""
    item = entry.get("current_todo_item", "")
    if item not in plan.done:
        return entry
    following = f"Go on with: {plan.todo[0]}" if plan.todo else "Check the whole."
    return {**entry, "progress_on_item": "it is done and ticked", "next_step": following}


def write(desk: Desk, case: Case, occasion: str, reason: str) -> Checkpoint | None:
    plan, run = case.plan, desk.run.as_json()
    if plan.path and not plan.problem:  # ticked in this iteration, and the state says so later
        run.update(todo_items=plan.todo, completed_items=plan.done)
    return handed.write(
        desk.space, case.session, occasion=occasion, reason=reason, full=case.full, run=run
    )


def close(desk: Desk, case: Case) -> None:
    """Nobody needs to be handed anything any more."""
    handed.finish(desk.space, case.session)
    handed.finish_run(desk.space, desk.run.loop_id)
    found = desk.run.context_checkpoint
    if found.get("active"):
        desk.run.context_checkpoint = {**found, "active": False}
        handed.finish(desk.space, str(found.get("session_id") or ""))


def words(case: Case) -> str:
    found, full = case.entry or {}, case.full
    level = found.get("level") or full.level
    percent = found.get("percent_at_checkpoint") or full.percent
    file = one_line(found.get("handoff_file", ""), 200)
    if not percent:  # the client reported nothing but that
        return f"checkpoint, {case.landed.failure.why or 'asked for'}, handoff {file}"
    return f"checkpoint {level} at {percent}%, handoff {file}"
