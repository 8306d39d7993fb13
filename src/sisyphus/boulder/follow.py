"""Compares a plan's record with its file: what has happened since we last looked, and where the
plan is now.

Pure: a record comes in, a new one goes out.
"""

from sisyphus.boulder.find import PlanFile, in_order
from sisyphus.boulder.plan import BLOCKED, FAILED, IN_PROGRESS, OPEN, Plan
from sisyphus.boulder.plans import (
    ACTIVE,
    COMPLETE,
    DISMISSED,
    MISSING,
    NO_TASKS,
    Checkpoint,
    PlanRecord,
)
from sisyphus.boulder.ticks import OF_PLAN, Update
from sisyphus.ground.record import Record, field, replace
from sisyphus.ground.text import iso

NEW, BACK, PROGRESSED, REWORDED, COMPLETED, EMPTIED, GONE, UNREADABLE, NOTHING = (
    "new", "back", "progressed", "reworded", "completed", "emptied", "gone", "unreadable",
    "nothing",
)  # fmt: skip

_HAPPENED = {
    # state of the record → state of the file → what has happened
    None: {ACTIVE: NEW, NO_TASKS: NOTHING, COMPLETE: NOTHING, MISSING: NOTHING},
    ACTIVE: {ACTIVE: PROGRESSED, NO_TASKS: EMPTIED, COMPLETE: COMPLETED, MISSING: GONE},
    NO_TASKS: {ACTIVE: BACK, NO_TASKS: NOTHING, COMPLETE: COMPLETED, MISSING: GONE},
    MISSING: {ACTIVE: BACK, NO_TASKS: EMPTIED, COMPLETE: COMPLETED, MISSING: NOTHING},
    COMPLETE: {ACTIVE: NEW, NO_TASKS: NOTHING, COMPLETE: NOTHING, MISSING: NOTHING},
    DISMISSED: {ACTIVE: NEW, NO_TASKS: NOTHING, COMPLETE: NOTHING, MISSING: NOTHING},
}


class Step(Record):
    """What has happened to a plan. record: the new one; None = this file is not a followed plan.
    what: one of the words above. ticks: what was found out about its ticks."""

    record: PlanRecord | None
    what: str
    ticks: Update = field(default_factory=Update)


def compare(record: PlanRecord | None, file: PlanFile, now: float) -> Step:
    """Compares a record with its file. Of one that cannot be read we know what we knew before."""
    if file.problem:
        return _unreadable(record, file)
    if record and record.failed and file.plan:
        file = replace(file, plan=as_known(file.plan, record))
    if record and record.problem:
        step = compare(replace(record, problem=""), file, now)
        return Step(step.record, BACK if step.what in (NOTHING, REWORDED) else step.what)
    if record and record.stamp == file.stamp and file.stamp:
        return Step(record, NOTHING)
    what = _HAPPENED[record.state if record else None][state_of(file)]
    if what == NEW and record and record.failed:
        what = BACK  # it was complete, until a check of it failed
    if what == NOTHING:
        return Step(replace(record, stamp=file.stamp) if record else None, NOTHING)
    if record is None or (record.state == COMPLETE and record.name != file.name):
        record = _new_record(record, file, now)
    if file.plan is None:
        return Step(replace(record, state=MISSING, stamp=""), what)
    new = _with_plan(record, file, file.plan, now)
    if what == PROGRESSED and (new.total, new.completed) == (record.total, record.completed):
        what = REWORDED
    return Step(new, what)


def _unreadable(record: PlanRecord | None, file: PlanFile) -> Step:
    """Notes once that the file of an open plan cannot be read any more."""
    is_news = record and record.is_open and record.problem != file.problem
    if record is None or file.is_half or not is_news:
        return Step(record, NOTHING)
    return Step(replace(record, problem=file.problem), UNREADABLE)


def state_of(file: PlanFile) -> str:
    if file.plan is None:
        return NO_TASKS if file.problem else MISSING
    if file.plan.is_complete:
        return COMPLETE
    return ACTIVE if file.plan.total else NO_TASKS


def _new_record(old: PlanRecord | None, file: PlanFile, now: float) -> PlanRecord:
    """Starts a record. The next plan in the file of a complete one gets a new one, too; the
    complete one with open tasks again keeps its own."""
    new = PlanRecord(file.path, file.project, file.name, started_at=now)
    return replace(new, in_repo=old.in_repo, kord=old.kord) if old else new


def _with_plan(record: PlanRecord, file: PlanFile, plan: Plan, now: float) -> PlanRecord:
    finished, current = _finished(plan), _still_current(record.checkpoint, plan)
    plan = at_checkpoint(plan, current)
    automatic = record.automatic
    if record.stamp and (latest := [name for name in finished if name not in record.finished]):
        automatic = checkpoint(plan, now, f"{latest[-1]} is complete")
    return replace(
        record,
        name=file.name if plan.total else record.name,  # an emptied file has no name
        state=state_of(file),
        stamp=file.stamp,
        total=plan.total,
        completed=plan.completed,
        blocked=plan.counts[BLOCKED],
        next_task=plan.next_step,
        has_check_next=plan.has_check_next,
        finished=finished,
        checkpoint=current,
        automatic=automatic,
    )


def as_known(plan: Plan, record: PlanRecord) -> Plan:
    """Returns a plan as its record knows it: with the tasks ahead at which its user says that they
    are, and with the ticked tasks as failed whose check fails."""
    if record.failed:
        named = zip(plan.names, plan.tasks, strict=True)
        plan = plan.with_failed({task.line for name, task in named if name in record.failed})
        plan = in_order(plan)
        if OF_PLAN in record.failed:
            plan = replace(plan, failed_check=record.failed_check)
    return at_checkpoint(plan, record.checkpoint)


def at_checkpoint(plan: Plan, checkpoint: Checkpoint | None) -> Plan:
    """Returns the plan with the tasks ahead at which its user says that they are."""
    return plan.at(checkpoint.wave, checkpoint.story) if checkpoint else plan


def with_checkpoint(
    record: PlanRecord, checkpoint: Checkpoint | None, plan: Plan | None
) -> PlanRecord:
    """Returns the record of a plan with another checkpoint of its user. plan: None = nobody can
    read it now."""
    if plan is None:
        return replace(record, checkpoint=checkpoint)
    current = _still_current(checkpoint, plan)
    now = at_checkpoint(plan, current)
    return replace(
        record,
        checkpoint=current,
        next_task=now.next_step,
        has_check_next=now.has_check_next,
    )


def _finished(plan: Plan) -> list[str]:
    """Returns the complete waves and named stories, stories first. A single task is neither."""
    stories = plan.stories if plan.headings else ()
    names = [f"{s.id}: {s.title}" for s in stories if s.is_named and s.status == "completed"]
    return names + [f"Wave {w.number}" for w in plan.waves if 0 < w.total == w.completed]


def _still_current(checkpoint: Checkpoint | None, plan: Plan) -> Checkpoint | None:
    """Drops the wave and story of a checkpoint when they are complete or blocked."""
    if checkpoint is None or (checkpoint.wave is None and not checkpoint.story):
        return checkpoint
    ended = {s.id for s in plan.stories if s.status in ("completed", "blocked")}
    open_waves = {t.wave for t in plan.tasks if t.status in (OPEN, IN_PROGRESS, FAILED)}
    return replace(
        checkpoint,
        story="" if checkpoint.story in ended else checkpoint.story,
        wave=checkpoint.wave if checkpoint.wave in open_waves else None,
    )


def checkpoint(plan: Plan | None, now: float, why: str) -> Checkpoint:
    """Returns an automatic checkpoint."""
    progress = f" ({of_tasks(plan.completed, plan.total)})" if plan else ""
    return Checkpoint(iso(now), f"{why}{progress}")


def of_tasks(completed: int, total: int) -> str:
    return f"{completed} of {total} task{'' if total == 1 else 's'}"


def position(record: PlanRecord, plan: Plan) -> tuple[int | None, str]:
    """Returns the current wave and story: those of the user's checkpoint, else of the next task.
    None and "" = the plan is in none."""
    checkpoint = record.checkpoint
    task = at_checkpoint(plan, checkpoint).next_task
    story = plan.story_ids.get(task.line, "") if task else ""
    wave = task.wave if task else None
    if checkpoint and checkpoint.story:
        story = checkpoint.story
        wave = plan.headings[story].wave if story in plan.headings else wave
    if checkpoint and checkpoint.wave is not None:
        wave = checkpoint.wave
    return wave, story


def current_story(record: PlanRecord, plan: Plan) -> str:
    """Returns the current story with its title; "" if it says no more than the next task."""
    _, id = position(record, plan)
    task = at_checkpoint(plan, record.checkpoint).next_task
    if id in plan.headings:
        title = plan.headings[id].title
    elif not id or (task and plan.story_ids.get(task.line) == id):
        return ""
    else:
        title = next((story.title for story in plan.stories if story.id == id), "")
    text = title if title.startswith(f"{id}:") else f"{id}: {title}".removesuffix(": ")
    return "" if task and task.text.casefold() in (title.casefold(), text.casefold()) else text
