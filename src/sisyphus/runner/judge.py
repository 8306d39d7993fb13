"""What becomes of an iteration that has ended: one decision, and one write that holds it all."""

from __future__ import annotations

from sisyphus.runner import claims, decide, handing, looks, outcome, stuck
from sisyphus.runner.case import Case
from sisyphus.runner.decide import Decision, Facts
from sisyphus.runner.handed import BREAKER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus._types import Checkpoint
    from sisyphus.runner.attend import Landed
    from sisyphus.runner.desk import Desk
    from sisyphus.runner.keep.state import Run

_HUNG_UP = "interrupted by SIGHUP"
"""Of the user's command: the terminal went away, which is no reason to end."""


def judge(desk: Desk, landed: Landed, given: Checkpoint | None = None) -> Decision | None:
    """Brings an iteration to its end and keeps that; None where the user interrupted it, which
    leaves it to whoever resumes. `given`: a handoff of this iteration that is known already."""
    case = Case(desk, landed)
    case.entry = given
    case.claim = claims.check(desk, landed.seen, case.plan)
    if case.claim.verified == _HUNG_UP and not desk.interrupted():
        case.claim = claims.check(desk, landed.seen, case.plan)
    if desk.interrupted() and not case.claim.completed:
        return None
    _account(desk, case)
    if not (landed.failure.is_passing or landed.failure.is_fatal):
        case.change = looks.look(desk, len(case.newly_done))
    facts = _facts(desk, case)
    decision = decide.decide(facts)
    if decision.kind in (decide.GO_ON, decide.CHECKPOINT):
        ending = decide.decide(Facts(limit=facts.limit, breaker=facts.breaker))
        decision = decision if ending.goes_on else ending
    if decision.kind == decide.BREAKER and case.entry is None:
        case.entry = handing.write(desk, case, BREAKER, decision.why)
    if decision.kind == decide.COMPLETE:
        handing.close(desk, case)
    outcome.keep(desk, case, decision)
    return decision


def _account(desk: Desk, case: Case) -> None:
    """What it cost, whatever comes of it."""
    run, seen = desk.run, case.landed.seen
    run.worked_seconds += max(case.landed.ended_at - run.began, 0.0) if run.began else 0.0
    run.tokens += seen.spent
    run.peak = max(run.peak, case.full.percent)


def _facts(desk: Desk, case: Case) -> Facts:
    run, failure = desk.run, case.landed.failure
    completed = case.claim.completed
    if not completed:
        case.entry = handing.find(desk, case)
    case.is_full = case.entry is not None and handing.is_full(case)
    return Facts(
        completed=completed,
        checkpoint=handing.words(case) if case.is_full else "",
        fatal=failure.why if failure.is_fatal else "",
        passing=failure.why if failure.is_passing else "",
        tries=run.tries + (0 if failure.ends_at_known_time(desk.space.now) else 1),
        limit=limit(run, run.iteration),
        trouble=case.claim.refused or failure.why,
        breaker="" if completed else stuck.count(desk, case) or case.claim.blocked,
    )


def limit(run: Run, done: int) -> str:
    """Which limit is reached after `done` iterations; "" = none."""
    return decide.limit(
        done=done,
        max_iterations=run.max_iterations,
        seconds=run.worked_seconds,
        max_minutes=run.number("max_minutes"),
        tokens=run.tokens,
        max_tokens=run.number("max_tokens"),
    )
