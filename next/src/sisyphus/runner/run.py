"""Drives a run: one iteration after the other, until it is complete or has to end.

Before and after each iteration the run's row is read again: the user may have cancelled or paused
it from another terminal. All that the next iteration needs is in the rows, so a run that is killed
at any point can be resumed.
"""

from __future__ import annotations

import time

from sisyphus import processes, store
from sisyphus.errors import SisyphusError
from sisyphus.ralph import loop as loops
from sisyphus.ralph import messages as ralph
from sisyphus.runner import (
    audit,
    changes,
    decide,
    ending,
    findings,
    fix_plan,
    iteration,
    judgement,
    messages,
    prompt,
    state,
)
from sisyphus.runner.decide import Decision, IterationFacts
from sisyphus.runner.desk import Desk
from sisyphus.runner.findings import Completion, Findings
from sisyphus.runner.state import Iteration, Run

_STEP_SECONDS = 0.2


def drive(desk: Desk, run: Run) -> int:
    """Works at a run until it is over or has to stop; returns the exit code. Raises `SisyphusError`
    if nothing can be noted any more: the run can be resumed then."""
    try:
        return ending.finish(desk, run, _go_on(desk, run))
    except store.Error as error:
        raise SisyphusError(messages.not_noted(error)) from error


def _go_on(desk: Desk, run: Run) -> Decision:
    """Makes one iteration after the other; returns why the run has to stop."""
    try:
        return _work(desk, run)
    except SystemExit as error:
        if error.code != processes.TERMINATED:
            raise
        return Decision(decide.STOP, messages.INTERRUPTED)  # in the check, or in git


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
        stop=judgement.why_stop(desk, loop),
        limit=decide.limit(loop, run.options, run.state.cost, time.time()),
        max_iterations=decide.max_iterations(loop, run.state),
    )
    return decide.decide(facts)


def _iterate(desk: Desk, run: Run) -> Decision:
    """Makes one iteration, and decides how to go on."""
    completion = findings.without_client(desk, run)
    if completion and completion.why:
        return _complete(desk, run, completion)
    if completion:
        with changes.change(desk, run):
            judgement.refuse(run, completion)
    text = _begin(desk, run)
    work = iteration.work(desk, run, text)
    with changes.change(desk, run):
        judgement.spend(run, work)
    if work.is_cut:
        return _before(desk, run)
    now = time.time()
    found = findings.gather(desk, run, work, now)
    with changes.change(desk, run) as is_open:
        if not is_open:
            return Decision(decide.CANCELLED, messages.CANCELLED)
        stuck = judgement.take(desk, run, work, found, now)
        decision = decide.decide(judgement.facts(desk, run, work, found, stuck))
        decision = _with_audit(run, decision)
        done = judgement.entry(run, work, found, decision, now)
        if decision.kind != decide.WAIT:
            run.state.finished += 1
            state.record(desk.store, run, done)
    changes.export(desk, run)
    if decision.kind != decide.WAIT:
        _tell(desk, run, found, done)
    return decision


def _complete(desk: Desk, run: Run, completion: Completion) -> Decision:
    """Takes it that nothing is left to do, without a client: all items were done before the run, or
    in an iteration that was cut off."""
    with changes.change(desk, run) as is_open:
        if not is_open:
            return Decision(decide.CANCELLED, messages.CANCELLED)
        run.state.check_changed = completion.check_changed
        decision = _with_audit(run, Decision(decide.COMPLETED, completion.why))
        if run.state.is_working:
            run.state.finished += 1
            state.record(desk.store, run, judgement.cut_off(run, decision, time.time()))
        run.state.is_working = False
        return decision


def _with_audit(run: Run, decision: Decision) -> Decision:
    """Returns the decision, unless an audit has to come before the run is complete."""
    if decision.kind != decide.COMPLETED or not run.options.audits:
        return decision
    run.state.is_auditing = True
    return Decision(decide.CONTINUE, f"{decision.why}, and an audit follows")


def _begin(desk: Desk, run: Run) -> str:
    """Chooses the item of the next iteration; returns its prompt."""
    now, current = time.time(), run.state
    plan = findings.plan_of(desk, run)
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


def _tell(desk: Desk, run: Run, found: Findings, done: Iteration) -> None:
    """Writes the transcript of the iteration, shows its line, and sends a notice if it has one."""
    check = found.completion.check
    output = ralph.check_output(run.loop, check.how, check.tail).body if check else ""
    changes.write_down(desk, run, done, found.turn, output)
    desk.screen.end(run, done)
    if done.decision == decide.CHECKPOINT:
        changes.send(desk, run, "checkpoint", done.why)
    elif found.blocked_on:
        changes.send(desk, run, "blocked", found.blocked_on)
