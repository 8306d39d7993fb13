"""What a run says to the user at its end, to the letter. Pure."""

from __future__ import annotations

from sisyphus.runner.keep.state import BREAKER, CANCELLED, COMPLETED, FATAL, MAX_ITERATIONS
from sisyphus.runner.task import fix_plan
from sisyphus.text import line
from sisyphus.times import duration

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus.runner.keep.state import Run

RESUME = "sisyphus ralph run --resume"

_HEADS = {
    COMPLETED: "Completed",
    FATAL: "Ended by a fatal error",
    MAX_ITERATIONS: "Ended at a limit",
    BREAKER: "Ended without progress",
    CANCELLED: "Interrupted",
}
_ENDS = {
    FATAL: "ended by a fatal error",
    MAX_ITERATIONS: "ended at a limit",
    BREAKER: "ended without progress",
    CANCELLED: "was interrupted",
}
_NEXT = {
    FATAL: f"Put that right, then go on with `{RESUME}`.",
    BREAKER: f"Look at what it tried, then go on with `{RESUME}`.",
    CANCELLED: f"Nothing is lost. Go on with `{RESUME}`.",
}


def finished(run: Run, progress: str) -> str:
    """How the run ended, and what to do next. `progress`: where its entries stand."""
    why = "" if run.status == CANCELLED else f": {_reason(run)}"
    rows = [
        f"{_HEADS.get(run.status, run.status)}{why}.",
        counts(run),
        handoff(run),
        f"What each iteration did: {progress}" if run.judged else "",
        _higher(run) if run.status == MAX_ITERATIONS else _NEXT.get(run.status, ""),
    ]
    return "\n".join(row for row in rows if row)


def ended(run: Run) -> str:
    """How a run ended that does not go on, on one line."""
    return f"{_HEADS.get(run.status, 'It was left')}: {_reason(run)}." if run.reason else ""


def _reason(run: Run) -> str:
    return line(run.reason).rstrip(". ")


def counts(run: Run) -> str:
    blocked = fix_plan.blocked_in(run)
    total = len(run.todo_items) + len(run.completed_items) + blocked
    rows = [
        f"{run.judged:,} iteration{'s' * (run.judged != 1)}",
        f"{len(run.completed_items)} of {total} items done" if total else "",
        f"{blocked} blocked" if blocked else "",
        f"{run.tokens:,} tokens" if run.tokens else "",
        f"{duration(run.worked_seconds)} at work",
    ]
    return ", ".join(row for row in rows if row) + "."


def handoff(run: Run) -> str:
    entry = run.open_checkpoint
    return f"Handoff: {line(entry['handoff_file'])}" if entry else ""


def nothing_begun(run: Run) -> str:
    """Where a new run has nothing to do."""
    return (
        f"Nothing was started: {_reason(run)}. Add items to it, or say with "
        "--completion-promise TEXT what the agent is to promise at the end."
    )


def replaced(run: Run) -> str:
    """Of the run before, which was not complete and which a new one replaces."""
    how = _ENDS.get(run.status, "was left")
    where = f"{line(run.task_name)}, iteration {run.iteration} {run.of_most}"
    return (
        f"the run before ({where}) {how}; this one takes its place. (`{RESUME}` goes on with a run "
        "that was left.)"
    )


def already_over(run: Run) -> str:
    """Where there is nothing to resume."""
    if run.status == COMPLETED:
        return (
            f"The run is complete already ({_reason(run)}): {line(run.task_name)}. "
            "Begin another one without --resume."
        )
    return f"The run cannot go on: {_reason(run)}. {_higher(run)}"


def _higher(run: Run) -> str:
    """Which limit is in the way, as the reason names it."""
    names = ("minute", "token", "iteration")
    name = next((name for name in names if f" {name}" in run.reason), "iteration")
    return f"Go on with `{RESUME}` and a higher limit: `--max-{name}s N`."
