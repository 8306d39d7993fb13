"""Whether a run gets anywhere: its breaker, and what it counts."""

from __future__ import annotations

from sisyphus.ralph import breaker
from sisyphus.ralph.cooling import limits
from sisyphus.ralph.fingerprint import fingerprint
from sisyphus.runner import looks
from sisyphus.runner.client import launch
from sisyphus.text import fingerprint as short_hash

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus.runner.case import Case
    from sisyphus.runner.desk import Desk


def count(desk: Desk, case: Case) -> str:
    """Counts this iteration, if it counts; why the run gets nowhere, "" = it does not seem so."""
    run, change = desk.run, case.change
    if change is None:
        return ""
    error = _error(desk, case)
    if change.is_commit:
        run.breaker = breaker.forget_error(run.breaker)
    progress = change.progress
    run.breaker = breaker.after(
        run.breaker,
        progress=progress,
        error=error,
        now=desk.space.now,
        limits=limits(desk.space),
    )
    if progress is not None:
        run.no_change_count = 0 if progress else run.no_change_count + 1
    if mark := fingerprint(error):
        run.error_hashes.append(short_hash(mark))
    return str(run.breaker.get("why")) if breaker.is_open(run.breaker) else ""


def _error(desk: Desk, case: Case) -> str:
    if case.claim.refused:
        return case.claim.tail or case.claim.refused
    if case.landed.failure:
        return case.landed.failure.why
    return looks.last_error(launch.output(desk.run.in_flight))
