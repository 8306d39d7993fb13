"""What follows from how an iteration ended. Pure.

In this order, the first that has an opinion decides: promise, checkpoint, fatal failure, limits,
breaker, and the loop goes on. A failure that passes by waiting stands behind the fatal ones: the
iteration is made again and counts for nothing.
"""

from __future__ import annotations

COMPLETE, CHECKPOINT, FATAL, WAIT = "complete", "checkpoint", "fatal", "wait"
LIMIT, BREAKER, GO_ON = "limit", "breaker", "go_on"

NOT_DONE = "the work is not done yet"

MOST_TRIES = 20
"""Failures of the network or the server in a row after which waiting is no help."""


class Facts:
    """What is known at the end of an iteration; "" = it is not so, else why in plain words."""

    __slots__ = (
        "breaker", "checkpoint", "completed", "fatal", "limit", "passing", "tries", "trouble",
    )  # fmt: skip

    def __init__(  # one a fact
        self,
        *,
        completed: str = "",
        checkpoint: str = "",
        fatal: str = "",
        passing: str = "",
        tries: int = 0,
        limit: str = "",
        breaker: str = "",
        trouble: str = "",
    ) -> None:
        self.completed = completed
        self.checkpoint = checkpoint
        self.fatal = fatal
        self.passing = passing
        self.tries = tries  # passing failures without a known end in a row, this one included
        self.limit = limit
        self.breaker = breaker
        self.trouble = trouble  # what went wrong, though the loop goes on


class Decision:
    __slots__ = ("kind", "why")

    def __init__(self, kind: str, why: str) -> None:
        self.kind = kind
        self.why = why

    @property
    def goes_on(self) -> bool:
        return self.kind in (CHECKPOINT, WAIT, GO_ON)


def decide(facts: Facts) -> Decision:
    fatal = facts.fatal
    if not fatal and facts.passing and facts.tries >= MOST_TRIES:
        fatal = f"{facts.passing}, {facts.tries} times in a row"
    for kind, why in (
        (COMPLETE, facts.completed),
        (CHECKPOINT, facts.checkpoint),
        (FATAL, fatal),
        (WAIT, facts.passing),
        (LIMIT, facts.limit),
        (BREAKER, facts.breaker),
    ):
        if why:
            return Decision(kind, why)
    return Decision(GO_ON, facts.trouble or NOT_DONE)


def limit(  # one a limit
    *,
    done: int,
    max_iterations: int,
    seconds: float,
    max_minutes: int,
    tokens: int,
    max_tokens: int,
) -> str:
    """Which limit is reached, in plain words; "" = none. `done`: iterations that have ended."""
    if 0 < max_iterations <= done:
        return f"the limit of {max_iterations:,} {_plural('iteration', max_iterations)} is reached"
    if 0 < max_minutes * 60 <= seconds:
        return f"the limit of {max_minutes:,} {_plural('minute', max_minutes)} is reached"
    if 0 < max_tokens <= tokens:
        noun = _plural("token", max_tokens)
        return f"the limit of {max_tokens:,} {noun} is reached ({tokens:,} spent)"
    return ""


def _plural(word: str, number: int) -> str:
    return word if number == 1 else f"{word}s"
