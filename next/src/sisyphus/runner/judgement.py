"""Takes what an iteration came to into the run, and says what is known of it then."""

from __future__ import annotations

import os
import time

from sisyphus import files, git
from sisyphus.boulder import size
from sisyphus.handoff import record as handoffs
from sisyphus.masking import mask, masked_line
from sisyphus.ralph import loop as loops
from sisyphus.ralph.loop import PAUSED
from sisyphus.runner import changes, decide, fix_plan, iteration, messages, project_files
from sisyphus.runner.decide import Decision, IterationFacts
from sisyphus.runner.desk import Desk
from sisyphus.runner.findings import Completion, Findings
from sisyphus.runner.iteration import Work
from sisyphus.runner.state import Iteration, Run
from sisyphus.sessions.stops import Stops
from sisyphus.stop import breaker
from sisyphus.text import fingerprint

SAID_CHARACTERS = 1_000
"""The most that is kept of what an agent says."""

_ERRORS = 5


def take(desk: Desk, run: Run, work: Work, found: Findings, now: float) -> str:
    """Takes what the iteration came to into the run's state; returns why the breaker opens."""
    current = run.state
    is_made_again = bool(work.failure and work.failure.passes and not found.completion.why)
    if not is_made_again:
        current.is_working = False
        current.resume = ""  # it was in the prompt of this iteration
        if current.checkpoint:
            current.checkpoint["active"] = False
    if found.handoff:
        _take_handoff(desk, run, found)
    if is_made_again and work.failure:
        changes.note_wait(desk, run, work.failure.text, work.failure.until, now)
        return ""
    current.tries, current.waits_until, current.waits_for = 0, 0.0, ""
    refuse(run, found.completion)
    if found.plan:
        _compare(run, found)
    is_new = current.item not in current.blocked
    if found.blocked_on and current.item and not found.is_done:
        current.blocked[current.item] = masked_line(found.blocked_on, SAID_CHARACTERS)
    return _count(desk, run, work, found, is_aside=bool(found.blocked_on) and is_new)


def refuse(run: Run, completion: Completion) -> None:
    """Notes why the work did not count as done, what its check printed, and which of the check's
    files have changed."""
    check = completion.check
    run.state.refused = completion.refused
    run.state.tail = mask(check.tail) if check and completion.refused else ""
    run.state.check_changed = completion.check_changed or run.state.check_changed


def _take_handoff(desk: Desk, run: Run, found: Findings) -> None:
    """Gives the next iteration the handoff, unless the item is done or waits for the user."""
    handoff = found.handoff
    assert handoff
    handoffs.give(desk.store, handoff)
    is_over = found.is_done or bool(found.blocked_on)
    run.state.checkpoint = project_files.checkpoint(handoff, run.state.item)
    run.state.checkpoint["active"] = not is_over
    run.state.resume = "" if is_over else handoff.resume


def spend(run: Run, work: Work) -> None:
    """Notes what a process has used, and what its agent did last."""
    run.loop.counters.tokens += work.report.tokens
    run.state.cost += work.report.cost
    run.state.action = masked_line(work.report.last_action, SAID_CHARACTERS) or run.state.action


def _count(desk: Desk, run: Run, work: Work, found: Findings, *, is_aside: bool) -> str:
    """Counts for the breaker; returns why it opens. What ended after the item was done is no
    error. is_aside: the item was set aside, which happens once to each."""
    current = run.state
    has_progress = found.has_progress or is_aside
    error = found.turn.error or (work.failure.text if work.failure else work.why_ended)
    error = "" if found.is_done else error
    stops = breaker.after_stop(Stops(**current.stops), has_progress=has_progress, error=error)
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


def facts(desk: Desk, run: Run, work: Work, found: Findings, stuck: str) -> IterationFacts:
    """Returns what is known after an iteration. stuck: why the breaker opens."""
    current, failure = run.state, work.failure
    handoff = found.handoff if not found.is_done else None
    return IterationFacts(
        completed=found.completion.why,
        blocked=_why_blocked(run, found),
        checkpoint=messages.handed_over(handoff.percent) if handoff else "",
        fatal=_why_fatal(run, work, found),
        waits=failure.text if failure and failure.passes else "",
        limit=decide.limit(run.loop, run.options, current.cost, time.time()),
        max_iterations=decide.max_iterations(run.loop, current, after=1),
        stuck=stuck,
        stop=why_stop(desk, run.loop),
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
    if work.end and work.end.denied:
        return work.why_ended
    call = iteration.first_edit(work.report)
    if call and not (found.has_progress or found.blocked_on):
        return iteration.why_denied(call, run)
    if found.plan and found.plan.problem and not run.loop.options.promise:
        return messages.plan_is_gone(os.path.basename(run.state.plan), found.plan.problem)
    return ""


def _missing(run: Run, work: Work, found: Findings) -> str:
    """Says why the run goes on."""
    if found.completion.refused:
        return found.completion.refused
    if found.is_done:
        return messages.ITEM_DONE
    if found.blocked_on:
        return messages.needs_you(found.blocked_on)
    if work.failure:
        return work.failure.text
    if work.end:
        return work.why_ended
    return messages.ITEM_NOT_DONE if run.state.item else messages.NOT_DONE


def entry(run: Run, work: Work, found: Findings, decision: Decision, now: float) -> Iteration:
    """Returns the row of an iteration. Its decision is BLOCKED, too, where the run goes on with
    another item."""
    report = work.report
    is_aside = decision.kind == decide.CONTINUE and found.blocked_on and not found.is_done
    return Iteration(
        number=run.loop.counters.iteration,
        at=now,
        decision=decide.BLOCKED if is_aside else decision.kind,
        why=decision.why,
        tokens=report.tokens,
        item=run.state.item,
        is_done=found.is_done,
        said=mask(found.turn.last_text.strip())[-SAID_CHARACTERS:],
        seconds=work.seconds,
        files=len(found.changed),
        percent=report.peak,
        cost=report.cost,
        denied=[masked_line(f"{each.tool} {each.target}", 200) for each in report.denied],
    )


def cut_off(run: Run, decision: Decision, now: float) -> Iteration:
    """Returns the row of an iteration that did its item, and whose end nobody saw."""
    return Iteration(
        run.loop.counters.iteration, now, decision.kind, decision.why, item=run.state.item,
        is_done=True,
    )  # fmt: skip


def _fingerprint(project: str, changed: list[str]) -> str:
    """Returns a fingerprint of the changes of an iteration; "" = it changed nothing."""
    stamps = [f"{path} {files.stamp(path)}" for path in sorted(changed)]
    moved = str(git.head_moved_at(project))
    return fingerprint("\n".join([moved, *stamps])) if changed else ""


def why_stop(desk: Desk, loop: loops.Loop) -> str:
    """Returns why the user wants the run to stop after this iteration; "" = they do not."""
    if desk.signals.is_terminated:
        return messages.TERMINATED
    if desk.signals.ends_after_iteration:
        return messages.AFTER_ITERATION
    return messages.PAUSED if loop.status == PAUSED else ""
