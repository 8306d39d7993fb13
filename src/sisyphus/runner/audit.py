"""Audits: a new client gets the objective and the changes, and looks for what is missing.

It gets none of the worker's words, and it cannot write. What it finds goes into the plan as boxes.
The run is complete when so many audits in a row as its user wants have found nothing.
"""

from __future__ import annotations

import os
import time

from sisyphus.clients.transcript_records import Reading
from sisyphus.ground import git, worktree
from sisyphus.ground.errors import UnreadableError
from sisyphus.ground.masking import mask
from sisyphus.loops.iterations import SAID_CHARACTERS, Iteration
from sisyphus.loops.runs import MAX_AUDITS, Run
from sisyphus.runner import (
    audit_prompt,
    decide,
    fix_plan,
    iteration,
    iteration_outcome,
    iteration_rows,
    messages,
    saving,
)
from sisyphus.runner.decide import Decision
from sisyphus.runner.iteration import ClientResult
from sisyphus.runner.runner import Runner
from sisyphus.sessions import turns


def step(runner: Runner, run: Run) -> Decision:
    """Makes one audit, and decides how to go on."""
    if run.state.audits - run.state.first_audit >= MAX_AUDITS:
        return Decision(decide.LIMIT, messages.audits_used_up(MAX_AUDITS))
    now = time.time()
    with saving.change(runner, run):
        item = messages.audit_name(run.state.audits + 1)
        if run.state.item == item:
            iteration_rows.note_cut_session(runner.store, run)
        run.state.item, run.state.began_at = item, now
        run.loop.counters.iteration = run.state.finished + 1
    runner.screen.begin(run, now)
    result = iteration.run_client(runner, run, _prompt(runner, run, now), is_audit=True)
    with saving.change(runner, run):
        iteration_rows.spend(run, result)
    if result.is_cut:
        return Decision(decide.CONTINUE, result.why_ended)
    turn = turns.from_reading(Reading(result.report.records), None, 0.0)
    found = None if result.failure or result.end else audit_prompt.answer(turn.last_text)
    added = _add(runner, run, found) if found else []
    with saving.change(runner, run) as is_open:
        if not is_open:
            return Decision(decide.CANCELLED, messages.CANCELLED)
        decision = _take(runner, run, result, found, added)
        entry = _entry(run, result, decision, turn.last_text)
        if decision.kind != decide.WAIT:
            iteration_rows.close(runner.store, run, entry)
    saving.export(runner, run)
    if decision.kind != decide.WAIT:
        saving.write_down(runner, run, entry, turn)
        runner.screen.end(run, entry)
    return decision


def _prompt(runner: Runner, run: Run, now: float) -> str:
    changed = list(worktree.changed(runner.project, run.loop.started_at, now))
    plan = iteration_outcome.plan_of(runner, run)
    diff = git.diff(runner.project, run.state.head) if run.state.head else ""
    return audit_prompt.build(run, plan, diff, changed)


def _take(
    runner: Runner,
    run: Run,
    result: ClientResult,
    found: list[str] | None,
    added: list[str] | Exception,
) -> Decision:
    """Takes the answer of the auditor into the run's state. found: what is missing; None = it gave
    no answer. added: what of that is new in the plan, or why it could not be added."""
    current, failure = run.state, result.failure
    if failure and failure.passes:
        saving.note_wait(runner, run, failure.text, failure.until, time.time())
        return Decision(decide.WAIT, failure.text)
    current.audits += 1
    current.tries = 0
    if failure and failure.is_fatal:
        return Decision(decide.FATAL, failure.text)
    if found is None:
        current.clean_audits = 0
        return Decision(decide.CONTINUE, messages.audit_is_unclear(current.audits))
    if isinstance(added, Exception):
        return Decision(decide.FATAL, messages.not_added(run, added))
    if added:
        current.clean_audits, current.is_auditing = 0, False
        return Decision(decide.CONTINUE, messages.audit_found(current.audits, len(added)))
    current.clean_audits += 1
    kind = decide.COMPLETED if current.clean_audits >= run.options.audits else decide.CONTINUE
    current.is_auditing = kind == decide.CONTINUE
    return Decision(kind, messages.audit_is_clean(current.audits))


def _add(runner: Runner, run: Run, found: list[str]) -> list[str] | Exception:
    """Adds what was found to the plan; returns what was not in it, or why that is impossible."""
    run.state.plan = run.state.plan or os.path.join(runner.project, "fix_plan.md")
    heading = messages.audit_heading(run.state.audits + 1)
    try:
        return fix_plan.add(run.state.plan, runner.project, heading, found)
    except (UnreadableError, OSError) as error:
        return error


def _entry(run: Run, result: ClientResult, decision: Decision, said: str) -> Iteration:
    return Iteration(
        number=run.loop.counters.iteration,
        at=time.time(),
        decision=decide.AUDIT,
        why=decision.why,
        tokens=run.state.spent_tokens,
        item=run.state.item,
        is_done=run.state.clean_audits > 0,
        said=mask(said.strip())[-SAID_CHARACTERS:],
        seconds=run.state.spent_seconds,
        percent=result.report.peak,
        cost=run.state.spent_cost,
    )
