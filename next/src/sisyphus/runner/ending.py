"""Ends a run, or lets it wait to be resumed, and reports."""

from __future__ import annotations

import time
from functools import partial

from sisyphus import exports, git, worktree
from sisyphus.ralph import loop as loops
from sisyphus.ralph import transcripts
from sisyphus.ralph.loop import FATAL_ERROR, PAUSED
from sisyphus.runner import changes, decide, findings, messages, report, state
from sisyphus.runner.decide import Decision
from sisyphus.runner.desk import Desk
from sisyphus.runner.fix_plan import FixPlan
from sisyphus.runner.state import Run

EXIT_CODES = {
    decide.COMPLETED: 0,
    decide.FATAL: 1,
    decide.LIMIT: 3,
    decide.MAX_ITERATIONS: 3,
    decide.STUCK: 3,
    decide.BLOCKED: 4,
    decide.STOP: 130,
    decide.CANCELLED: 130,
}

_NOTICES = {
    decide.COMPLETED: "completion",
    decide.FATAL: "failure",
    decide.LIMIT: "ended",
    decide.MAX_ITERATIONS: "ended",
    decide.STUCK: "paused",
    decide.BLOCKED: "blocked",
}


def finish(desk: Desk, run: Run, decision: Decision) -> int:
    """Ends or pauses the run, and reports; returns the exit code."""
    now = time.time()
    plan = findings.plan_of(desk, run)
    with changes.change(desk, run) as is_open:
        if is_open:
            _close(run, decision, now)
        if not plan.problem:
            run.state.todo, run.state.done = plan.todo, plan.done
        run.runner = run.client = ""
    changes.export(desk, run)
    text = _report(desk, run, plan, now)
    file = transcripts.report_file(run.loop.id)
    exports.run([partial(exports.replace, file, text.encode("utf-8", "replace"))])
    if kind := _NOTICES.get(decision.kind):
        changes.send(desk, run, kind, decision.why)
    for line in [*text.splitlines(), messages.ended(file)]:
        desk.screen.say(line)
    return EXIT_CODES[decision.kind]


def _report(desk: Desk, run: Run, plan: FixPlan, now: float) -> str:
    rows = state.iterations(desk.store, run.loop.id)
    commits = git.commits_since(desk.project, run.state.head)
    changed = worktree.changed(desk.project, run.loop.started_at, now)
    return report.render(run, rows, plan, commits, [p for p in changed if p != run.state.plan])


def _close(run: Run, decision: Decision, now: float) -> None:
    results = {
        decide.COMPLETED: loops.SUCCESS,
        decide.FATAL: FATAL_ERROR,
        decide.LIMIT: loops.LIMIT,
        decide.MAX_ITERATIONS: loops.MAX_ITERATIONS,
    }
    statuses = {decide.BLOCKED: loops.BLOCKED, decide.STUCK: loops.STUCK, decide.STOP: PAUSED}
    if result := results.get(decision.kind):
        run.loop.end(result, decision.why, now)
    else:
        run.loop.pause(statuses[decision.kind], decision.why, now)
