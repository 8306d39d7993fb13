"""The conditions under which a session is told to go on, in their order. Pure.

Moments are milliseconds since the epoch.
"""

from __future__ import annotations

from sisyphus.times import duration

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus.enforce.limits import Limits
    from sisyphus.enforce.record import Entry

CLAIM, IDLE = 1, 2
"""The layers: what the model says at Stop, and a session that rests."""

MAIN_GATE, IDLE_GATE, COOLDOWN_GATE = "main agent", "idle", "cooldown"
FAILURES_GATE, USER_GATE, LIMIT_GATE = "failures", "user", "limit"


class Gate:
    """One condition. `opens_at`: when it does by itself, None = it does not, or is open."""

    __slots__ = ("name", "opens_at", "passed", "why")

    def __init__(self, name: str, passed: bool, why: str, opens_at: int | None = None) -> None:
        self.name = name
        self.passed = passed
        self.why = why
        self.opens_at = None if passed else opens_at


def every(entry: Entry, now: int, limits: Limits, layer: int, active_at: int = 0) -> list[Gate]:
    """Every condition, in order: the first that is closed decides. `active_at`: the last activity
    that is not in the entry. Subagents have no entry."""
    return [
        Gate(MAIN_GATE, True, "the main agent"),
        *([_idle(max(entry.last_activity, active_at), now, limits)] if layer == IDLE else ()),
        _cooldown(entry, now, limits),
        failures(entry, now, limits),
        _user(entry),
        limit(entry, limits),
    ]


def closed(found: list[Gate]) -> Gate | None:
    return next((gate for gate in found if not gate.passed), None)


def barred(entry: Entry, now: int, limits: Limits) -> Gate | None:
    """The gate that opens by no rest, if one is closed; failures are forgotten at a Stop."""
    return closed([failures(entry, now, limits), _user(entry), limit(entry, limits)])


def has_recovered(entry: Entry, now: int, limits: Limits) -> bool:
    is_resting = 0 < limits.max_failures <= entry.failure_count
    return is_resting and now - entry.last_enforcement >= limits.recovery


def _idle(active_at: int, now: int, limits: Limits) -> Gate:
    idle, wanted = _words(now - active_at), _words(limits.idle)
    passed = now - active_at >= limits.idle
    why = f"idle for {idle}" if passed else f"idle for {idle} of {wanted}"
    return Gate(IDLE_GATE, passed, why, active_at + limits.idle)


def _cooldown(entry: Entry, now: int, limits: Limits) -> Gate:
    if not entry.last_enforcement:
        return Gate(COOLDOWN_GATE, True, "nothing was enforced yet")
    opens_at = cooled_at(entry, limits)
    whole = _words(limits.cooldown_of(entry.failure_count))
    if now >= opens_at:
        return Gate(COOLDOWN_GATE, True, f"{whole} are over")
    return Gate(COOLDOWN_GATE, False, f"{_words(opens_at - now)} of {whole} are left", opens_at)


def cooled_at(entry: Entry, limits: Limits) -> int:
    if not entry.last_enforcement:
        return 0
    return entry.last_enforcement + limits.cooldown_of(entry.failure_count)


def failures(entry: Entry, now: int, limits: Limits) -> Gate:
    count, most = entry.failure_count, limits.max_failures
    if not most:
        return Gate(FAILURES_GATE, True, f"{count} in a row, no limit")
    passed = count < most or has_recovered(entry, now, limits)
    opens_at = entry.last_enforcement + limits.recovery
    rests = "" if passed else f"; forgotten in {_words(opens_at - now)}"
    return Gate(FAILURES_GATE, passed, f"{count} of {most} in a row{rests}", opens_at)


def _user(entry: Entry) -> Gate:
    is_stopped = entry.stop_requested
    why = "stopped by the user until the next prompt" if is_stopped else "not stopped by the user"
    return Gate(USER_GATE, not is_stopped, why)


def limit(entry: Entry, limits: Limits) -> Gate:
    most = limits.max_iterations
    passed = not most or entry.iteration < most
    return Gate(LIMIT_GATE, passed, f"{entry.iteration} of {most or 'no limit'}")


def _words(milliseconds: int) -> str:
    return duration(milliseconds / 1_000)
