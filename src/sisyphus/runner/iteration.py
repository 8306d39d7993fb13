"""One iteration: chooses its item, lets a client work, and notes what that came to.

Everything that the next iteration needs is in the rows, so a run that is killed at any point can be
resumed. The plan is read before the client begins, and after it has ended.
"""

from __future__ import annotations

import time

from sisyphus.ground import files, git
from sisyphus.ground.errors import SisyphusError
from sisyphus.ground.masking import mask, masked_line
from sisyphus.ground.record import asdict, replace
from sisyphus.ground.text import fingerprint, one_line
from sisyphus.handoff import handoffs
from sisyphus.handoff.handoffs import Handoff
from sisyphus.hook.stops import Stops
from sisyphus.loops import breaker
from sisyphus.loops import messages as loop_messages
from sisyphus.loops.iterations import SAID_CHARACTERS, Iteration
from sisyphus.loops.runs import FailedCheck, Run, RunState
from sisyphus.runner import (
    asides,
    commits,
    decide,
    fix_plan,
    item_checks,
    landing,
    messages,
    outcome,
    project_files,
    prompt,
)
from sisyphus.runner.client import run_client
from sisyphus.runner.decide import Decision
from sisyphus.runner.drive import Drive
from sisyphus.runner.fix_plan import FixPlan
from sisyphus.runner.outcome import Completion, Findings

_ERRORS = 5
"""How many of the last errors are remembered."""


def iterate(drive: Drive) -> Decision:
    """Makes one iteration, and decides how to go on."""
    plan = _plan_before(drive)
    completion = outcome.without_client(drive, plan)
    if completion and completion.why:
        return _complete(drive, plan, completion)
    if completion:
        with drive.change():
            _refuse(drive.state, completion)
        plan = item_checks.plan_of(drive)  # the run's check may have taken minutes
    if _close_if_done(drive, plan):
        return Decision(decide.CONTINUE, messages.ITEM_DONE)
    if why := outcome.why_all_blocked(drive.run, plan):
        return Decision(decide.BLOCKED, why)
    result = run_client(drive, _begin(drive, plan))
    with drive.change():
        drive.spend(result.report, result.seconds)
    if result.is_cut:
        return drive.before_iteration()
    return _end(drive, outcome.gather(drive, result))


def _plan_before(drive: Drive) -> FixPlan:
    """Reads the plan, and judges the ticks of an iteration whose end nobody saw, and those that
    somebody else has made, and commits them. Items whose check fails are open."""
    plan = item_checks.read(drive)
    if not drive.state.is_working:
        return fix_plan.with_failed(plan, drive.state.failed)
    now = time.time()
    results = item_checks.judge(drive, plan, None)
    commit = landing.attempt(drive, plan, results, now)
    if commit:
        results = commit.given_again(drive.state, results)
    if results or commit:
        with drive.change():
            item_checks.note(drive, results)
            commits.note(drive, commit)
        plan = item_checks.read(drive)  # the checkpoint of its user may have moved on
    return fix_plan.with_failed(plan, drive.state.failed)


# ---------------------------------------------------------------- without a client


def _complete(drive: Drive, plan: FixPlan, completion: Completion) -> Decision:
    """Takes it that nothing is left to do, without a client: all items were done before the run, or
    in an iteration that was cut off."""
    state, done = drive.state, None
    count = len(outcome.changed_files(drive, time.time())) if state.is_working else 0
    with drive.change() as is_live:
        if not is_live:
            return Decision(decide.CANCELLED, messages.CANCELLED)
        state.check_changed = completion.check_changed
        decision = _with_audit(drive.run, Decision(decide.COMPLETED, completion.why))
        fix_plan.note(plan, state)
        if state.is_working:
            done = _close_cut_off(drive, _of_run(drive.run, decision), count)
    if done:
        drive.screen.end(drive.run, done)
    return decision


def _close_if_done(drive: Drive, plan: FixPlan) -> bool:
    """Tells whether the last iteration was cut off when its item was done already, and closes
    it."""
    state = drive.state
    if not state.is_working or state.item in plan.todo or state.item not in plan.done:
        return False
    decision = Decision(decide.CONTINUE, messages.ITEM_DONE)
    count = len(outcome.changed_files(drive, time.time()))
    with drive.change():
        fix_plan.note(plan, state)
        done = _close_cut_off(drive, decision, count)
    drive.screen.end(drive.run, done)
    return True


def _close_cut_off(drive: Drive, decision: Decision, count: int) -> Iteration:
    """Adds the row of an iteration whose end nobody saw and which is not made again, because its
    item is done or has left the plan; nobody needs its handoff. count: of the files that it
    changed."""
    state = drive.state
    _end_work(state)
    done = replace(
        drive.row(max(state.began_at, drive.run.heard_at), decision.kind, decision.why),
        files=count,
        is_done=not state.plan or state.item in state.done,
        evidence=state.evidence.get(state.item, ""),
    )
    drive.close(done)
    return done


def _end_work(state: RunState) -> None:
    """Notes that the iteration is over. Its handoff was in its prompt."""
    state.is_working, state.resume = False, ""
    if state.checkpoint:
        state.checkpoint["active"] = False


def _of_run(run: Run, decision: Decision) -> Decision:
    """Returns a decision as its run sees it: a worker that has done its item has not completed
    that."""
    is_item = bool(run.state.only) and decision.kind == decide.COMPLETED
    return Decision(decide.CONTINUE, messages.ITEM_DONE) if is_item else decision


def _with_audit(run: Run, decision: Decision) -> Decision:
    """Returns the decision, unless an audit has to come before the run is complete."""
    if decision.kind != decide.COMPLETED or not run.setup.audits:
        return decision
    run.state.is_auditing = True
    return Decision(decide.CONTINUE, f"{decision.why}, and an audit follows")


# ---------------------------------------------------------------- its begin


def _begin(drive: Drive, plan: FixPlan) -> str:
    """Chooses the item of the next iteration; returns its prompt."""
    now, run, state = time.time(), drive.run, drive.state
    with drive.change():
        if state.is_working:
            drive.note_cut_session()
        fix_plan.note(plan, state)
        if not (state.resume and state.item in plan.todo):  # else it goes on with that one
            item_checks.choose(drive, fix_plan.next_item(plan, state.blocked), now)
        state.is_working, state.began_at = True, now
        state.is_mending = bool(state.plan and state.refused) and not state.item
        run.counters.iteration = state.finished + 1
    drive.screen.begin(run, now)
    if state.item and state.item not in state.passed_before:
        has_passed = item_checks.passed_before(drive, plan, state.item)
        with drive.change():
            state.passed_before[state.item] = has_passed
    text = prompt.build(run, plan, drive.iterations())
    drive.export(text)
    return text


# ---------------------------------------------------------------- its end


def _end(drive: Drive, found: Findings) -> Decision:
    """Notes what an iteration came to, decides how to go on, and tells about it."""
    run = drive.run
    with drive.change() as is_live:
        if not is_live:
            return Decision(decide.CANCELLED, messages.CANCELLED)
        blocked = set(run.state.blocked)
        stuck = _note(drive, found)
        decision = _with_audit(run, outcome.decide_after(drive, found, stuck))
        done = _row(drive, found, _of_run(run, decision))
        if decision.kind != decide.WAIT:
            drive.close(done)
        new = [item for item in run.state.blocked if item not in blocked]
        if item := _to_set_aside(run, decision, new):
            asides.begin(run.state, item)
    if run.state.sets_aside:
        decision = set_aside(drive, decision)
    drive.export()
    if decision.kind != decide.WAIT:
        check = found.completion.check
        printed = loop_messages.check_output(run, check.how, check.tail).body if check else ""
        drive.write_down(done, found.turn, printed)
        drive.screen.end(run, done)
        _send(drive, found, done)
    return decision


def _to_set_aside(run: Run, decision: Decision, blocked: list[str]) -> str:
    """Returns the item whose half work is in the way of the next one; "" = there is none. blocked:
    items that are it since this iteration."""
    current = run.state.item
    if not run.setup.commits or not current:
        return ""
    if decision.kind == decide.STUCK or current in blocked:
        return current
    return blocked[0] if blocked else ""


def set_aside(drive: Drive, decision: Decision) -> Decision:
    """Sets half work aside. Returns the decision; that the run goes on if ticks of other items went
    back with the work; or that it has to stop where that is impossible: what is not kept stays in
    the work tree."""
    state = drive.state
    try:
        landing.take_back(drive.run)
        asides.finish(drive)
        landing.hand_over_words(drive)
    except SisyphusError as error:
        return Decision(decide.FATAL, one_line(str(error)))
    plan = item_checks.read(drive)
    with drive.change():
        state.resume = ""
        for item in [*state.failed, *state.evidence]:
            if item not in plan.done:  # its tick went back with the work
                state.failed.pop(item, None)
                state.evidence.pop(item, None)
        for item in plan.done:  # git does not know the plan, and its tick stays
            if item not in (*state.before, *state.others, *state.commits, *state.failed):
                how, now = "was not run: its work was set aside", time.time()
                state.failed[item] = FailedCheck(messages.COMMIT, how, "", 0, now)
        plan = fix_plan.with_failed(plan, state.failed)
        fix_plan.note(plan, state)
    if decision.kind == decide.BLOCKED and fix_plan.next_item(plan, state.blocked):
        return Decision(decide.CONTINUE, messages.WENT_BACK)
    return decision


def _note(drive: Drive, found: Findings) -> str:
    """Notes what the iteration came to; returns why the breaker opens, "" = it stays closed."""
    state = drive.state
    passing = found.result.passing if not found.completion.why else None
    if not passing:
        _end_work(state)
    if found.handoff:
        _pass_on(drive, found, found.handoff)
    if found.has_failed_since:
        state.passed_before[state.item] = False
    if passing:  # the iteration is made again
        proven = {item: each for item, each in found.results.items() if not each.check}
        item_checks.note(drive, proven)
        commits.note(drive, found.commit)
        drive.note_wait(passing, found.at)
        return ""
    state.tries, state.waits_until, state.waits_for = 0, 0.0, ""
    _refuse(state, found.completion)
    is_new = state.item not in state.blocked
    item_checks.note(drive, found.results)
    commits.note(drive, found.commit)
    if found.plan.path:
        fix_plan.note_changes(found.plan, state)
    if found.blocked_on and state.item and not found.is_done:
        state.blocked[state.item] = masked_line(found.blocked_on, SAID_CHARACTERS)
    is_aside = bool(found.blocked_on) or state.item in state.blocked
    return _count(drive, found, is_aside=is_aside and is_new)


def _refuse(state: RunState, completion: Completion) -> None:
    """Notes why the work did not count as done, what its check printed, and which of the check's
    files have changed."""
    check = completion.check
    state.refused = completion.refused
    state.tail = mask(check.tail) if check and completion.refused else ""
    state.check_changed = completion.check_changed or state.check_changed


def _pass_on(drive: Drive, found: Findings, handoff: Handoff) -> None:
    """Gives the next iteration the handoff, unless the item is done or waits for the user."""
    state = drive.state
    handoffs.give(drive.store, handoff)
    is_over = found.is_done or bool(found.blocked_on)
    state.checkpoint = project_files.checkpoint(handoff, state.item)
    state.checkpoint["active"] = not is_over
    state.resume = "" if is_over else handoff.resume


def _count(drive: Drive, found: Findings, *, is_aside: bool) -> str:
    """Counts for the breaker; returns why it opens. What ended after the item was done is no
    error. is_aside: the item was set aside, which happens once to each."""
    state = drive.state
    error = "" if found.is_done else found.turn.error or found.result.error
    has_progress = found.has_progress or is_aside
    stops = breaker.after_stop(Stops(**state.stops), has_progress=has_progress, error=error)
    state.stops = asdict(stops)
    state.diff = _fingerprint(drive.folder, found.changed)
    state.errors = [*state.errors, *([fingerprint(stops.error)] if error else [])][-_ERRORS:]
    return breaker.why_open(stops, drive.settings["ralph.breaker_stops"], error)


def _fingerprint(project: str, changed: list[str]) -> str:
    """Returns a fingerprint of the changes of an iteration; "" = it changed nothing."""
    stamps = [f"{path} {files.stamp(path)}" for path in sorted(changed)]
    moved = str(git.head_moved_at(project))
    return fingerprint("\n".join([moved, *stamps])) if changed else ""


def _row(drive: Drive, found: Findings, decision: Decision) -> Iteration:
    """Returns the row of an iteration. Its decision is BLOCKED, too, where the run goes on with
    another item."""
    state, report = drive.state, found.result.report
    needs_user = bool(found.blocked_on) or state.item in state.blocked
    is_aside = decision.kind == decide.CONTINUE and needs_user and not found.is_done
    return replace(
        drive.row(found.at, decide.BLOCKED if is_aside else decision.kind, decision.why),
        item="make the check pass" if state.is_mending else state.item,
        is_done=found.is_done or (state.is_mending and bool(found.completion.why)),
        said=mask(found.turn.last_text.strip())[-SAID_CHARACTERS:],
        files=len(found.changed),
        percent=report.peak,
        denied=[masked_line(f"{each.tool} {each.target}", 200) for each in report.denied],
        evidence=state.evidence.get(state.item, ""),
    )


def _send(drive: Drive, found: Findings, done: Iteration) -> None:
    """Sends a notice of an iteration, if it has one."""
    state = drive.state
    if done.decision == decide.CHECKPOINT:
        drive.send("checkpoint", done.why)
    elif found.blocked_on:
        drive.send("blocked", messages.with_half_work(drive.run, found.blocked_on))
    elif done.decision == decide.BLOCKED and (why := state.blocked.get(state.item)):
        drive.send("blocked", messages.with_half_work(drive.run, why))
