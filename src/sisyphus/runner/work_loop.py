"""The loop: one iteration after the other, until something ends it."""

from __future__ import annotations

from sisyphus.runner import broken, iteration, judge, recover, tell, waits
from sisyphus.runner.keep.state import (
    BREAKER,
    CANCELLED,
    COMPLETED,
    FATAL,
    MAX_ITERATIONS,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus.runner.attend import Landed
    from sisyphus.runner.desk import Desk

EXIT_CODES = {COMPLETED: 0, FATAL: 1, MAX_ITERATIONS: 3, BREAKER: 3, CANCELLED: 130}
BY_USER = "interrupted"


def work(desk: Desk) -> int:
    """Works until the run ends; returns the exit code. Raises `SisyphusError` where it broke."""
    try:
        desk.save()
        _loop(desk)
    except KeyboardInterrupt:  # a second Ctrl-C
        desk.roll_back()
        cancel(desk, None)
    except Exception as error:  # whatever it is: nobody watches at night
        raise broken.end(desk, error) from error
    tell.end(desk)
    return EXIT_CODES[desk.run.status]


def _loop(desk: Desk) -> None:
    landed = recover.take_up(desk)
    while True:
        if desk.run.waiting and not waits.wait(desk):
            return cancel(desk, None)
        if landed is None and desk.interrupted():
            return cancel(desk, None)
        landed = landed or iteration.begin(desk)
        decision = None if landed.interrupted else judge.judge(desk, landed)
        if decision is None:
            return cancel(desk, landed)
        if not decision.goes_on:
            return None
        landed = None


def cancel(desk: Desk, landed: Landed | None) -> None:
    """What is in flight stays so: whoever resumes finds what its client left."""
    run = desk.run
    is_cut = landed is None or (landed.interrupted and not landed.is_whole)
    if run.in_flight and is_cut:
        run.in_flight["interrupted"] = True
    run.status, run.reason = CANCELLED, BY_USER
    desk.save()
