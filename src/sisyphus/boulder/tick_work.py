"""The work behind ticks: what the agent did, by the session's records, and what has changed, by the
times of files.

Slow, so that it is looked at only where a box was ticked, or where a check may have run since.
"""

from __future__ import annotations

import os

from sisyphus import clients
from sisyphus.boulder import actions, evidence, find
from sisyphus.boulder.evidence import CHANGED, FAILED, PASSED, RUNNING, UNCHANGED, TickFacts
from sisyphus.boulder.ticks import OF_PLAN, Judgement, Tick
from sisyphus.ground import git, worktree
from sisyphus.ground.record import replace
from sisyphus.hook.event import OTHER
from sisyphus.loops import project_changes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from sisyphus.boulder.find import PlanFile
    from sisyphus.boulder.plan import Plan
    from sisyphus.boulder.ticks import Pending
    from sisyphus.clients.transcript_records import TranscriptLine
    from sisyphus.hook.hook import Hook

_BYTES = 2_000_000
"""How much of a transcript is read, from its end: some hundred calls. A check that ran before that
is not seen."""

_LATE_SECONDS = 900
"""How long before a tick a check may have begun whose result is written down after it."""


class TickWork:
    """The work by which ticks are judged. What is slow is found out once, when it is asked for.

    apart: the absolute paths of files whose change is no work. since: when the tick before
    came, or the work began. now: the time of the event. Both in seconds since 1970.
    """

    def __init__(
        self,
        records: Sequence[TranscriptLine],
        project: str,
        apart: Collection[str],
        since: float,
        now: float,
    ) -> None:
        self.project, self.since, self.now = project, since, now
        self._apart = {os.path.realpath(path) for path in apart if path}
        found = actions.of_records(records)
        self.actions = [each for each in found if not each.path or self._is_work(each.path)]
        self._last_change = -1.0

    def _is_work(self, path: str) -> bool:
        real = os.path.realpath(path)
        return real not in self._apart and not worktree.is_ours(real, self.project)

    @property
    def last_change(self) -> float:
        """Returns when a file last changed. It asks git for the names of all files."""
        if self._last_change < 0:
            self._last_change = worktree.last_change(self.project, self.now, self._apart)
        return self._last_change

    @property
    def has_changed(self) -> bool:
        """Tells whether a file has changed, or a commit changed one, since the work began."""
        edits = (action for action in self.actions if action.is_change)
        if any(not action.at or action.at > self.since for action in edits):
            return True
        if self.last_change > self.since:
            return True
        if self.since < git.head_moved_at(self.project) <= self.now:
            names = git.committed_since(self.project, self.since)
            return any(name not in self._apart for name in names)
        apart = self._apart
        return project_changes.has_changed_besides(self.project, self.since, self.now, apart)

    def has_failed(self, command: str) -> bool:
        """Tells whether the agent ran this check and it did not pass."""
        from sisyphus.boulder import check_runs  # imported late: few tasks name a check

        ends = (check_runs.ended(command, each, self.project) for each in self.actions)
        return FAILED in ends

    def run_of(self, command: str, ticked_at: float, changed_at: float = 0.0) -> str:
        """Returns how a check ended when it ran last on the work that was ticked, see
        `evidence.PASSED`; "" = it did not.

        It ran on that work if nobody changed a file between it and the tick. One that passes at any
        time after the tick counts, too; one that fails after the next change may have been broken
        by the next task.

        changed_at: when a file last changed before the tick; 0 = it is ticked now.
        """
        from sisyphus.boulder import check_runs  # imported late, too

        found = ""
        is_after = has_changed = False
        for action in self.actions:
            is_after = is_after or action.at > ticked_at
            if action.is_change:
                found, has_changed = (found, True) if is_after else ("", False)
            result = check_runs.ended(command, action, self.project)
            if not result or (is_after and has_changed and result == FAILED):
                continue
            if not is_after and result in (PASSED, FAILED):
                is_old = (changed_at or self.last_change) > (action.ended_at or action.at)
                result = "" if is_old else result
            found = result
        return found


def judge(hook: Hook, file: PlanFile, plan: Plan, pending: Pending) -> dict[str, Judgement]:
    """Judges the ticks that are new or still open. Returns name → judgement, without those that
    stay as they are."""
    checks = dict(zip(plan.names, (task.checks for task in plan.tasks), strict=True))
    checks[OF_PLAN] = plan.checks
    work = _work(hook, file, pending)
    may_come = _may_run(hook, work)
    found = {}
    for name in pending.new:
        row = pending.rows.get(name) or Tick(name)
        found[name] = _judge(work, checks[name], replace(row, changed_at=0.0), work.now, may_come)
    for name in pending.open_:
        row = pending.rows[name]
        at = work.now if name == OF_PLAN else row.at
        judgement = _judge(work, checks[name], row, at, may_come)
        if judgement.evidence not in (CHANGED, UNCHANGED):
            found[name] = judgement
        elif name != OF_PLAN and not row.is_told:
            found[name] = replace(judgement, evidence=row.evidence, output=row.output)
    return found


def _work(hook: Hook, file: PlanFile, pending: Pending) -> TickWork:
    """Returns what the session has done since the tick before; further back if that changed no
    file: what ran before is still true."""
    first = min([pending.since, *(pending.rows[n].at - _LATE_SECONDS for n in pending.open_)])
    work = _since(hook, file, pending.since, first)
    if not any(action.is_change for action in work.actions):
        work = _since(hook, file, pending.since, 0.0)
    return work


def _since(hook: Hook, file: PlanFile, tick_before: float, first: float) -> TickWork:
    read = clients.transcript(hook.event.client).read
    records = read(hook.event.transcript, since=first, limit=_BYTES).records
    return TickWork(records, file.project, find.no_work(file), tick_before, hook.now)


def _may_run(hook: Hook, work: TickWork) -> bool:
    """Tells whether a check may have run whose result is not written down yet. Nobody reads what a
    subagent has run."""
    known = {action.id for action in work.actions if action.is_over}
    calls = [call for call in hook.event.calls if call.action == OTHER and call.id]
    return bool(hook.event.agent) or any(call.id not in known for call in calls)


def _judge(
    work: TickWork, checks: tuple[str, ...], row: Tick, ticked_at: float, may_come: bool
) -> Judgement:
    """Judges one tick. checks: of its task. may_come: a result may not be written down yet."""
    runs = [work.run_of(command, ticked_at, row.changed_at) for command in _commands(checks)]
    is_settled = bool(runs) and all(run not in ("", RUNNING) for run in runs)
    has_changed = is_settled or work.has_changed
    word = evidence.judge(TickFacts(runs, has_changed, is_lost=bool(row.lost)))
    is_open = RUNNING in runs or (may_come and not is_settled)
    return Judgement(word, is_open=is_open, changed_at=work.last_change if is_open else 0.0)


def _commands(checks: tuple[str, ...]) -> Sequence[str]:
    """Returns the command lines of a task's checks."""
    if not checks:
        return ()
    from sisyphus.boulder.checks import split  # imported late, too

    return split(checks).commands
