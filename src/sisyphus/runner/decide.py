"""Decides how a run goes on after an iteration: the first fact that is known wins.

Reads and writes nothing. `run_facts.py` says what is known, and `run.py` carries the decision out.
The limits are also asked before each iteration, so that checkpoints and waiting cannot carry a run
past them.
"""

from __future__ import annotations

from sisyphus.ground.record import Record
from sisyphus.loops.loops import Loop
from sisyphus.loops.runs import Run
from sisyphus.runner import messages

CANCELLED, COMPLETED, BLOCKED, CHECKPOINT, FATAL, WAIT, LIMIT, MAX_ITERATIONS, STUCK, STOP = (
    "cancelled", "completed", "blocked", "checkpoint", "fatal", "wait", "limit", "max_iterations",
    "stuck", "stop",
)  # fmt: skip
CONTINUE = "continue"
AUDIT = "audit"
"""Decisions. CHECKPOINT, WAIT and CONTINUE go on with another iteration. STOP: the user wants the
run to stop, but not to be over. AUDIT is that of an auditor's iteration, whatever follows."""

GOES_ON = (CHECKPOINT, WAIT, CONTINUE)


class IterationFacts(Record, frozen=True):
    """What is known after an iteration, each in words for people; "" = it is not so.

    completed: the promise was kept. blocked: all that is left needs the user. checkpoint: the
    handoff with which the session ended. fatal: no iteration would get anywhere. waits: it failed,
    but that passes. limit, max_iterations: which limit is reached. stuck: why the breaker opens.
    stop: the user wants the run to stop after this iteration. missing: why it is not complete.
    """

    completed: str = ""
    blocked: str = ""
    checkpoint: str = ""
    fatal: str = ""
    waits: str = ""
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
    """Returns what the first fact that is known, in this order, decides; CONTINUE if none is."""
    for kind, why in (
        (COMPLETED, facts.completed),
        (WAIT, facts.waits),
        (BLOCKED, facts.blocked),
        (CHECKPOINT, facts.checkpoint),
        (FATAL, facts.fatal),
        (LIMIT, facts.limit),
        (MAX_ITERATIONS, facts.max_iterations),
        (STUCK, facts.stuck),
        (STOP, facts.stop),
    ):
        if why:
            return Decision(kind, why)
    return Decision(CONTINUE, facts.missing)


def limit(run: Run, now: float) -> str:
    """Returns which limit besides the iterations is reached; "" = none."""
    return minutes(run.loop, now) or tokens(run.loop) or dollars(run)


def minutes(loop: Loop, now: float) -> str:
    """Returns that the time is up; "" = it is not."""
    most = loop.options.max_minutes
    return messages.minutes_used_up(most) if 0 < most * 60 <= loop.seconds(now) else ""


def tokens(loop: Loop) -> str:
    """Returns that the tokens are used up; "" = they are not."""
    most = loop.options.max_tokens
    return messages.tokens_used_up(most) if 0 < most <= loop.counters.tokens else ""


def dollars(run: Run) -> str:
    """Returns that the dollars are used up; "" = they are not."""
    most = run.options.max_usd
    return messages.dollars_used_up(most) if 0 < most <= run.state.cost else ""


def max_iterations(run: Run, after: int = 0) -> str:
    """Returns that all iterations are used up; "" = they are not. Audits do not count: their
    number has a limit of its own. after: how many more have ended than the state says."""
    state, most = run.state, run.loop.options.max_iterations
    done = state.finished - state.audits + after
    return messages.last_iteration(done) if 0 < most <= done and not state.is_auditing else ""
