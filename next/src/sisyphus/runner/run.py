"""Drives a run: one iteration after the other, until it is complete or has to end.

Before and after each iteration the run's row is read again: the user may have cancelled or paused
it from another terminal. All that the next iteration needs is in the rows, so a run that is killed
at any point can be resumed.
"""

from __future__ import annotations

import os
import time
from functools import partial

from sisyphus import clients, exports, files, git, store, worktree
from sisyphus.boulder import size
from sisyphus.errors import SisyphusError
from sisyphus.handoff import record as handoffs
from sisyphus.masking import mask, masked_line
from sisyphus.ralph import loop as loops
from sisyphus.ralph import messages as ralph
from sisyphus.ralph import transcripts
from sisyphus.ralph.loop import FATAL_ERROR, PAUSED
from sisyphus.ralph.transcripts import Entry
from sisyphus.runner import (
    audit,
    changes,
    decide,
    findings,
    fix_plan,
    iteration,
    messages,
    project_files,
    prompt,
    report,
    state,
)
from sisyphus.runner.decide import Decision, IterationFacts
from sisyphus.runner.desk import Desk
from sisyphus.runner.findings import Findings
from sisyphus.runner.iteration import Work
from sisyphus.runner.state import Iteration, Run
from sisyphus.sessions import record
from sisyphus.sessions.stops import Stops
from sisyphus.stop import breaker
from sisyphus.text import fingerprint

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

_SAID = 1_000
_ERRORS = 5
_STEP_SECONDS = 0.2


def drive(desk: Desk, run: Run) -> int:
    """Works at a run until it is over or has to stop; returns the exit code. Raises `SisyphusError`
    if nothing can be noted any more: the run can be resumed then."""
    try:
        return _finish(desk, run, _go_on(desk, run))
    except store.Error as error:
        raise SisyphusError(messages.not_noted(error)) from error


def _go_on(desk: Desk, run: Run) -> Decision:
    """Makes one iteration after the other; returns why the run has to stop."""
    try:
        return _work(desk, run)
    except SystemExit:  # SIGTERM has ended the check, or git
        return Decision(decide.STOP, messages.INTERRUPTED)


def _work(desk: Desk, run: Run) -> Decision:
    while (decision := _before(desk, run)).goes_on:
        step = audit.step if run.state.is_auditing else _iterate
        decision = step(desk, run)
        if decision.kind == decide.WAIT:
            decision = _wait(desk, run)
        if not decision.goes_on:
            break
    return decision


def _before(desk: Desk, run: Run) -> Decision:
    """Decides whether another iteration may begin."""
    loop = loops.find(desk.store, run.loop.id)
    if loop is None or loop.ended_at is not None:
        return Decision(decide.CANCELLED, messages.CANCELLED)
    facts = IterationFacts(
        stop=_why_stop(desk, loop),
        limit=decide.limit(loop, run.options, run.state.cost, time.time()),
        max_iterations=decide.max_iterations(loop, run.state.finished),
    )
    return decide.decide(facts)


def _why_stop(desk: Desk, loop: loops.Loop) -> str:
    if desk.signals.ends_after_iteration:
        return messages.AFTER_ITERATION
    return messages.PAUSED if loop.status == PAUSED else ""


def _iterate(desk: Desk, run: Run) -> Decision:
    """Makes one iteration, and decides how to go on."""
    text = _begin(desk, run)
    work = iteration.work(desk, run, text)
    if work.is_cut:
        return _before(desk, run)
    now = time.time()
    found = findings.gather(desk, run, work, now)
    with changes.change(desk, run) as is_open:
        if not is_open:
            return Decision(decide.CANCELLED, messages.CANCELLED)
        stuck = _take(desk, run, work, found, now)
        decision = decide.decide(_facts(desk, run, work, found, stuck))
        if decision.kind == decide.COMPLETED and run.options.audits:
            run.state.is_auditing = True
            decision = Decision(decide.CONTINUE, f"{decision.why}, and an audit follows")
        done = _entry(run, work, found, decision, now)
        if decision.kind != decide.WAIT:
            run.state.finished += 1
            state.record(desk.store, run, done)
    changes.export(desk, run)
    if decision.kind != decide.WAIT:
        _write_down(desk, run, work, found, done)
        desk.screen.end(run, done)
        if decision.kind == decide.CHECKPOINT:
            changes.send(desk, run, "checkpoint", decision.why)
        elif found.blocked_on:
            changes.send(desk, run, "blocked", found.blocked_on)
    return decision


def _begin(desk: Desk, run: Run) -> str:
    """Chooses the item of the next iteration; returns its prompt."""
    now, current = time.time(), run.state
    plan = fix_plan.read(current.plan, desk.project) if current.plan else fix_plan.FixPlan("")
    with changes.change(desk, run):
        current.todo, current.done = plan.todo, plan.done
        if not (current.resume and current.item in plan.todo):  # else it goes on with that one
            current.item = fix_plan.next_item(plan, current.blocked)
        current.is_working, current.began_at = True, now
        run.loop.counters.iteration = current.finished + 1
    before = state.iterations(desk.store, run.loop.id)
    text = prompt.build(run, plan, before)
    changes.export(desk, run, text)
    desk.screen.begin(run, now)
    return text


def _take(desk: Desk, run: Run, work: Work, found: Findings, now: float) -> str:
    """Takes what the iteration came to into the run's state; returns why the breaker opens."""
    current, told = run.state, work.report
    run.loop.counters.tokens += told.tokens
    current.cost += told.cost
    current.action = masked_line(told.last_action, _SAID) or current.action
    if work.failure and work.failure.passes:
        changes.note_wait(desk, run, work.failure.text, work.failure.until, now)
        return ""
    current.is_working, current.tries = False, 0
    current.waits_until, current.waits_for = 0.0, ""
    current.resume = ""  # it was in the prompt of this iteration
    if current.checkpoint:
        current.checkpoint["active"] = False
    current.refused = found.refused
    current.tail = mask(found.check.tail) if found.check and found.refused else ""
    if found.plan:
        _compare(run, found)
    if found.blocked_on and current.item and not found.is_done:
        current.blocked[current.item] = masked_line(found.blocked_on, _SAID)
    if found.handoff:
        handoffs.give(desk.store, found.handoff)
        current.checkpoint = project_files.checkpoint(found.handoff, current.item)
        is_over = found.is_done or bool(found.blocked_on)
        current.checkpoint["active"] = not is_over
        current.resume = "" if is_over else found.handoff.resume
    error = found.turn.error or (work.failure.text if work.failure else work.ended)
    stops = breaker.after_stop(Stops(**current.stops), has_progress=found.has_progress, error=error)
    current.stops = stops.as_dict()
    current.diff = _fingerprint(desk.project, found.changed)
    current.errors = [*current.errors, *([fingerprint(stops.error)] if error else [])][-_ERRORS:]
    return breaker.why_open(stops, desk.settings["ralph.breaker_stops"], error)


def _compare(run: Run, found: Findings) -> None:
    """Notes how the items have changed: those that left the plan undone, too."""
    plan, current = found.plan, run.state
    assert plan
    now = {*plan.todo, *plan.done, *plan.blocked}
    missing = [item for item in current.todo if item not in now]
    current.gone += [item for item in missing if not size.of(item).must_be_split]
    current.gone = [item for item in dict.fromkeys(current.gone) if item not in now]
    current.blocked = {item: why for item, why in current.blocked.items() if item in plan.todo}
    current.todo, current.done = plan.todo, plan.done


def _facts(desk: Desk, run: Run, work: Work, found: Findings, stuck: str) -> IterationFacts:
    current, failure = run.state, work.failure
    handoff = found.handoff if not found.is_done else None
    return IterationFacts(
        completed=found.completed,
        blocked=_why_blocked(run, found),
        checkpoint=f"the context was {handoff.percent} % full" if handoff else "",
        fatal=_why_fatal(run, work, found),
        waits=failure.text if failure and failure.passes else "",
        limit=decide.limit(run.loop, run.options, current.cost, time.time()),
        max_iterations=decide.max_iterations(run.loop, current.finished + 1),
        stuck=stuck,
        stop=_why_stop(desk, run.loop),
        missing=_missing(run, work, found),
    )


def _why_blocked(run: Run, found: Findings) -> str:
    plan, blocked = found.plan, run.state.blocked
    if plan is None:
        return messages.needs_you(found.blocked_on) if found.blocked_on else ""
    if found.blocked_on and not run.state.item:
        return messages.needs_you(found.blocked_on)
    if plan.problem or fix_plan.next_item(plan, blocked) or not (blocked or plan.blocked):
        return ""
    return messages.all_blocked(blocked, plan.blocked)


def _why_fatal(run: Run, work: Work, found: Findings) -> str:
    if work.failure and work.failure.is_fatal:
        return work.failure.text
    if work.denied:
        return work.ended
    if (
        work.report.denied
        and not found.has_progress
        and (call := iteration.first_edit(work.report))
    ):
        free = clients.headless(run.options.client).FREE_MODE
        return messages.denied(call, run, free)
    if found.plan and found.plan.problem and not run.loop.options.promise:
        return messages.plan_is_gone(os.path.basename(run.state.plan), found.plan.problem)
    return ""


def _missing(run: Run, work: Work, found: Findings) -> str:
    """Says why the run goes on."""
    if found.refused:
        return found.refused
    if work.ended or work.failure:
        return work.ended or (work.failure.text if work.failure else "")
    if found.is_done:
        return messages.ITEM_DONE
    if found.blocked_on:
        return messages.needs_you(found.blocked_on)
    return messages.ITEM_NOT_DONE if run.state.item else messages.NOT_DONE


def _entry(run: Run, work: Work, found: Findings, decision: Decision, now: float) -> Iteration:
    told = work.report
    return Iteration(
        number=run.loop.counters.iteration,
        at=now,
        decision=decision.kind,
        why=decision.why,
        tokens=told.tokens,
        item=run.state.item,
        is_done=found.is_done,
        said=mask(found.turn.last_text.strip())[-_SAID:],
        seconds=work.seconds,
        files=len(found.changed),
        percent=told.peak,
        cost=told.cost,
        denied=[masked_line(f"{each.tool} {each.target}", 200) for each in told.denied],
    )


def _fingerprint(project: str, changed: list[str]) -> str:
    """Returns a fingerprint of the changes of an iteration; "" = it changed nothing."""
    stamps = [f"{path} {files.stamp(path)}" for path in sorted(changed)]
    moved = str(git.head_moved_at(project))
    return fingerprint("\n".join([moved, *stamps])) if changed else ""


# ---------------------------------------------------------------- waiting


def _wait(desk: Desk, run: Run) -> Decision:
    """Waits; ends early if the run has to. A clock that is set back does not make it longer."""
    until = run.state.waits_until
    deadline = time.monotonic() + until - time.time()
    desk.screen.say(messages.waits(run.state.waits_for, until))
    while time.time() < until and time.monotonic() < deadline:
        decision = _before(desk, run)
        if not decision.goes_on:
            return decision
        desk.screen.show(run, iteration.NOTHING, time.time())
        time.sleep(_STEP_SECONDS)
    return Decision(decide.CONTINUE, run.state.waits_for)


def _write_down(desk: Desk, run: Run, work: Work, found: Findings, done: Iteration) -> None:
    """Writes the transcript of the iteration."""
    check = ""
    if found.check:
        check = ralph.check_output(run.loop, found.check.how, found.check.tail).body
    entry = Entry(
        run.loop, record.id_of(desk.store, run.session), done.number, done.at, found.turn, check,
        f"{done.decision}, {done.why}",
    )  # fmt: skip
    exports.run([partial(transcripts.write, entry)])


# ---------------------------------------------------------------- the end

_NOTICES = {
    decide.COMPLETED: "completion",
    decide.FATAL: "failure",
    decide.LIMIT: "ended",
    decide.MAX_ITERATIONS: "ended",
    decide.STUCK: "paused",
    decide.BLOCKED: "blocked",
}


def _finish(desk: Desk, run: Run, decision: Decision) -> int:
    """Ends or pauses the run, and reports."""
    now = time.time()
    with changes.change(desk, run) as is_open:
        if is_open:
            _close(run, decision, now)
        run.runner = run.client = ""
    rows = state.iterations(desk.store, run.loop.id)
    changes.export(desk, run)
    plan = fix_plan.read(run.state.plan, desk.project) if run.state.plan else fix_plan.FixPlan("")
    text = report.render(
        run,
        rows,
        plan,
        git.commits_since(desk.project, run.state.head),
        list(worktree.changed(desk.project, run.loop.started_at, now)),
    )
    file = transcripts.report_file(run.loop.id)
    exports.run([partial(exports.replace, file, text.encode("utf-8", "replace"))])
    for line in text.splitlines():
        desk.screen.say(line)
    desk.screen.say(messages.ended(run, file))
    if kind := _NOTICES.get(decision.kind):
        changes.send(desk, run, kind, decision.why)
    return EXIT_CODES[decision.kind]


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
