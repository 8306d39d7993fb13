"""Finds out what an iteration came to. Slow: it reads the plan, asks git, runs the check."""

from __future__ import annotations

import os
import time

from sisyphus.boulder.trust import CheckResult
from sisyphus.clients.transcript_records import Reading
from sisyphus.ground import git, worktree
from sisyphus.ground.masking import masked_line
from sisyphus.ground.paths import display
from sisyphus.ground.record import Record, field
from sisyphus.ground.text import one_line
from sisyphus.handoff import handoffs, writing
from sisyphus.handoff.handoffs import Handoff
from sisyphus.hook.session import Session
from sisyphus.loops import check_files, project_changes
from sisyphus.loops import messages as loop_messages
from sisyphus.loops.runs import Run
from sisyphus.loops.verify import Check
from sisyphus.ralph import promise
from sisyphus.runner import (
    client,
    commits,
    decide,
    fix_plan,
    item_checks,
    landing,
    messages,
    project_files,
)
from sisyphus.runner.client import ClientResult
from sisyphus.runner.commits import Attempt
from sisyphus.runner.decide import Decision, IterationFacts
from sisyphus.runner.drive import Drive
from sisyphus.runner.fix_plan import FixPlan
from sisyphus.runner.item_checks import Results
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

    at: when its client ended, in seconds since 1970. plan: as it is now, one without a path if the
    run has none. changed: the files that changed, without the plan. has_progress: something
    changed, was committed or was done. is_done: its item is done now. results: what stands behind
    the ticks that are new. has_failed_since: the check of the item, which had passed before the
    work, has failed since. blocked_on: what the agent needs from the user; "" = nothing. handoff:
    with which the session ended; None = without one. commit: what came of committing the work; None
    = there was nothing to commit.
    """

    at: float
    result: ClientResult
    turn: Turn
    plan: FixPlan
    changed: list[str]
    has_progress: bool
    is_done: bool
    completion: Completion
    results: Results
    has_failed_since: bool
    blocked_on: str
    handoff: Handoff | None
    commit: Attempt | None


def gather(drive: Drive, result: ClientResult) -> Findings:
    """Finds out what an iteration came to whose client has just ended; runs the check if nothing
    else is missing."""
    now, state, report = time.time(), drive.state, result.report
    printed = "" if report.is_stream else report.text.strip()
    turn = turns.from_reading(Reading(report.records), printed or None, 0.0)
    changed = changed_files(drive, now)
    plan, results, completion, commit = _settle(drive, result, turn, now)
    is_astray = bool(commit and commit.is_astray)
    is_done = bool(state.item) and state.item in plan.done and not is_astray
    return Findings(
        at=now,
        result=result,
        turn=turn,
        plan=plan,
        changed=changed,
        has_progress=bool(changed) or is_done or _has_more_changes(drive, state.began_at, now),
        is_done=is_done,
        completion=completion,
        results=results,
        has_failed_since=item_checks.failed_since(drive, plan, result),
        blocked_on=promise.blocked_on(turn.texts),
        handoff=_handoff(drive, result, now),
        commit=commit,
    )


def _settle(
    drive: Drive, result: ClientResult, turn: Turn, now: float
) -> tuple[FixPlan, Results, Completion, Attempt | None]:
    """Judges the ticks, asks whether the run is complete, and commits what is done. What git does
    not take is not done, and the run not complete. now: when the client ended."""
    plan = item_checks.read(drive)
    results = item_checks.judge(drive, plan, result)
    judged = _as_judged(drive, plan, results)
    has_worked = not (result.failure or result.end)
    completion = _completion(drive, turn, judged, now, has_worked=has_worked)
    commit = landing.attempt(drive, plan, results, now, turn.last_text, completion.why)
    if commit is None or commit.refused is None:
        return judged, results, completion, commit
    results = commit.given_again(drive.state, results)
    if drive.state.only:
        completion = Completion("")  # its item says why
    elif completion.why or commit.is_astray:
        completion = _not_committed(commit.refused)
    return _as_judged(drive, item_checks.read(drive), results), results, completion, commit


def _as_judged(drive: Drive, plan: FixPlan, results: Results) -> FixPlan:
    """Returns a plan in which the items are open whose check fails."""
    return fix_plan.with_failed(plan, item_checks.failing(drive, results))


def _not_committed(refused: CheckResult) -> Completion:
    """Returns that a run is not complete, because git does not take the work."""
    check = Check(False, refused.how, refused.tail)
    return Completion("", messages.check_of_item(refused.command, refused.how), check)


def changed_files(drive: Drive, now: float) -> list[str]:
    """Returns the files that have changed since the iteration began, without the plan."""
    apart = (drive.state.plan, project_files.chosen_state())
    changed = worktree.changed(drive.folder, drive.state.began_at, now)
    return [path for path in changed if path not in apart]


def _has_more_changes(drive: Drive, since: float, now: float) -> bool:
    """Tells whether there are new commits, or changes in the project's other repositories."""
    if since < git.head_moved_at(drive.folder) <= now:
        return True
    apart = (project_files.chosen_state(),)
    # What its user does in their own checkout is no work of a run that has one for itself.
    return project_changes.has_changed_besides(
        drive.folder, since, now, apart, with_worktrees=not drive.state.worktree
    )


def _handoff(drive: Drive, result: ClientResult, now: float) -> Handoff | None:
    """Returns the handoff with which a session ended; for one that a passing failure has cut off,
    one that is made now. None = it has none."""
    place, run = drive.place, drive.run
    if not run.session:
        return None
    session = Session.load(place.store, run.session)
    if own := handoffs.open_of(place.store, session):
        return own
    if result.passing and result.report.calls:
        return writing.of_cut_session(place.store, place.settings, session, now)
    return None


# ---------------------------------------------------------------- whether the run is complete


def without_client(drive: Drive, plan: FixPlan) -> Completion | None:
    """Returns whether the run is complete before a client has begun; None = items are left, or an
    agent has to say so. A check that has failed is not run again until an agent has mended it."""
    if drive.run.options.promise or drive.state.refused or plan.todo or not plan.done:
        return None
    return _completion(drive, Turn(), plan, time.time(), has_worked=False)


def _completion(
    drive: Drive, turn: Turn, plan: FixPlan, now: float, *, has_worked: bool
) -> Completion:
    """Returns whether the run is complete. Its check runs only where nothing else is missing.
    now: when the client ended. has_worked: the client has come to an end by itself; if not, a check
    that passes is no end without a promise or items."""
    verify_command = drive.run.options.verify
    why, refused = _claim(drive.run, turn, plan)
    if why == messages.CHECK_PASSED and not has_worked:
        return Completion("")
    for result in item_checks.of_plan(drive, plan, now) if why else ():
        if not result.has_passed:
            refused = f"the check {masked_line(result.command, 200)} {result.how}"
            return Completion("", refused, Check(False, result.how, result.tail), result.changed)
        why = f"{why}, {loop_messages.check_passed(result.command)}"
    if not verify_command or not why:
        return Completion(why, refused)
    changed = check_files.changed(drive.run.counters.evidence, verify_command, drive.folder)
    if drive.state.passed_at.get(verify_command, 0.0) >= now:  # for a commit
        check = Check(True, "exited 0", "")
    else:
        check = item_checks.run_verify(drive)
    if not check.has_passed:
        return Completion("", f"the check {check.how}", check, changed)
    passed = loop_messages.check_passed(verify_command)
    why = passed if why == messages.CHECK_PASSED else f"{why}, {passed}"
    return Completion(why, "", check, changed)


def _claim(run: Run, turn: Turn, plan: FixPlan) -> tuple[str, str]:
    """Returns why the run is complete if its check passes, else why it is not though the agent said
    so: items are open."""
    wanted = run.options.promise
    count = len(plan.todo) + len(plan.blocked)
    if wanted:
        if not promise.is_said(turn.texts, wanted):
            return "", ""
        if plan.problem:
            return "", messages.plan_is_gone(display(plan.path, run.folder), plan.problem)
        if count:
            items = "an item" if count == 1 else f"{count} items"
            of = f"of {display(plan.path, run.folder)} {'is' if count == 1 else 'are'}"
            return "", f"the promise was said, but {items} {of} open"
        return "the promise was said", ""
    if plan.path:
        return ("all items are done" if plan.done and not (count or plan.problem) else ""), ""
    return messages.CHECK_PASSED, ""


# ---------------------------------------------------------------- how the run goes on


def decide_after(drive: Drive, found: Findings, stuck: str) -> Decision:
    """Decides how the run goes on after an iteration that has been noted. stuck: why the breaker
    opens; "" = it stays closed."""
    run, passing = drive.run, found.result.passing
    whole = drive.whole() or run
    facts = IterationFacts(
        completed=found.completion.why,
        blocked=_why_blocked(run, found),
        checkpoint=_why_handed_over(found),
        fatal=_why_fatal(run, found),
        wait=passing.text if passing else "",
        limit=decide.limit(whole, time.time()),
        max_iterations=decide.max_iterations(whole, after=1),
        stuck=stuck,
        stop=drive.why_stop(whole),
        missing=_missing(run, found),
    )
    return decide.decide(facts)


def _why_blocked(run: Run, found: Findings) -> str:
    plan = found.plan
    if found.blocked_on and not (plan.path and run.state.item):
        return messages.needs_you(found.blocked_on)
    return why_all_blocked(run, plan)


def why_all_blocked(run: Run, plan: FixPlan) -> str:
    """Returns that all that is left needs the user, and for what; "" = it does not, or a check has
    to be mended first."""
    blocked = run.state.blocked
    if run.state.refused:
        return ""
    if plan.problem or fix_plan.next_item(plan, blocked) or not (blocked or plan.blocked):
        return ""
    items = [f"{one_line(item, 60)} ({one_line(why, 100)})" for item, why in blocked.items()]
    items += [one_line(item, 60) for item in plan.blocked if item not in blocked]
    items += [
        f"{one_line(item, 60)} (after {one_line(', '.join(others), 100)})"
        for item in plan.todo
        if item not in blocked and (others := fix_plan.waits_for(plan, item))
    ]
    return f"all that is left is blocked: {'; '.join(items)}"


def _why_handed_over(found: Findings) -> str:
    if found.is_done or not found.handoff:
        return ""
    percent = found.handoff.percent
    return f"it handed its work over{f', with its context {percent} % full' if percent else ''}"


def _why_fatal(run: Run, found: Findings) -> str:
    result, plan, commit = found.result, found.plan, found.commit
    if commit and commit.refused and run.state.refusals >= commits.REFUSALS:
        return messages.refused_again(commit.refused.how)
    if result.failure and result.failure.is_fatal:
        return result.failure.text
    if result.end and result.end.denied:
        return result.end.why
    call = client.first_edit(result.report)
    if call and not (found.has_progress or found.blocked_on):
        return client.why_denied(call, run)
    if plan.problem and not run.options.promise:
        return messages.plan_is_gone(os.path.basename(plan.path), plan.problem)
    return ""


def _missing(run: Run, found: Findings) -> str:
    """Says why the run goes on."""
    if found.completion.refused:
        return found.completion.refused
    if found.is_done:
        return messages.ITEM_DONE
    if found.blocked_on:
        return messages.needs_you(found.blocked_on)
    if failed := run.state.failed.get(run.state.item):
        return messages.check_of_item(failed.command, failed.how)
    if found.result.failure or found.result.end:
        return found.result.error
    return messages.ITEM_NOT_DONE if run.state.item else messages.NOT_DONE
