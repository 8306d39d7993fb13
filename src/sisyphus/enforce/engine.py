"""What becomes of a session that is told to go on, and when it is told next. Pure.

Moments and durations are milliseconds; `now` is since the epoch.
"""

from __future__ import annotations

from sisyphus.enforce import gates
from sisyphus.enforce.record import CONTINUOUS, EXHAUSTED, RECOVERING, STOPPED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus.enforce.limits import Limits
    from sisyphus.enforce.record import Entry

WORKED, FAILED = "worked", "failed"

CLOCK_SLACK = 60_000
"""What lies further ahead than this the clock was set back from. What lies less far ahead a hook
noted that began a moment later than this one."""


def settle(entry: Entry, now: int, used_at: int, limits: Limits) -> str:
    """Judges the last enforcement by whether a tool was used since, at `used_at`; forgets failures
    that are long ago. Returns `WORKED`, `FAILED` or "" where nothing was to be judged."""
    _set_clock(entry, now)
    judged = ""
    if entry.pending and now > entry.last_enforcement:
        judged = WORKED if used_at > entry.last_enforcement else FAILED
        entry.failure_count = 0 if judged == WORKED else entry.failure_count + 1
        entry.pending = False
    if gates.has_recovered(entry, now, limits):
        entry.failure_count = 0
    return judged


def enforce(entry: Entry, now: int) -> None:
    entry.iteration += 1
    entry.last_enforcement = max(now, entry.last_enforcement)
    entry.pending = True
    activity(entry, now)


def activity(entry: Entry, now: int) -> None:
    entry.last_activity = max(now, entry.last_activity)


def due(entry: Entry, now: int, limits: Limits, active_at: int = 0) -> int | None:
    """When a session that rests is told to go on; None = it is not, as things are."""
    if gates.barred(entry, now, limits):
        return None
    rested = max(entry.last_activity, active_at) + limits.idle
    return max(rested, gates.cooled_at(entry, limits))


def status(entry: Entry, now: int, limits: Limits) -> str:
    if entry.stop_requested:
        return STOPPED
    if not gates.limit(entry, limits).passed:
        return EXHAUSTED
    return CONTINUOUS if gates.failures(entry, now, limits).passed else RECOVERING


def _set_clock(entry: Entry, now: int) -> None:
    for name in ("last_activity", "last_enforcement", "last_prompt", "last_stop"):
        if getattr(entry, name) > now + CLOCK_SLACK:
            setattr(entry, name, now)
