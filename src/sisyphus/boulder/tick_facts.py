"""Finds out what stands behind new ticks: from what the session has recorded, and from the times of
files. Slow, so that it runs only where a box was ticked, or where a check may have run since."""

from __future__ import annotations

import os

from sisyphus import clients
from sisyphus.boulder import check_runs, evidence, find
from sisyphus.boulder.check_runs import RUNNING
from sisyphus.boulder.evidence import CHANGED, UNCHANGED, TickFacts
from sisyphus.boulder.ticks import Judgement
from sisyphus.ground import git, worktree
from sisyphus.ground.record import Record, field, replace
from sisyphus.hook.event import OTHER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

    from sisyphus.boulder.check_runs import Step
    from sisyphus.boulder.find import PlanFile
    from sisyphus.boulder.plan import Plan, Task
    from sisyphus.boulder.ticks import Pending, Tick
    from sisyphus.hook.hook import Hook

_BYTES = 2_000_000
"""How much of a transcript is read, from its end: some hundred calls. A check that ran before that
is not seen."""

_LATE_SECONDS = 900
"""How long before a tick a check may have begun whose result is written down after it."""


class Ground(Record):
    """What new ticks are judged by. apart: paths that are no work: the plan, and files of ours.
    is_open: a check may have run whose result is not written down yet."""

    project: str
    apart: Collection[str]
    since: float
    now: float
    steps: list[Step] = field(default_factory=list)
    is_open: bool = False
    _last_change: list[float] = field(default_factory=list)

    @property
    def last_change(self) -> float:
        """Returns when a file last changed. It asks git for the names of all files, once."""
        if not self._last_change:
            at = worktree.last_change(self.project, self.now, self.apart)
            self._last_change.append(at)
        return self._last_change[0]

    @property
    def has_changed(self) -> bool:
        """Tells whether a file changed since the tick before, or a commit changed one."""
        if any(step.is_change and step.at > self.since for step in self.steps):
            return True
        if self.last_change > self.since:
            return True
        is_moved = self.since < git.head_moved_at(self.project) <= self.now
        return is_moved and any(
            path not in self.apart for path in git.committed_since(self.project, self.since)
        )


def judge(hook: Hook, file: PlanFile, plan: Plan, pending: Pending) -> dict[str, Judgement]:
    """Returns what was found out about the ticks of a plan."""
    tasks = dict(zip(plan.names, plan.tasks, strict=True))
    ground = _ground(hook, file, pending)
    found = {
        name: _judge(ground, tasks[name], ground.now, pending.rows.get(name))
        for name in pending.new
    }
    for name in pending.open_:
        row = pending.rows[name]
        judgement = _judge(ground, tasks[name], row.at, row)
        if judgement.evidence not in (CHANGED, UNCHANGED):
            found[name] = judgement
        elif not row.is_told:
            found[name] = replace(judgement, evidence=row.evidence)
    return found


def _ground(hook: Hook, file: PlanFile, pending: Pending) -> Ground:
    since = pending.since
    ground = Ground(file.project, find.no_work(file), since, hook.now)
    first = min([since, *(pending.rows[name].at - _LATE_SECONDS for name in pending.open_)])
    ground.steps = _steps(hook, ground, first)
    if not any(step.is_change for step in ground.steps):  # what ran before that is still true
        ground.steps = _steps(hook, ground, 0.0)
    known = {step.id for step in ground.steps if step.is_over}
    calls = [call for call in hook.event.calls if call.action == OTHER and call.id]
    # Nobody reads what a subagent has run.
    ground.is_open = bool(hook.event.agent) or any(call.id not in known for call in calls)
    return ground


def _steps(hook: Hook, ground: Ground, since: float) -> list[Step]:
    """Returns what the session has done since a time, without edits of the plan."""
    read = clients.transcript(hook.event.client).read
    records = read(hook.event.transcript, since=since, limit=_BYTES).records
    return [
        step
        for step in check_runs.steps_of(records)
        if not step.path or os.path.realpath(step.path) not in ground.apart
    ]


def _judge(ground: Ground, task: Task, ticked_at: float, row: Tick | None) -> Judgement:
    from sisyphus.boulder.checks import split  # imported late: few tasks name a check

    commands = split(task.checks).commands if task.checks else ()
    changed_at = row.changed_at if row and row.is_done else 0.0
    is_unchanged = lambda at: (changed_at or ground.last_change) <= at  # noqa: E731
    runs = [
        check_runs.last_run(command, ground.steps, ticked_at, ground.project, is_unchanged)
        for command in commands
    ]
    is_settled = bool(runs) and all(run not in ("", RUNNING) for run in runs)
    word = evidence.judge(
        TickFacts(
            runs=runs,
            has_changed=is_settled or ground.has_changed,
            is_lost=bool(row and row.lost),
        )
    )
    is_open = RUNNING in runs or (ground.is_open and not is_settled)
    return Judgement(word, is_open=is_open, changed_at=ground.last_change if is_open else 0.0)
