"""Finds out what stands behind new ticks: from what the session has recorded, and from the times of
files. Slow, so that it runs only where a box was ticked, or where a check may have run since."""

from __future__ import annotations

from sisyphus import clients
from sisyphus.boulder import evidence, find
from sisyphus.boulder.evidence import CHANGED, RUNNING, UNCHANGED, TickFacts
from sisyphus.boulder.ticks import OF_PLAN, Judgement, Tick
from sisyphus.boulder.work import Work
from sisyphus.ground.record import replace
from sisyphus.hook.event import OTHER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus.boulder.find import PlanFile
    from sisyphus.boulder.plan import Plan
    from sisyphus.boulder.ticks import Pending
    from sisyphus.hook.hook import Hook

_BYTES = 2_000_000
"""How much of a transcript is read, from its end: some hundred calls. A check that ran before that
is not seen."""

_LATE_SECONDS = 900
"""How long before a tick a check may have begun whose result is written down after it."""


def judge(hook: Hook, file: PlanFile, plan: Plan, pending: Pending) -> dict[str, Judgement]:
    """Returns what was found out about the ticks of a plan."""
    checks = dict(zip(plan.names, (task.checks for task in plan.tasks), strict=True))
    checks[OF_PLAN] = plan.checks
    work = _work(hook, file, pending)
    is_open = _may_run(hook, work)
    found = {}
    for name in pending.new:
        row = pending.rows.get(name) or Tick(name)
        found[name] = _judge(work, checks[name], replace(row, changed_at=0.0), work.now, is_open)
    for name in pending.open_:
        row = pending.rows[name]
        at = work.now if name == OF_PLAN else row.at
        judgement = _judge(work, checks[name], row, at, is_open)
        if judgement.evidence not in (CHANGED, UNCHANGED):
            found[name] = judgement
        elif name != OF_PLAN and not row.is_told:
            found[name] = replace(judgement, evidence=row.evidence, output=row.output)
    return found


def _work(hook: Hook, file: PlanFile, pending: Pending) -> Work:
    """Returns what the session has done since the tick before; further back if that changed no
    file: what ran before is still true."""
    first = min([pending.since, *(pending.rows[n].at - _LATE_SECONDS for n in pending.open_)])
    work = _since(hook, file, pending.since, first)
    if not any(action.is_change for action in work.actions):
        work = _since(hook, file, pending.since, 0.0)
    return work


def _since(hook: Hook, file: PlanFile, tick_before: float, first: float) -> Work:
    read = clients.transcript(hook.event.client).read
    records = read(hook.event.transcript, since=first, limit=_BYTES).records
    return Work(records, file.project, find.no_work(file), tick_before, hook.now)


def _may_run(hook: Hook, work: Work) -> bool:
    """Tells whether a check may have run whose result is not written down yet. Nobody reads what a
    subagent has run."""
    known = {action.id for action in work.actions if action.is_over}
    calls = [call for call in hook.event.calls if call.action == OTHER and call.id]
    return bool(hook.event.agent) or any(call.id not in known for call in calls)


def _judge(
    work: Work, checks: tuple[str, ...], row: Tick, ticked_at: float, is_open: bool
) -> Judgement:
    """checks: of the task. is_open: a result may be still to come."""
    from sisyphus.boulder.checks import split  # imported late: few tasks name a check

    commands = split(checks).commands if checks else ()
    runs = [work.run_of(command, ticked_at, row.changed_at) for command in commands]
    is_settled = bool(runs) and all(run not in ("", RUNNING) for run in runs)
    has_changed = is_settled or work.has_changed
    word = evidence.judge(TickFacts(runs, has_changed, is_lost=bool(row.lost)))
    is_open = RUNNING in runs or (is_open and not is_settled)
    return Judgement(word, is_open=is_open, changed_at=work.last_change if is_open else 0.0)
