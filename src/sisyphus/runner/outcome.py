"""Keeps what was decided of an iteration: in the state, in `progress.txt`, on the screen."""

from __future__ import annotations

from sisyphus.errors import SisyphusError
from sisyphus.masking import masked
from sisyphus.runner import decide
from sisyphus.runner.client import failures
from sisyphus.runner.keep import kept
from sisyphus.runner.keep.state import (
    BREAKER,
    CHECKPOINTED,
    COMPLETED,
    FATAL,
    MAX_ITERATIONS,
    RUNNING,
)
from sisyphus.runner.task import progress
from sisyphus.text import end_units, one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus.runner.case import Case
    from sisyphus.runner.decide import Decision
    from sisyphus.runner.desk import Desk

STATUS = {
    decide.COMPLETE: COMPLETED,
    decide.CHECKPOINT: CHECKPOINTED,
    decide.FATAL: FATAL,
    decide.WAIT: RUNNING,
    decide.LIMIT: MAX_ITERATIONS,
    decide.BREAKER: BREAKER,
    decide.GO_ON: RUNNING,
}

ENTRY_SAID = 500
TAIL_UNITS = 3_000


def keep(desk: Desk, case: Case, decision: Decision) -> None:
    """One write holds all of it, so that nothing is counted twice; the entry of `progress.txt`
    waits in it until it is written too."""
    run, is_again = desk.run, decision.kind in (decide.WAIT, decide.FATAL)
    case.plan.note_in(run)
    run.status, run.reason = STATUS[decision.kind], masked(decision.why)
    if case.entry is not None:
        run.context_checkpoint = {**case.entry}
    if decision.kind == decide.WAIT:
        _wait(desk, case)
    else:
        run.tries = 0
        run.note = _entry(desk, case, decision)
    if not is_again:
        _count(desk, case)
    stem, run.in_flight = str(run.in_flight.get("stem") or ""), {}
    desk.save()
    kept.trim(stem)
    kept.forget_iterations(desk.places, run)
    write_note(desk)
    if not decision.goes_on:
        desk.save()
    desk.screen.ended(run, decision)


def write_note(desk: Desk, *, once: bool = False) -> None:
    """The entry that the state holds for `progress.txt`; with `once` it may be there already."""
    places, note, desk.run.note = desk.places, desk.run.note, ""
    if not note:
        return
    try:
        places.check(places.folder, places.progress)
    except SisyphusError as error:
        desk.space.log(str(error))
        desk.screen.note(str(error))
        return
    progress.append(places.progress, note, once=once)


def _wait(desk: Desk, case: Case) -> None:
    run, failure = desk.run, case.landed.failure
    now = desk.space.now
    if not failure.ends_at_known_time(now):
        run.tries += 1
    first = desk.space.settings.get("ralph.retry_seconds")
    delay = failures.delay(failure, max(run.tries, 1), first, now)
    run.waiting = {
        "for": masked(failure.why),
        "kind": failure.kind,
        "since": int(now),
        "until": round(now + delay, 3),
    }


def _count(desk: Desk, case: Case) -> None:
    """The iteration has come to its end."""
    run, seen = desk.run, case.landed.seen
    run.judged = run.iteration
    row = {"iteration": run.iteration, "peak_percent": run.peak, "checkpoint": case.is_full}
    run.context_history.append(row)
    item, name = run.item, str(run.in_flight.get("complexity") or "")
    if item in case.newly_done and name:
        first = seen.points[0][1] if seen.points else 0
        taken = 100 * (seen.peak - first) / max(case.full.window, 1)
        if taken > 0:
            run.item_costs.append((name, round(taken, 1)))
    run.peak = 0
    run.last = {
        "action": _last_action(case),
        "refused": masked(case.claim.refused),
        "tail": end_units(masked(case.claim.tail), TAIL_UNITS),
    }


def _last_action(case: Case) -> str:
    said = case.landed.seen.said
    text = said[-1] if said and said[-1].strip() else case.landed.seen.last_action
    return one_line(masked(text), 200)


def _entry(desk: Desk, case: Case, decision: Decision) -> str:
    run, said = desk.run, case.landed.seen.said
    change = case.change
    files = "" if change is None or change.files is None else str(change.files)
    failed = case.landed.failure.why if case.landed.failure else ""
    rows = [
        ("Item", run.item),
        ("Outcome", _outcome(case, decision)),
        ("Trouble", "" if decision.kind == decide.FATAL else failed),
        ("Files changed", files),
        ("Verified", case.claim.verified),
        ("Not done yet", case.claim.refused),
        ("Said last", one_line(masked(said[-1]), ENTRY_SAID) if said else ""),
    ]
    rows = [(name, masked(text)) for name, text in rows]
    return progress.entry(run.iteration, case.landed.ended_at, rows)


def _outcome(case: Case, decision: Decision) -> str:
    words = {
        decide.COMPLETE: f"completed: {decision.why}",
        decide.CHECKPOINT: decision.why,
        decide.FATAL: f"fatal error: {decision.why}",
        decide.LIMIT: f"ended: {decision.why}",
        decide.BREAKER: f"stuck: {decision.why}",
        decide.GO_ON: "goes on",
    }
    done = f"; done: {'; '.join(case.newly_done)}" if case.newly_done else ""
    return words.get(decision.kind, decision.why) + done
