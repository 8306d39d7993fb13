"""`sisyphus status --all`: shows what is going on in all projects."""

import time
from typing import Any

from sisyphus import work
from sisyphus.boulder import holds, plan_status, which
from sisyphus.boulder import plans as plan_rows
from sisyphus.boulder.plan_status import PlanStatus
from sisyphus.ground.paths import display
from sisyphus.ground.record import Record, field
from sisyphus.ground.store import Store
from sisyphus.ground.text import one_line
from sisyphus.loops import loops, state_file, user_actions
from sisyphus.loops.loop import Hold, Loop
from sisyphus.loops.runs import Run
from sisyphus.terminal import show
from sisyphus.work import Need, Status

_SHOWN_CHARACTERS = 100


class Project(Record):
    """What goes on in a project. plans: those with open tasks that sessions have worked on."""

    plans: list[PlanStatus] = field(default_factory=list)
    loops: list[Loop] = field(default_factory=list)
    holds: list[Hold] = field(default_factory=list)
    runs: list[Run] = field(default_factory=list)


def gather(store: Store, waiting: list[Need]) -> dict[str, Project]:
    """Returns root → what goes on there. Projects in which something waits for the user come first,
    then those with a plan, the one used last first."""
    found: dict[str, Project] = {each.project: Project() for each in waiting}
    for row in plan_rows.every(store):
        if row.is_open and not which.is_abandoned(store, row):
            status = plan_status.of_record(store, row, time.time())
            found.setdefault(row.project, Project()).plans.append(status)
    for loop in loops.all_live(store):
        found.setdefault(loop.project, Project()).loops.append(loop)
    for hold in loops.holds(store):
        found.setdefault(hold.project, Project()).holds.append(hold)
    for run in loops.runs(store):
        found.setdefault(run.project, Project()).runs.append(run)
    return found


def as_dict(store: Store, name: str, project: Project) -> dict[str, Any]:
    return {
        "project": name,
        "plans": [plan_status.as_dict(each) for each in project.plans],
        "loops": [
            state_file.as_dict(loop, user_actions.owner_id(store, loop)) for loop in project.loops
        ],
        "holds": [holds.as_dict(store, hold, time.time()) for hold in project.holds],
        "runs": [work.run_as_dict(store, run, time.time()) for run in project.runs],
    }


def print_one(store: Store, name: str, project: Project) -> None:
    show.heading(display(name, ""))
    for status in project.plans:
        show.line(_plan(status), indent=2)
    now = time.time()
    for each in [*project.loops, *project.holds, *project.runs]:
        print_work(work.of(store, each, now), now, indent=2)


def print_work(status: Status, now: float, *, indent: int = 0) -> None:
    """Prints how a loop, hold or run stands, with a line for each of its workers."""
    show.line(work.line(status), indent=indent)
    for text in work.worker_lines(status, now):
        show.line(text, "dim", indent=indent + 4)


def _plan(status: PlanStatus) -> str:
    assert status.record is not None
    next_step = status.plan.next_step
    what_next = f", next: {one_line(next_step, _SHOWN_CHARACTERS)}" if next_step else ""
    return f"Plan {one_line(status.record.name)}: {status.in_words}{what_next}"
