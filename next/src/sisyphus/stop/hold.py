"""Holds sessions at their plan: they may not stop until it is complete."""

from __future__ import annotations

from sisyphus.boulder import follow
from sisyphus.boulder import record as plans
from sisyphus.boulder.record import COMPLETE, MISSING, NO_TASKS, PlanRecord
from sisyphus.ralph import loop as loops
from sisyphus.ralph.loop import CANCELLED, HOLD, Loop, Options
from sisyphus.stop import messages
from sisyphus.stop.messages import PlanFacts
from sisyphus.store import Store


def start(store: Store, plan: PlanRecord, options: Options, now: float) -> Loop:
    """Starts a hold of a plan; ends the one that it has."""
    number = plans.save(store, plan)
    for other in loops.holds(store):
        if other.plan == number:
            end(store, other, "replaced", now)
    hold = Loop(loops.new_id(), 0, plan.project, "", options, now, kind=HOLD, plan=number)
    loops.insert(store, hold)
    return hold


def end(store: Store, hold: Loop, why: str, now: float) -> None:
    """Ends a hold because its user says so."""
    hold.end(CANCELLED, why, now)
    loops.save(store, hold)


def plan_of(store: Store, hold: Loop) -> PlanRecord:
    """Returns the plan of a hold, as we last saw it."""
    row = store.one("SELECT path FROM plan WHERE n = ?", hold.plan)
    assert row is not None
    record = plans.find(store, row[0])
    assert record is not None
    return record


def plan_facts(record: PlanRecord) -> PlanFacts:
    """Returns what a hold has to know of its plan. A plan that is gone or has no tasks is never
    complete, but nobody can go on with it either."""
    is_complete = record.state == COMPLETE
    blocked_on = ""
    if record.state in (MISSING, NO_TASKS):
        blocked_on = messages.plan_is_gone(record)
    elif not is_complete and not record.next_task:
        blocked_on = messages.only_blocked_tasks(record)
    progress = follow.of_tasks(record.completed, record.total)
    return PlanFacts(record.name, progress, is_complete, blocked_on, record.next_task)
