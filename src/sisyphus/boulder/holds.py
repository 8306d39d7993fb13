"""Holds sessions at their plan: they may not stop until it is complete.

The hold ends with its plan. While the plan is gone or has no tasks, nobody is held.
"""

from __future__ import annotations

import os

from sisyphus.boulder import follow, hold_messages, messages, plans
from sisyphus.boulder.hold_messages import PlanFacts
from sisyphus.boulder.plans import COMPLETE, MISSING, NO_TASKS, PlanRecord
from sisyphus.ground import exports, paths, traces
from sisyphus.ground.store import Store
from sisyphus.ground.text import iso
from sisyphus.loops import loops
from sisyphus.loops.loop import SUCCESS, Hold, Options, new_id
from sisyphus.sessions import sessions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def start(store: Store, plan: PlanRecord, options: Options, now: float) -> tuple[Hold, Hold | None]:
    """Starts a hold of a plan; returns it, and the one that it replaces."""
    number = plans.save(store, plan)
    task = f"Complete {hold_messages.plan_name(plan)}"
    hold = Hold(new_id(), plan.project, task, options, now, plan=number)
    replaced = next((other for other in loops.holds(store) if other.plan == number), None)
    if replaced:
        loops.cancel(store, replaced, f"replaced by {hold.id}", now)
    loops.insert(store, hold)
    return hold, replaced


def end_old(store: Store, project: str, now: float) -> list[Hold]:
    """Ends the holds of a project that no Stop has ended: their plan is complete, or their time is
    up. Returns them."""
    ours = of_project(store, project, None)
    for hold in ours:
        limit = hold.limit(now) if hold.is_active else None
        if plan_of(store, hold).state == COMPLETE:
            hold.end(SUCCESS, hold_messages.PLAN_COMPLETE, now)
        elif limit:
            hold.end(*limit, now)
        loops.save(store, hold)
    return [hold for hold in ours if hold.ended_at is not None]


def plan_of(store: Store, hold: Hold) -> PlanRecord:
    """Returns the plan of a hold, as we last saw it."""
    record = plans.find(store, loops.plan_file(store, hold))
    assert record is not None
    return record


def plan_now(store: Store, hold: Hold, now: float) -> PlanRecord:
    """Returns the plan of a hold as its file is now. For commands, which write nothing."""
    from sisyphus.boulder import which  # imported late: no Stop reads the file here

    return which.as_of_now(plan_of(store, hold), now)


def of_project(store: Store, project: str, plan: PlanRecord | None) -> list[Hold]:
    """Returns the holds in a project, that of `plan` first, then the newest."""
    path = plan.path if plan else ""
    here = [hold for hold in loops.holds(store) if hold.project == project]
    return sorted(here, key=lambda hold: loops.plan_file(store, hold) != path)


def export(store: Store, project: str) -> None:
    """Writes `hold.json`, the holds of a project, or removes it. By this file a Stop sees that the
    database has lost one. Raises `OSError`."""
    file = traces.hold_file(paths.our_home(project), project)
    with store.write():
        here = of_project(store, project, None)
        rows = [
            {"id": hold.id, "plan": loops.plan_file(store, hold), "status": hold.status}
            for hold in here
        ]
        if rows:
            exports.replace(file, exports.as_json({"holds": rows}))
        elif os.path.lexists(file):
            os.unlink(file)


def held(store: Store, hold: Hold) -> list[tuple[str, str]]:
    """Returns the ids of the sessions that follow its plan and have not ended, each with what it
    waits for, or ""."""
    followers = sessions.following(store, hold.plan)
    return [(each.id, each.why_waits) for each in followers if not each.is_over]


def last_stop(store: Store, hold: Hold) -> float:
    """Returns when a session at its plan last stopped, or did something; the hold's start if none
    follows it. In seconds since 1970."""
    times = [each.idle_since or each.seen_at for each in sessions.following(store, hold.plan)]
    return max(times, default=hold.started_at)


def as_dict(store: Store, hold: Hold, now: float) -> dict[str, Any]:
    """Returns a hold as the commands print it as JSON."""
    plan = plan_now(store, hold, now)
    return {
        "id": hold.id,
        "status": hold.status,
        "why": hold.why or plan_facts(plan).no_work or None,
        "plan": plan.path,
        "plan_name": plan.name,
        "project": hold.project,
        "iteration": hold.counters.iteration,
        "max_iterations": hold.options.max_iterations,
        "max_minutes": hold.options.max_minutes,
        "wait_for_user": hold.options.wait_for_user,
        "started_at": iso(hold.started_at),
        "sessions": [
            {"session_id": id, "waits_for_user": rests or None} for id, rests in held(store, hold)
        ],
    }


def plan_facts(record: PlanRecord) -> PlanFacts:
    """Returns what a hold has to know of its plan. A plan that is gone, cannot be read or has no
    tasks is never complete, but nobody can go on with it either."""
    is_complete = record.state == COMPLETE
    name, no_work = hold_messages.plan_name(record), ""
    if record.problem:
        no_work = f"{name} cannot be read: {record.problem}"
    elif record.state == MISSING:
        no_work = f"the file of {name} is gone"
    elif record.state == NO_TASKS:
        no_work = f"{name} has no tasks"
    elif not is_complete and not record.next_task:
        no_work = f"all that is left of {name} is blocked"
    progress = follow.of_tasks(record.completed, record.total)
    return PlanFacts(
        record.name, progress, is_complete, no_work, record.next_task, record.has_check_next,
        messages.without_boxes(record.path),
    )  # fmt: skip
