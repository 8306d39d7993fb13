"""Which items of a plan may begin now, where several are done at once. Pure.

A list is a row of stages. The items of a stage are done side by side, and those of the next one
begin when nothing of it is left to begin and nothing of it is at work. A stage is
- in a plan with waves: the items of a wave, or those between two waves;
- in spec-kit's list: one item, or items that follow each other in a phase, all marked `[P]`;
- in any other plan: the whole list.

An item with `(after: WORDS)` begins when the one that is named is merged. It holds up nobody
meanwhile but those that wait for it by name: if the one it waits for is in a later stage, or is set
aside, the list goes on without it.
"""

from __future__ import annotations

from collections.abc import Collection

from sisyphus.boulder import order
from sisyphus.boulder.plan import SPEC_KIT, Plan, Task
from sisyphus.ground.record import Record


class Schedule(Record, frozen=True):
    """What may be done now. begin: the items to begin, in the order of work. waits: the open items
    that wait for others by name → these, as far as they are not merged. If nothing may begin
    though `free` was above 0, and nothing is at work, these are all that is left to do."""

    begin: list[str]
    waits: dict[str, list[str]]


def startable(
    plan: Plan, merged: Collection[str], at_work: Collection[str], aside: Collection[str], free: int
) -> Schedule:
    """Tells which items may begin now.

    merged: those that count as done, whatever their box says. at_work: those that somebody works at
    now; one that the plan has no more counts as one of another stage. aside: those that are left
    to the user. All are called as `Plan.names` calls them. free: how many more may be at work.

    Where the user says that they are at a wave or story, the stages that have a task of it go
    first. What `order.problems` complains about is no reason to wait.
    """
    over = order.finished(plan, merged) - set(at_work)
    before = order.before(plan, over)
    names = dict(zip((task.line for task in plan.tasks), plan.names, strict=True))
    left = [names[task.line] for task in plan.open_tasks]
    left = [name for name in left if not any(name in each for each in (over, at_work, aside))]
    unmet = {name: [each for each in before[name] if each not in over] for name in left}
    may_begin = [name for name in left if not unmet[name]]
    begin = _of_first_stage(_stages(plan), may_begin, at_work)[: max(free, 0)]
    return Schedule(begin, {name: others for name, others in unmet.items() if others})


# ------------------------------------------------------------------------------- stages


def _of_first_stage(
    stages: list[set[str]], may_begin: list[str], at_work: Collection[str]
) -> list[str]:
    """Returns the items that may begin in the first stage that has some; none while somebody is at
    work in another one."""
    for stage in stages:
        if begin := [name for name in may_begin if name in stage]:
            is_free = len(stages) == 1 or stage.issuperset(at_work)
            return begin if is_free else []
    return []


def _stages(plan: Plan) -> list[set[str]]:
    """Returns the names of the items of each stage, whatever their status."""
    stages: list[list[int]] = []
    for place, task in enumerate(plan.tasks):
        if place and _is_beside(plan, plan.tasks[place - 1], task):
            stages[-1].append(place)
        else:
            stages.append([place])
    stages.sort(key=lambda stage: not any(plan.is_current(plan.tasks[place]) for place in stage))
    return [{plan.names[place] for place in stage} for stage in stages]


def _is_beside(plan: Plan, last: Task, task: Task) -> bool:
    """Tells whether a task is of the stage of the last one."""
    is_parallel = plan.tool != SPEC_KIT or (last.is_parallel and task.is_parallel)
    return is_parallel and last.wave == task.wave
