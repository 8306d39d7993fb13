"""Ends a run, or lets it wait to be resumed, and reports."""

from __future__ import annotations

import time
from functools import partial

from sisyphus.ground import exports, git, worktree
from sisyphus.ground.record import replace
from sisyphus.loops import iterations, loops, transcripts
from sisyphus.loops.loops import FATAL_ERROR, PAUSED
from sisyphus.loops.runs import Run
from sisyphus.runner import decide, fix_plan, iteration_outcome, messages, report, saving
from sisyphus.runner.decide import Decision
from sisyphus.runner.runner import Runner

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

NOT_PROVEN = 5
"""The exit code of a run that is complete, though nothing but the plan changed for an item, its
check proves nothing, or that was taken out of the plan."""

_NOTICES = {
    decide.COMPLETED: "completion",
    decide.FATAL: "failure",
    decide.LIMIT: "ended",
    decide.MAX_ITERATIONS: "ended",
    decide.STUCK: "paused",
    decide.BLOCKED: "blocked",
}


def finish(runner: Runner, run: Run, decision: Decision) -> int:
    """Ends or pauses the run, and reports; returns the exit code."""
    now = time.time()
    plan = iteration_outcome.plan_of(runner, run)
    with saving.change(runner, run) as is_open:
        if not plan.problem:
            fix_plan.note(plan, run.state)
        if decision.kind == decide.COMPLETED:
            decision = replace(decision, why=f"{decision.why}{report.how_proven(run)}")
        if is_open:
            _close(run, decision, now)
        run.runner = run.client = ""
    saving.export(runner, run)
    text = _report(runner, run, plan.problem, now)
    file = transcripts.report_file(run.loop.id)
    exports.run([partial(exports.replace, file, text.encode("utf-8", "replace"))])
    if kind := _NOTICES.get(decision.kind):
        saving.send(runner, run, kind, decision.why)
    for line in [*text.splitlines(), "", messages.ended(file)]:
        runner.screen.say(line)
    if decision.kind == decide.COMPLETED and report.not_proven(run):
        return NOT_PROVEN
    return EXIT_CODES[decision.kind]


def _report(runner: Runner, run: Run, problem: str, now: float) -> str:
    rows = iterations.of(runner.store, run.loop)
    commits = git.commits_since(runner.project, run.state.head)
    changed = worktree.changed(runner.project, run.loop.started_at, now)
    return report.render(run, rows, problem, commits, [p for p in changed if p != run.state.plan])


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
