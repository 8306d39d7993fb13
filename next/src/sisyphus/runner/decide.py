"""Decides how a run goes on after an iteration: the first fact that is known wins.

Reads and writes nothing. `run.py` gathers the facts and carries the decision out. The limits are
also asked before each iteration, so that checkpoints and waiting cannot carry a run past them.
"""

from __future__ import annotations

from dataclasses import dataclass

from sisyphus.ralph.loop import Loop
from sisyphus.runner.options import RunOptions
from sisyphus.runner.state import RunState

CANCELLED, COMPLETED, BLOCKED, CHECKPOINT, FATAL, WAIT, LIMIT, MAX_ITERATIONS, STUCK, STOP = (
    "cancelled", "completed", "blocked", "checkpoint", "fatal", "wait", "limit", "max_iterations",
    "stuck", "stop",
)  # fmt: skip
CONTINUE = "continue"
AUDIT = "audit"
"""Decisions. CHECKPOINT, WAIT and CONTINUE go on with another iteration. STOP: the user wants the
run to stop, but not to be over. AUDIT is that of an auditor's iteration, whatever follows."""

GOES_ON = (CHECKPOINT, WAIT, CONTINUE)


@dataclass(frozen=True)
class IterationFacts:
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
    missing: str = "the work is not done yet"


@dataclass(frozen=True)
class Decision:
    kind: str
    why: str

    @property
    def goes_on(self) -> bool:
        return self.kind in GOES_ON


def decide(facts: IterationFacts) -> Decision:
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


def limit(loop: Loop, options: RunOptions, cost: float, now: float) -> str:
    """Returns which limit besides the iterations is reached; "" = none. cost: so far, in
    dollars."""
    if over := minutes(loop, now):
        return over
    tokens = loop.options.max_tokens
    if tokens and loop.counters.tokens >= tokens:
        return f"its {tokens:,} tokens are used up"
    if options.max_usd and cost >= options.max_usd:
        return f"its ${options.max_usd:,.2f} are used up"
    return ""


def minutes(loop: Loop, now: float) -> str:
    """Returns that the time is up; "" = it is not."""
    most = loop.options.max_minutes
    are = "minute is" if most == 1 else "minutes are"
    return f"its {most:,} {are} up" if 0 < most * 60 <= loop.seconds(now) else ""


def max_iterations(loop: Loop, state: RunState, after: int = 0) -> str:
    """Returns that all iterations are used up; "" = they are not. Audits do not count: their
    number has a limit of its own. after: how many more have ended than the state says."""
    most, done = loop.options.max_iterations, state.finished - state.audits + after
    if state.is_auditing:
        return ""
    return f"iteration {done} was the last" if 0 < most <= done else ""
