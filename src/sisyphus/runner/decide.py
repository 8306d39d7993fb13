"""Decides how a run goes on after an iteration: the first fact that is known wins.

Reads and writes nothing. `outcome.py` says what is known, and `run.py` carries the decision out.
The limits are also asked before each iteration, so that checkpoints and waiting cannot carry a run
past them.
"""

from __future__ import annotations

from sisyphus.ground.record import Record
from sisyphus.loops.runs import Run
from sisyphus.runner import messages

_ORDER = COMPLETED, WAIT, BLOCKED, CHECKPOINT, FATAL, LIMIT, MAX_ITERATIONS, STUCK, STOP = (
    "completed", "wait", "blocked", "checkpoint", "fatal", "limit", "max_iterations", "stuck",
    "stop",
)  # fmt: skip
CONTINUE, CANCELLED, AUDIT = "continue", "cancelled", "audit"
"""Decisions. CHECKPOINT, WAIT and CONTINUE go on with another iteration. STOP: the user wants the
run to stop, but not to be over. AUDIT is that of an auditor's iteration, whatever follows."""

GOES_ON = (CHECKPOINT, WAIT, CONTINUE)


class IterationFacts(Record, frozen=True):
    """What is known after an iteration, each in words for people; "" = it is not so. The fields up
    to `stop` are named for what they decide, and the first one that is known wins.

    completed: the promise was kept. wait: it failed, but that passes. blocked: all that is left
    needs the user. checkpoint: the handoff with which the session ended. fatal: no iteration would
    get anywhere. limit, max_iterations: which limit is reached. stuck: why the breaker opens.
    stop: the user wants the run to stop after this iteration. missing: why it is not complete.
    """

    completed: str = ""
    wait: str = ""
    blocked: str = ""
    checkpoint: str = ""
    fatal: str = ""
    limit: str = ""
    max_iterations: str = ""
    stuck: str = ""
    stop: str = ""
    missing: str = messages.NOT_DONE


class Decision(Record, frozen=True):
    """How a run goes on. kind: one of the decisions above. why: in words for people."""

    kind: str
    why: str

    @property
    def goes_on(self) -> bool:
        return self.kind in GOES_ON


def decide(facts: IterationFacts) -> Decision:
    """Returns what the first fact that is known decides; CONTINUE if none is."""
    for kind in _ORDER:
        if why := getattr(facts, kind):
            return Decision(kind, why)
    return Decision(CONTINUE, facts.missing)


def limit(run: Run, now: float) -> str:
    """Returns which limit besides the iterations is reached; "" = none."""
    return minutes(run, now) or tokens(run) or dollars(run)


def minutes(run: Run, now: float) -> str:
    """Returns that the time is up; "" = it is not."""
    most = run.options.max_minutes
    words = f"its {most:,} {'minute is' if most == 1 else 'minutes are'} up"
    return words if 0 < most * 60 <= run.seconds(now) else ""


def tokens(run: Run) -> str:
    """Returns that the tokens are used up; "" = they are not."""
    most = run.options.max_tokens
    return f"its {most:,} tokens are used up" if 0 < most <= run.counters.tokens else ""


def dollars(run: Run) -> str:
    """Returns that the dollars are used up; "" = they are not."""
    most = run.setup.max_usd
    return f"its ${most:,.2f} are used up" if 0 < most <= run.state.cost else ""


def max_iterations(run: Run, after: int = 0) -> str:
    """Returns that all iterations are used up; "" = they are not. Audits do not count: their
    number has a limit of its own. after: how many more have ended than the state says."""
    state, most = run.state, run.options.max_iterations
    done = state.finished - state.audits + after
    return messages.last_iteration(done) if 0 < most <= done and not state.is_auditing else ""
