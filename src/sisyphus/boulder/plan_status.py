"""Says how far a plan is now, for commands and pages. It only reads."""

from __future__ import annotations

import os

from sisyphus.boulder import find, follow, messages, other_tools, ticks
from sisyphus.boulder import plans as plan_rows
from sisyphus.boulder.find import PlanFile
from sisyphus.boulder.plan import BLOCKED, CANCELLED, FAILED, IN_PROGRESS, Plan
from sisyphus.boulder.plans import ACTIVE, COMPLETE, MISSING, Checkpoint, PlanRecord
from sisyphus.ground import paths
from sisyphus.ground.record import Record, field, replace
from sisyphus.ground.text import iso

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from sisyphus.ground.store import Store

NONE, STALE = "none", "stale"
"""States in addition to those of records."""

_EMPTY = Plan("", (), 0, 0, {}, {})


class PlanStatus(Record):
    """How far a plan is.

    state: of the record, or STALE or NONE. record: None = no plan is followed; then `open_files`
    are the plans to choose from, if several are open. cleared: plans that the user has cleared, if
    none is followed. unusable: plan files that nobody can follow, if none is followed.
    completed_at: when the plan was completed, if it is shown only because none is followed; else 0.
    problem: why the plan cannot be read. left_out: how many other plans we did not read.
    evidence: what stands behind the ticks, by task; see `ticks.words`.
    """

    project: str
    state: str
    record: PlanRecord | None = None
    plan: Plan = _EMPTY
    completed_at: float = 0.0
    open_files: tuple[PlanFile, ...] = ()
    cleared: tuple[PlanRecord, ...] = ()
    unusable: tuple[PlanFile, ...] = ()
    problem: str = ""
    left_out: int = 0
    evidence: dict[str, str] = field(default_factory=dict)

    @property
    def progress(self) -> tuple[int, int]:
        """Completed tasks and all tasks: those in the file, else those that it had when it was
        completed or went missing."""
        if self.record and self.state in (COMPLETE, MISSING) and not self.plan.total:
            return self.record.completed, self.record.total
        return self.plan.completed, self.plan.total

    @property
    def percent(self) -> int | None:
        """How much of its tasks is completed, rounded down, so that 100 says all; None = it has
        none."""
        completed, total = self.progress
        return completed * 100 // total if total else None

    @property
    def in_words(self) -> str:
        """How far it is, for one line."""
        completed, total = self.progress
        percent = "" if self.percent is None else f", {self.percent}%"
        return f"{completed}/{total} tasks{percent}"


def completed(store: Store, project: str = "") -> list[PlanStatus]:
    """Returns the plans that were completed and have not changed since, the latest first. project:
    "" = all projects."""
    entries = store.all(
        "SELECT plan, at, completed, total, max(n) FROM history WHERE what = 'completed' "
        "AND ? IN ('', project) GROUP BY plan ORDER BY max(n) DESC",
        project,
    )
    results = []
    for path, at, done, total, _ in entries:
        record = plan_rows.find(store, path)
        if record and record.state == COMPLETE:
            record = replace(record, completed=done, total=total)
            results.append(PlanStatus(record.project, COMPLETE, record, completed_at=at))
    return results


def with_stories(store: Store, status: PlanStatus) -> PlanStatus:
    """Returns the status of a complete plan with what its file says, if it still exists."""
    assert status.record is not None
    file = find.read(status.record.path, status.project)
    plan = file.plan or _EMPTY
    return replace(status, plan=plan, evidence=ticks.words(store, status.record.path, plan))


def offers(project: str, home: str) -> list[str]:
    """Returns sentences about the plans that are followed only if the user names them: those of
    other tools, those that are called like a plan, and those of the client's plan mode."""
    from sisyphus.boulder import stray_plans  # imported late: only commands ask for these

    sentences = []
    of_others = other_tools.open_plans(project)
    if of_others.paths:
        sentences.append(other_tools.offered(of_others.paths, project))
    if of_others.unread:
        sentences.append(other_tools.not_read(of_others.unread))
    if stray := stray_plans.find_open(project):
        sentences.append(messages.stray_plans([record_of(file) for file in stray]))
    if plan_mode := find.open_of_plan_mode(project, home):
        sentences.append(messages.plans_of_plan_mode([record_of(file) for file in plan_mode]))
    return sentences


def of_known(store: Store, file: PlanFile, now: float) -> PlanStatus:
    """Returns how far a plan is, as its record knows it if it has one."""
    record = plan_rows.find(store, file.path)
    return of_record(store, record, now, file) if record else of_file(file)


def of_record(
    store: Store, record: PlanRecord, now: float, file: PlanFile | None = None
) -> PlanStatus:
    """Returns how far a plan is in its file; the record may be older. file: as it has just been
    read; None = it is read now."""
    file = file or find.read(record.path, record.project)
    file = replace(file, plan=follow.as_known(file.plan, record) if file.plan else None)
    state = follow.state_of(file)
    if state == ACTIVE and plan_rows.is_stale(store, record, now):
        state = STALE
    record = follow.compare(record, file, now).record or record
    plan = follow.as_known(file.plan or _EMPTY, record)
    words = ticks.words(store, record.path, plan)
    return PlanStatus(record.project, state, record, plan, problem=file.problem, evidence=words)


def of_file(file: PlanFile) -> PlanStatus:
    """Returns how far a plan is that no session follows."""
    record = record_of(file)
    state = follow.state_of(file)
    project = file.project or paths.project_of(os.path.dirname(file.path))
    return PlanStatus(project, state, record, file.plan or _EMPTY, problem=file.problem)


def record_of(file: PlanFile) -> PlanRecord:
    """Returns the record that a plan would get if a session followed it."""
    plan = file.plan or _EMPTY
    return PlanRecord(
        file.path,
        file.project,
        file.name,
        total=plan.total,
        completed=plan.completed,
        blocked=plan.counts[BLOCKED],
        next_task=plan.next_step,
        has_check_next=plan.has_check_next,
    )


def as_dict(status: PlanStatus, *, named_only: bool = False) -> dict[str, Any]:
    """Returns what `boulder status --json` prints. named_only: leave out stories that are single
    tasks."""
    record, plan = status.record, status.plan
    wave, story = follow.position(record, plan) if record else (None, "")
    completed, total = status.progress
    problem = status.problem or " ".join(map(messages.unusable, status.unusable))
    notes = [_checkpoint(each) for each in record.checkpoints] if record else []
    return {
        "state": status.state,
        "active_plan": record.path if record else None,
        "project_root": status.project,
        "plan_name": record.name if record else None,
        "started_at": iso(record.started_at) if record and record.started_at else None,
        "session_ids": record.session_ids if record else [],
        "progress": {
            "total": total,
            "completed": completed,
            "percent": status.percent,
            "blocked": plan.counts[BLOCKED],
            "in_progress": plan.counts[IN_PROGRESS],
            "cancelled": plan.counts[CANCELLED],
            "steps_total": plan.steps,
            "steps_completed": plan.steps_completed,
            "failed": plan.counts[FAILED],
        },
        "evidence": status.evidence,
        "next_task": plan.next_step or None,
        "unclear": like_tasks(plan),
        "current_wave": wave,
        "current_story": story or None,
        "waves": [
            {"number": w.number, "name": w.name or None, "total": w.total, "completed": w.completed}
            for w in plan.waves
        ],
        "stories": [
            {
                "id": s.id,
                "title": s.title,
                "wave": s.wave,
                "status": s.status,
                "total": s.total,
                "completed": s.completed,
            }
            for s in plan.stories
            if s.is_named or not named_only
        ],
        "checkpoint": notes[0] if notes else None,
        "todos": record.todos if record else [],
        **({"automatic_checkpoint": notes[1]} if len(notes) > 1 else {}),
        **({"problem": problem} if problem else {}),
        **({"completed_at": iso(status.completed_at)} if status.completed_at else {}),
    }


def like_tasks(plan: Plan) -> list[dict[str, Any]]:
    """Returns the lines that look like open tasks and are none, for `--json`."""
    return [{"line": each.line, "text": each.text} for each in plan.like_tasks]


def _checkpoint(one: Checkpoint) -> dict[str, str]:
    return {"timestamp": one.timestamp, "message": one.message}
