"""Drives a run: one iteration after the other, until it is complete or has to end.

Before and after each iteration the run's row is read again: the user may have cancelled or paused
it from another terminal. All that the next iteration needs is in the rows, so a run that is killed
at any point can be resumed.
"""

from __future__ import annotations

import time

from sisyphus.ground import processes, store
from sisyphus.ground.errors import SisyphusError
from sisyphus.ground.record import replace
from sisyphus.loops import iterations, loops
from sisyphus.loops import messages as loop_messages
from sisyphus.loops.iterations import Iteration
from sisyphus.loops.runs import Run
from sisyphus.runner import (
    audit,
    decide,
    ending,
    fix_plan,
    item_checks,
    iteration,
    iteration_outcome,
    iteration_rows,
    messages,
    prompt,
    run_facts,
    saving,
)
from sisyphus.runner.decide import Decision
from sisyphus.runner.fix_plan import FixPlan
from sisyphus.runner.iteration_outcome import Completion, Findings
from sisyphus.runner.runner import Runner

_STEP_SECONDS = 0.2


def drive(runner: Runner, run: Run) -> int:
    """Works at a run until it is over or has to stop; returns the exit code. Raises `SisyphusError`
    if nothing can be noted any more: the run can be resumed then."""
    try:
        return ending.finish(runner, run, _go_on(runner, run))
    except store.Error as error:
        raise SisyphusError(messages.not_noted(error)) from error


def _go_on(runner: Runner, run: Run) -> Decision:
    """Makes one iteration after the other; returns why the run has to stop."""
    try:
        return _repeat(runner, run)
    except SystemExit as error:
        if error.code != processes.TERMINATED:
            raise
        return Decision(decide.STOP, messages.INTERRUPTED)  # in the check, or in git


def _repeat(runner: Runner, run: Run) -> Decision:
    while (decision := _before(runner, run)).goes_on:
        step = audit.step if run.state.is_auditing else _iterate
        decision = step(runner, run)
        if decision.kind == decide.WAIT:
            decision = _wait(runner, run)
        if not decision.goes_on:
            break
    return decision


def _before(runner: Runner, run: Run) -> Decision:
    """Decides whether another iteration may begin."""
    loop = loops.find(runner.store, run.loop.id)
    if loop is None or loop.ended_at is not None:
        return Decision(decide.CANCELLED, messages.CANCELLED)
    return decide.decide(run_facts.before(runner, replace(run, loop=loop)))


def _iterate(runner: Runner, run: Run) -> Decision:
    """Makes one iteration, and decides how to go on."""
    _judge_early_ticks(runner, run)
    completion = iteration_outcome.without_client(runner, run)
    if completion and completion.why:
        return _complete(runner, run, completion)
    if completion:
        with saving.change(runner, run):
            iteration_rows.refuse(run, completion)
    if _was_done(runner, run):
        return Decision(decide.CONTINUE, messages.ITEM_DONE)
    text = _begin(runner, run)
    result = iteration.run_client(runner, run, text)
    with saving.change(runner, run):
        iteration_rows.spend(run, result)
    if result.is_cut:
        return _before(runner, run)
    now = time.time()
    found = iteration_outcome.gather(runner, run, result, now)
    with saving.change(runner, run) as is_open:
        if not is_open:
            return Decision(decide.CANCELLED, messages.CANCELLED)
        stuck = iteration_rows.note(runner, run, result, found, now)
        decision = decide.decide(run_facts.after(runner, run, result, found, stuck))
        decision = _with_audit(run, decision)
        done = iteration_rows.entry(run, result, found, decision, now)
        if decision.kind != decide.WAIT:
            iteration_rows.close(runner.store, run, done)
    saving.export(runner, run)
    if decision.kind != decide.WAIT:
        _tell(runner, run, found, done)
    return decision


def _judge_early_ticks(runner: Runner, run: Run) -> None:
    """Judges the ticks of an iteration whose end nobody saw, and those that somebody else has
    made."""
    if not run.state.is_working:
        return
    results = item_checks.judge(runner, run, item_checks.read(runner, run), None)
    if results:
        with saving.change(runner, run):
            item_checks.note(runner, run, results)


def _complete(runner: Runner, run: Run, completion: Completion) -> Decision:
    """Takes it that nothing is left to do, without a client: all items were done before the run, or
    in an iteration that was cut off."""
    plan, done = iteration_outcome.plan_of(runner, run), None
    files = (
        len(iteration_outcome.changed_files(runner, run, time.time()))
        if run.state.is_working
        else 0
    )
    with saving.change(runner, run) as is_open:
        if not is_open:
            return Decision(decide.CANCELLED, messages.CANCELLED)
        run.state.check_changed = completion.check_changed
        decision = _with_audit(run, Decision(decide.COMPLETED, completion.why))
        fix_plan.note(plan, run.state)
        if run.state.is_working:
            done = _close_cut_off(runner, run, decision, files)
    if done:
        runner.screen.end(run, done)
    return decision


def _was_done(runner: Runner, run: Run) -> bool:
    """Tells whether the last iteration was cut off when its item was done already, and closes
    it."""
    state, plan = run.state, iteration_outcome.plan_of(runner, run)
    if not state.is_working or state.item in plan.todo or state.item not in plan.done:
        return False
    decision = Decision(decide.CONTINUE, messages.ITEM_DONE)
    files = len(iteration_outcome.changed_files(runner, run, time.time()))
    with saving.change(runner, run):
        fix_plan.note(plan, state)
        done = _close_cut_off(runner, run, decision, files)
    runner.screen.end(run, done)
    return True


def _close_cut_off(runner: Runner, run: Run, decision: Decision, files: int) -> Iteration:
    """Adds the row of an iteration that was cut off; nobody needs its handoff. files: how many it
    changed."""
    run.state.is_working, run.state.resume = False, ""
    if run.state.checkpoint:
        run.state.checkpoint["active"] = False
    done = iteration_rows.cut_off(run, decision, files)
    iteration_rows.close(runner.store, run, done)
    return done


def _with_audit(run: Run, decision: Decision) -> Decision:
    """Returns the decision, unless an audit has to come before the run is complete."""
    if decision.kind != decide.COMPLETED or not run.options.audits:
        return decision
    run.state.is_auditing = True
    return Decision(decide.CONTINUE, decision.why + messages.AND_AUDIT)


def _begin(runner: Runner, run: Run) -> str:
    """Chooses the item of the next iteration; returns its prompt."""
    now, current = time.time(), run.state
    plan = iteration_outcome.plan_of(runner, run)
    with saving.change(runner, run):
        if current.is_working:
            iteration_rows.note_cut_session(runner.store, run)
        fix_plan.note(plan, current)
        if not (current.resume and current.item in plan.todo):  # else it goes on with that one
            item_checks.choose(run, fix_plan.next_item(plan, current.blocked), now)
        current.is_working, current.began_at = True, now
        current.is_mending = bool(current.plan and current.refused) and not current.item
        run.loop.counters.iteration = current.finished + 1
    runner.screen.begin(run, now)
    _check_before(runner, run, plan)
    before = iterations.of(runner.store, run.loop)
    text = prompt.build(run, plan, before)
    saving.export(runner, run, text)
    return text


def _check_before(runner: Runner, run: Run, plan: FixPlan) -> None:
    """Runs the check of the item, if the work at that is about to begin."""
    item = run.state.item
    if not item or item in run.state.passed_before:
        return
    has_passed = item_checks.passed_before(runner, run, plan, item)
    with saving.change(runner, run):
        run.state.passed_before[item] = has_passed


def _wait(runner: Runner, run: Run) -> Decision:
    """Waits; ends early if the run has to. A clock that is set back does not make it longer."""
    until = run.state.waits_until
    deadline = time.monotonic() + until - time.time()
    runner.screen.say(messages.waits(run.state.waits_for, until))
    while time.time() < until and time.monotonic() < deadline:
        decision = _before(runner, run)
        if not decision.goes_on:
            return decision
        runner.screen.show(run, iteration.NOTHING, time.time())
        time.sleep(_STEP_SECONDS)
    return Decision(decide.CONTINUE, run.state.waits_for)


def _tell(runner: Runner, run: Run, found: Findings, done: Iteration) -> None:
    """Writes the transcript of the iteration, shows its line, and sends a notice if it has one."""
    check = found.completion.check
    output = loop_messages.check_output(run.loop, check.how, check.tail).body if check else ""
    saving.write_down(runner, run, done, found.turn, output)
    runner.screen.end(run, done)
    if done.decision == decide.CHECKPOINT:
        saving.send(runner, run, "checkpoint", done.why)
    elif found.blocked_on:
        saving.send(runner, run, "blocked", found.blocked_on)
    elif done.decision == decide.BLOCKED and (why := run.state.blocked.get(run.state.item)):
        saving.send(runner, run, "blocked", why)
