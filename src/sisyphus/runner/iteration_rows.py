"""Notes in a run what an iteration came to, and makes its row."""

from __future__ import annotations

from sisyphus.boulder import size
from sisyphus.ground import files, git
from sisyphus.ground.masking import mask, masked_line
from sisyphus.ground.record import asdict
from sisyphus.ground.store import Store
from sisyphus.ground.text import fingerprint
from sisyphus.handoff import handoffs
from sisyphus.handoff.handoffs import Handoff
from sisyphus.hook.session import Session
from sisyphus.hook.stops import Stops
from sisyphus.loops import breaker, iterations
from sisyphus.loops.iterations import SAID_CHARACTERS, Iteration
from sisyphus.loops.runs import Run, RunState
from sisyphus.runner import decide, fix_plan, item_checks, messages, project_files, saving
from sisyphus.runner.decide import Decision
from sisyphus.runner.fix_plan import FixPlan
from sisyphus.runner.iteration import ClientResult
from sisyphus.runner.iteration_outcome import Completion, Findings
from sisyphus.runner.runner import Runner

_ERRORS = 5


def spend(run: Run, result: ClientResult) -> None:
    """Notes what a process has used, and what its agent did last."""
    report, current = result.report, run.state
    run.loop.counters.tokens += report.tokens
    current.cost += report.cost
    current.spent_seconds += result.seconds
    current.spent_tokens += report.tokens
    current.spent_cost += report.cost
    current.action = masked_line(report.last_action, SAID_CHARACTERS) or current.action


def note(runner: Runner, run: Run, result: ClientResult, found: Findings, now: float) -> str:
    """Notes what the iteration came to; returns why the breaker opens, "" = it stays closed."""
    current = run.state
    is_made_again = bool(result.failure and result.failure.passes and not found.completion.why)
    if not is_made_again:
        current.is_working = False
        current.resume = ""  # it was in the prompt of this iteration
        if current.checkpoint:
            current.checkpoint["active"] = False
    if found.handoff:
        _pass_on(runner, run, found, found.handoff)
    if found.has_failed_since:
        current.passed_before[current.item] = False
    if is_made_again and result.failure:
        proven = {item: each for item, each in found.results.items() if not each.check}
        item_checks.note(runner, run, proven)
        saving.note_wait(runner, run, result.failure.text, result.failure.until, now)
        return ""
    current.tries, current.waits_until, current.waits_for = 0, 0.0, ""
    refuse(run, found.completion)
    is_new = current.item not in current.blocked
    item_checks.note(runner, run, found.results)
    if found.plan:
        _compare(current, found.plan)
    if found.blocked_on and current.item and not found.is_done:
        current.blocked[current.item] = masked_line(found.blocked_on, SAID_CHARACTERS)
    is_aside = bool(found.blocked_on) or current.item in current.blocked
    return _count(runner, run, result, found, is_aside=is_aside and is_new)


def refuse(run: Run, completion: Completion) -> None:
    """Notes why the work did not count as done, what its check printed, and which of the check's
    files have changed."""
    check = completion.check
    run.state.refused = completion.refused
    run.state.tail = mask(check.tail) if check and completion.refused else ""
    run.state.check_changed = completion.check_changed or run.state.check_changed


def _pass_on(runner: Runner, run: Run, found: Findings, handoff: Handoff) -> None:
    """Gives the next iteration the handoff, unless the item is done or waits for the user."""
    handoffs.give(runner.store, handoff)
    is_over = found.is_done or bool(found.blocked_on)
    run.state.checkpoint = project_files.checkpoint(handoff, run.state.item)
    run.state.checkpoint["active"] = not is_over
    run.state.resume = "" if is_over else handoff.resume


def _count(
    runner: Runner, run: Run, result: ClientResult, found: Findings, *, is_aside: bool
) -> str:
    """Counts for the breaker; returns why it opens. What ended after the item was done is no
    error. is_aside: the item was set aside, which happens once to each."""
    current = run.state
    has_progress = found.has_progress or is_aside
    error = found.turn.error or (result.failure.text if result.failure else result.why_ended)
    error = "" if found.is_done else error
    stops = breaker.after_stop(Stops(**current.stops), has_progress=has_progress, error=error)
    current.stops = asdict(stops)
    current.diff = _fingerprint(runner.project, found.changed)
    current.errors = [*current.errors, *([fingerprint(stops.error)] if error else [])][-_ERRORS:]
    return breaker.why_open(stops, runner.settings["ralph.breaker_stops"], error)


def _compare(current: RunState, plan: FixPlan) -> None:
    """Notes how the items have changed: those that left the plan undone, too."""
    now = {*plan.todo, *plan.done, *plan.blocked}
    missing = [item for item in current.todo if item not in now]
    removals = [*current.removals, *(i for i in missing if not size.of(i).must_be_split)]
    current.removals = [item for item in dict.fromkeys(removals) if item not in now]
    current.blocked = {item: why for item, why in current.blocked.items() if item in plan.todo}
    fix_plan.note(plan, current)


def _fingerprint(project: str, changed: list[str]) -> str:
    """Returns a fingerprint of the changes of an iteration; "" = it changed nothing."""
    stamps = [f"{path} {files.stamp(path)}" for path in sorted(changed)]
    moved = str(git.head_moved_at(project))
    return fingerprint("\n".join([moved, *stamps])) if changed else ""


def entry(
    run: Run, result: ClientResult, found: Findings, decision: Decision, now: float
) -> Iteration:
    """Returns the row of an iteration. Its decision is BLOCKED, too, where the run goes on with
    another item."""
    report = result.report
    is_mending = run.state.is_mending
    needs_user = bool(found.blocked_on) or run.state.item in run.state.blocked
    is_aside = decision.kind == decide.CONTINUE and needs_user and not found.is_done
    return Iteration(
        number=run.loop.counters.iteration,
        at=now,
        decision=decide.BLOCKED if is_aside else decision.kind,
        why=decision.why,
        tokens=run.state.spent_tokens,
        item=messages.MAKE_CHECK_PASS if is_mending else run.state.item,
        is_done=found.is_done or (is_mending and bool(found.completion.why)),
        said=mask(found.turn.last_text.strip())[-SAID_CHARACTERS:],
        seconds=run.state.spent_seconds,
        files=len(found.changed),
        percent=report.peak,
        cost=run.state.spent_cost,
        denied=[masked_line(f"{each.tool} {each.target}", 200) for each in report.denied],
        evidence=run.state.evidence.get(run.state.item, ""),
    )


def cut_off(run: Run, decision: Decision, files: int) -> Iteration:
    """Returns the row of an iteration whose end nobody saw and which is not made again, because its
    item is done or has left the plan. files: how many it changed."""
    state = run.state
    return Iteration(
        run.loop.counters.iteration, max(state.began_at, run.heard_at), decision.kind, decision.why,
        state.spent_tokens, seconds=state.spent_seconds, files=files, item=state.item,
        is_done=not state.plan or state.item in state.done, cost=state.spent_cost,
        evidence=state.evidence.get(state.item, ""),
    )  # fmt: skip


def close(store: Store, run: Run, done: Iteration) -> None:
    """Adds the row of an iteration that has ended."""
    iterations.record(store, run.loop, run.session, done)
    current = run.state
    current.finished += 1
    current.spent_seconds, current.spent_tokens, current.spent_cost = 0.0, 0, 0.0


def note_cut_session(store: Store, run: Run) -> None:
    """Notes the session of an iteration that was cut off, or failed in a way that passes, before
    another session takes its place."""
    if id := Session.load(store, run.session).id:
        run.state.cut_sessions[id] = run.state.finished + 1, run.state.item
