"""Audits: a new client gets the objective and the changes, and looks for what is missing.

It gets none of the worker's words, and it cannot write. What it finds goes into the plan as boxes.
The run is complete when so many audits in a row as its user wants have found nothing.
"""

from __future__ import annotations

import os
import time

from sisyphus import git, worktree
from sisyphus.clients.records import Reading
from sisyphus.errors import UnreadableError
from sisyphus.masking import mask
from sisyphus.runner import (
    changes,
    decide,
    findings,
    fix_plan,
    iteration,
    judgement,
    messages,
    prompt,
    state,
)
from sisyphus.runner.decide import Decision
from sisyphus.runner.desk import Desk
from sisyphus.runner.iteration import Work
from sisyphus.runner.judgement import SAID_CHARACTERS
from sisyphus.runner.options import MAX_AUDITS
from sisyphus.runner.state import Iteration, Run
from sisyphus.sessions import turn as turns


def step(desk: Desk, run: Run) -> Decision:
    """Makes one audit, and decides how to go on."""
    if run.state.audits - run.state.first_audit >= MAX_AUDITS:
        return Decision(decide.LIMIT, messages.audits_used_up(MAX_AUDITS))
    now = time.time()
    with changes.change(desk, run):
        run.state.item, run.state.began_at = messages.audit_name(run.state.audits + 1), now
        run.loop.counters.iteration = run.state.finished + 1
    desk.screen.begin(run, now)
    work = iteration.work(desk, run, _prompt(desk, run, now), is_audit=True)
    with changes.change(desk, run):
        judgement.spend(run, work)
    if work.is_cut:
        return Decision(decide.CONTINUE, work.why_ended)
    turn = turns.from_reading(Reading(work.report.records), None, 0.0)
    found = None if work.failure or work.end else prompt.audit_answer([turn.last_text])
    added = _add(desk, run, found) if found else []
    with changes.change(desk, run) as is_open:
        if not is_open:
            return Decision(decide.CANCELLED, messages.CANCELLED)
        decision = _take(desk, run, work, found, added)
        entry = _entry(run, work, decision, turn.last_text)
        if decision.kind != decide.WAIT:
            run.state.finished += 1
            state.record(desk.store, run, entry)
    changes.export(desk, run)
    if decision.kind != decide.WAIT:
        changes.write_down(desk, run, entry, turn)
        desk.screen.end(run, entry)
    return decision


def _prompt(desk: Desk, run: Run, now: float) -> str:
    changed = list(worktree.changed(desk.project, run.loop.started_at, now))
    plan = findings.plan_of(desk, run)
    diff = git.diff(desk.project, run.state.head) if run.state.head else ""
    return prompt.audit(run, plan, diff, changed)


def _take(
    desk: Desk, run: Run, work: Work, found: list[str] | None, added: list[str] | Exception
) -> Decision:
    """Takes the answer of the auditor into the run's state. found: what is missing; None = it gave
    no answer. added: what of that is new in the plan, or why it could not be added."""
    current, failure = run.state, work.failure
    if failure and failure.passes:
        changes.note_wait(desk, run, failure.text, failure.until, time.time())
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


def _add(desk: Desk, run: Run, found: list[str]) -> list[str] | Exception:
    """Adds what was found to the plan; returns what was not in it, or why that is impossible."""
    run.state.plan = run.state.plan or os.path.join(desk.project, "fix_plan.md")
    heading = messages.audit_heading(run.state.audits + 1)
    try:
        return fix_plan.add(run.state.plan, desk.project, heading, found)
    except (UnreadableError, OSError) as error:
        return error


def _entry(run: Run, work: Work, decision: Decision, said: str) -> Iteration:
    return Iteration(
        number=run.loop.counters.iteration,
        at=time.time(),
        decision=decide.AUDIT,
        why=decision.why,
        tokens=work.report.tokens,
        item=run.state.item,
        is_done=run.state.clean_audits > 0,
        said=mask(said.strip())[-SAID_CHARACTERS:],
        seconds=work.seconds,
        percent=work.report.peak,
        cost=work.report.cost,
    )
