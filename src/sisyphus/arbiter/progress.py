"""Whether the loop gets anywhere: signs of progress since the Stop before, and its breaker."""

from __future__ import annotations

from sisyphus.ralph import breaker, cooling, signs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus.arbiter.gates import Refusal
    from sisyphus.arbiter.judge import Case
    from sisyphus.ralph.loop import Loop


def judge(loop: Loop, case: Case, refusal: Refusal | None) -> str:
    """Counts this iteration; returns why the loop is stuck, "" while it is not.

    A loop that holds the session to a plan begins at a Stop: what came before does not count.
    """
    limits = cooling.limits(case.space)
    if not limits.no_progress and not limits.same_error:
        return ""
    if loop.plan and loop in case.turn.begun:
        signs.begin(loop, case.space)
        _has_plan_moved(loop, case)
        return ""
    error = (refusal.tail if refusal else "") or "".join(case.account.errors[-1:])
    before = loop.signs.get("head")
    progress = _has_progress(loop, case)
    if progress and loop.signs.get("head") != before:  # a commit
        loop.breaker = breaker.forget_error(loop.breaker)
    loop.breaker = breaker.after(
        loop.breaker, progress=progress, error=error, now=case.space.now, limits=limits
    )
    return str(loop.breaker.get("why")) if breaker.is_open(loop.breaker) else ""


def _has_progress(loop: Loop, case: Case) -> bool | None:
    """Cheap signs first: git is asked only where there are none."""
    if signs.show(loop, case.account.edits, case.space):
        return True
    plan_moved = _has_plan_moved(loop, case)
    moved = signs.search(loop, case.space)
    return plan_moved or moved


def _has_plan_moved(loop: Loop, case: Case) -> bool:
    """Whether more tasks of the plan are done than at the Stop before."""
    from sisyphus.boulder import gate

    before, done_before = loop.signs.get("plan", ""), loop.signs.get("done")
    found = gate.done_tasks(case.space, case.payload.session, str(before))
    if found is None:
        return False
    loop.signs["plan"], loop.signs["done"] = found
    return found[0] == before and isinstance(done_before, int) and found[1] > done_before
