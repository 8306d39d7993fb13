"""What is known of a run, for the table that decides how it goes on (`decide.py`)."""

from __future__ import annotations

import os
import time

from sisyphus.loops.loops import PAUSED, Loop
from sisyphus.loops.runs import Run
from sisyphus.runner import decide, fix_plan, iteration, messages
from sisyphus.runner.decide import IterationFacts
from sisyphus.runner.iteration import ClientResult
from sisyphus.runner.iteration_outcome import Findings
from sisyphus.runner.runner import Runner


def before(runner: Runner, run: Run) -> IterationFacts:
    """Returns what is known before an iteration."""
    return IterationFacts(
        stop=_why_stop(runner, run.loop),
        limit=decide.limit(run, time.time()),
        max_iterations=decide.max_iterations(run),
    )


def after(
    runner: Runner, run: Run, result: ClientResult, found: Findings, stuck: str
) -> IterationFacts:
    """Returns what is known after an iteration that has been noted (`iteration_rows.py`).

    stuck: why the breaker opens."""
    failure = result.failure
    handoff = found.handoff if not found.is_done else None
    return IterationFacts(
        completed=found.completion.why,
        blocked=_why_blocked(run, found),
        checkpoint=messages.handed_over(handoff.percent) if handoff else "",
        fatal=_why_fatal(run, result, found),
        waits=failure.text if failure and failure.passes else "",
        limit=decide.limit(run, time.time()),
        max_iterations=decide.max_iterations(run, after=1),
        stuck=stuck,
        stop=_why_stop(runner, run.loop),
        missing=_missing(run, result, found),
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


def _why_fatal(run: Run, result: ClientResult, found: Findings) -> str:
    if result.failure and result.failure.is_fatal:
        return result.failure.text
    if result.end and result.end.denied:
        return result.why_ended
    call = iteration.first_edit(result.report)
    if call and not (found.has_progress or found.blocked_on):
        return iteration.why_denied(call, run)
    if found.plan and found.plan.problem and not run.loop.options.promise:
        return messages.plan_is_gone(os.path.basename(run.state.plan), found.plan.problem)
    return ""


def _missing(run: Run, result: ClientResult, found: Findings) -> str:
    """Says why the run goes on."""
    if found.completion.refused:
        return found.completion.refused
    if found.is_done:
        return messages.ITEM_DONE
    if found.blocked_on:
        return messages.needs_you(found.blocked_on)
    if failed := run.state.failed.get(run.state.item):
        return messages.check_of_item(failed.command, failed.how)
    if result.failure or result.end:
        return result.failure.text if result.failure else result.why_ended
    return messages.ITEM_NOT_DONE if run.state.item else messages.NOT_DONE


def _why_stop(runner: Runner, loop: Loop) -> str:
    """Returns why the user wants the run to stop after this iteration; "" = they do not."""
    if runner.signals.is_terminated:
        return messages.TERMINATED
    if runner.signals.ends_after_iteration:
        return messages.AFTER_ITERATION
    return messages.PAUSED if loop.status == PAUSED else ""
