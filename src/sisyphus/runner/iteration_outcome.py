"""Finds out what an iteration came to. Slow: it reads the plan, asks git, runs the check."""

from __future__ import annotations

import time

from sisyphus.clients.transcript_records import Reading
from sisyphus.ground import git, worktree
from sisyphus.ground.paths import display
from sisyphus.ground.record import Record, field
from sisyphus.handoff import handoffs, writing
from sisyphus.handoff.handoffs import Handoff
from sisyphus.hook.session import Session
from sisyphus.loops import check_files, project_changes, verify
from sisyphus.loops import messages as loop_messages
from sisyphus.loops.runs import Run
from sisyphus.loops.verify import Check
from sisyphus.ralph import promise
from sisyphus.runner import fix_plan, item_checks, messages, project_files
from sisyphus.runner.fix_plan import FixPlan
from sisyphus.runner.item_checks import Results
from sisyphus.runner.iteration import ClientResult
from sisyphus.runner.runner import Runner
from sisyphus.sessions import turns
from sisyphus.sessions.turns import Turn


class Completion(Record, frozen=True):
    """Whether a run is complete.

    why: in words; "" = it is not. refused: why not, though it was said to be. check: the run's
    check; None = it did not run. check_changed: files of the check that changed during the run.
    """

    why: str
    refused: str = ""
    check: Check | None = None
    check_changed: list[str] = field(default_factory=list)


class Findings(Record, frozen=True):
    """What an iteration came to.

    plan: as it is now; None = the run has none. changed: the files that changed, without the plan.
    has_progress: something changed, was committed or was done. is_done: its item is done now.
    results: what stands behind the ticks that are new. has_failed_since: the check of the item,
    which had passed before the work, has failed since.
    blocked_on: what the agent needs from the user; "" = nothing. handoff: with which the session
    ended; None = without one.
    """

    turn: Turn
    plan: FixPlan | None
    changed: list[str]
    has_progress: bool
    is_done: bool
    completion: Completion
    results: Results
    has_failed_since: bool
    blocked_on: str
    handoff: Handoff | None


def gather(runner: Runner, run: Run, result: ClientResult, now: float) -> Findings:
    """Finds out what an iteration came to that ended at `now`; runs the check if nothing else is
    missing."""
    state, report = run.state, result.report
    printed = "" if report.is_stream else report.text.strip()
    turn = turns.from_reading(Reading(report.records), printed or None, 0.0)
    plan, results = _plan_and_ticks(runner, run, result) if state.plan else (None, {})
    changed = changed_files(runner, run, now)
    is_done = bool(plan and state.item and state.item in plan.done)
    has_progress = bool(changed) or is_done or _has_more_changes(runner, state.began_at, now)
    has_worked = not (result.failure or result.end)
    completion = _completion(runner, run, turn, plan, now, has_worked=has_worked)
    return Findings(
        turn=turn,
        plan=plan,
        changed=changed,
        has_progress=has_progress,
        is_done=is_done,
        completion=completion,
        results=results,
        has_failed_since=plan is not None and item_checks.failed_since(run, plan, result),
        blocked_on=promise.blocked_on(turn.texts),
        handoff=_handoff(runner, run, result, now),
    )


def _plan_and_ticks(runner: Runner, run: Run, result: ClientResult) -> tuple[FixPlan, Results]:
    """Returns the plan after an iteration, and what stands behind its new ticks."""
    plan = item_checks.read(runner, run)
    results = item_checks.judge(runner, run, plan, result)
    return fix_plan.with_failed(plan, item_checks.failing(run, results)), results


def _has_more_changes(runner: Runner, since: float, now: float) -> bool:
    """Tells whether there are new commits, or changes in the project's other repositories."""
    if since < git.head_moved_at(runner.project) <= now:
        return True
    apart = (project_files.chosen_state(),)
    return project_changes.has_changed_besides(runner.project, since, now, apart)


def changed_files(runner: Runner, run: Run, now: float) -> list[str]:
    """Returns the files that have changed since the iteration began, without the plan."""
    apart = (run.state.plan, project_files.chosen_state())
    changed = worktree.changed(runner.project, run.state.began_at, now)
    return [path for path in changed if path not in apart]


def _handoff(runner: Runner, run: Run, result: ClientResult, now: float) -> Handoff | None:
    """Returns the handoff with which a session ended; for one that a passing failure has cut off,
    one that is made now. None = it has none."""
    if not run.session:
        return None
    if own := handoffs.open_of(runner.store, Session.load(runner.store, run.session)):
        return own
    if result.failure and result.failure.passes and result.report.calls:
        place = runner.place
        return writing.of_cut_session(
            place.store, place.settings, Session.load(place.store, run.session), now
        )
    return None


def plan_of(runner: Runner, run: Run) -> FixPlan:
    """Reads the plan of a run, with the items as open whose check fails; one without items if it
    has none."""
    return fix_plan.with_failed(item_checks.read(runner, run), run.state.failed)


def without_client(runner: Runner, run: Run) -> Completion | None:
    """Returns whether the run is complete before a client has begun; None = items are left, or an
    agent has to say so. A check that has failed is not run again until an agent has mended it."""
    if run.loop.options.promise or not run.state.plan or run.state.refused:
        return None
    plan = plan_of(runner, run)
    if plan.todo or not plan.done:
        return None
    return _completion(runner, run, Turn(), plan, time.time(), has_worked=False)


def _completion(
    runner: Runner, run: Run, turn: Turn, plan: FixPlan | None, now: float, *, has_worked: bool
) -> Completion:
    """Returns whether the run is complete. Its check runs only where nothing else is missing.
    plan: None = the run has none. now: when the client ended. has_worked: the client has come to an
    end by itself; if not, a check that passes is no end without a promise or items."""
    options = run.loop.options
    why, refused = _claim(run, turn, plan)
    if why == messages.CHECK_PASSED and not has_worked:
        return Completion("")
    for result in item_checks.of_plan(runner, run, plan, now) if why and plan else ():
        if not result.has_passed:
            refused = messages.check_of_plan(result.command, result.how)
            return Completion("", refused, Check(False, result.how, result.tail), result.changed)
        why = f"{why}, {loop_messages.check_passed(result.command)}"
    if not options.verify or not why:
        return Completion(why, refused)
    changed = check_files.changed(run.loop.counters.evidence, options.verify, runner.project)
    check = verify.run(options.verify, runner.project, runner.settings["ralph.verify_seconds"])
    if not check.has_passed:
        return Completion("", messages.check_failed(check.how), check, changed)
    passed = loop_messages.check_passed(options.verify)
    why = passed if why == messages.CHECK_PASSED else f"{why}, {passed}"
    return Completion(why, "", check, changed)


def _claim(run: Run, turn: Turn, plan: FixPlan | None) -> tuple[str, str]:
    """Returns why the run is complete if its check passes, else why it is not though the agent said
    so: items are open."""
    options = run.loop.options
    count = len(plan.todo) + len(plan.blocked) if plan else 0
    if options.promise:
        if not promise.is_said(turn.texts, options.promise):
            return "", ""
        if plan and plan.problem:
            return "", messages.plan_is_gone(display(plan.path, run.loop.project), plan.problem)
        if count:
            return "", messages.open_items(count, display(run.state.plan, run.loop.project))
        return messages.KEPT, ""
    if plan:
        return (messages.ALL_DONE if plan.done and not (count or plan.problem) else ""), ""
    return messages.CHECK_PASSED, ""
