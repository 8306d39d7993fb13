"""The circuit breaker: it opens when a loop gets nowhere. Pure: the clock is passed in.

Closed, it counts. At a limit it opens; after a while it is half open, and the next iteration
decides: progress closes it, one more that gets nowhere opens it anew.
"""

from __future__ import annotations

from sisyphus.ralph.fingerprint import fingerprint, first_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus._types import Json

CLOSED, HALF_OPEN, OPEN = "closed", "half_open", "open"

NO_SIGN = "no commit, no change of the work tree, no task done"

_AGAIN = 2
_MOMENTS = 1e12  # epoch seconds; what lies beyond is no time


class Limits:
    """How many iterations in a row open the breaker, and for how long; 0 = never by that rule.

    The numbers of iterations are those of popular loops; `cool_minutes` 0 = it opens for good,
    until somebody resumes the loop.
    """

    __slots__ = ("cool_minutes", "no_progress", "same_error")

    def __init__(self, no_progress: int = 5, same_error: int = 5, cool_minutes: float = 30) -> None:
        self.no_progress = no_progress
        self.same_error = same_error
        self.cool_minutes = cool_minutes


class _State:
    """The state as a file holds it, tolerant of whatever it holds; unknown fields stay."""

    __slots__ = (
        "_raw", "error", "is_overdue", "no_progress", "opened_at", "same_error", "state", "why",
    )  # fmt: skip

    def __init__(self, raw: object) -> None:
        self._raw: Json = raw if isinstance(raw, dict) else {}
        state = self._raw.get("state")
        self.state = state if state in (HALF_OPEN, OPEN) else CLOSED
        self.no_progress = _count(self._raw.get("no_progress"))
        self.same_error = _count(self._raw.get("same_error"))
        self.error = _text(self._raw.get("error"))
        self.is_overdue = self._raw.get("is_overdue") is True
        self.opened_at = _moment(self._raw.get("opened_at"))
        self.why = _text(self._raw.get("why"))

    def count(self, progress: bool | None, error: str) -> None:
        if progress is not None:
            self.no_progress = 0 if progress else self.no_progress + 1
        if error:
            self.same_error = (self.same_error if error == self.error else 0) + 1
            self.error, self.is_overdue = error, False
        elif self.is_overdue:
            self.same_error, self.error, self.is_overdue = 0, "", False
        else:
            self.is_overdue = bool(self.error)

    def turn(self, state: str, opened_at: float = 0.0, why: str = "") -> None:
        self.state, self.opened_at, self.why = state, opened_at, why

    def as_json(self) -> Json:
        return {
            **self._raw,
            "state": self.state,
            "no_progress": self.no_progress,
            "same_error": self.same_error,
            "error": self.error,
            "is_overdue": self.is_overdue,
            "opened_at": self.opened_at,
            "why": self.why,
        }


def reset() -> Json:
    """The state of a loop that has just begun, or that somebody resumed."""
    return _State({}).as_json()


def forget_error(state: object) -> Json:
    """`state` after a commit: an error that came before it is over."""
    found = _State(state)
    found.same_error, found.error, found.is_overdue = 0, "", False
    return found.as_json()


def is_open(state: object) -> bool:
    return _State(state).state == OPEN


def after(state: object, *, progress: bool | None, error: str, now: float, limits: Limits) -> Json:
    """What one more iteration makes of `state`, any JSON; `why` says why it is open.

    `progress` None = cannot tell. `error`: the text of a tool call that failed in this iteration,
    "" = none did; progress does not excuse it: who edits and gets the same failure each time is
    stuck. One iteration without an error is no end of it: a Stop may come before the client has
    written down how the last call went, and the next one sees it. An open breaker counts on, but
    time alone (`cooled`) or `reset` changes it.
    """
    found = _State(state)
    found.count(progress, fingerprint(error))
    if found.state == OPEN:
        return found.as_json()
    if why := _same_error(found, progress, error, limits) or _no_progress(found, progress, limits):
        found.turn(OPEN, now, why)
    elif progress:
        found.turn(CLOSED)
    return found.as_json()


def cooled(state: object, now: float, limits: Limits) -> Json:
    """`state`, half open if it has been open for `cool_minutes`.

    A clock that went back does not cool it, but one that is behind by more than `cool_minutes`
    says nothing about when it was opened: so it never stays open for twice as long.
    """
    found = _State(state)
    minutes = (now - found.opened_at) / 60
    cool = limits.cool_minutes
    if found.state == OPEN and cool > 0 and not -cool <= minutes < cool:
        found.state = HALF_OPEN
    return found.as_json()


def _same_error(found: _State, progress: bool | None, error: str, limits: Limits) -> str:
    times, most = found.same_error, limits.same_error
    if most <= 0 or not error:
        return ""
    is_again = found.state == HALF_OPEN and not progress and times >= _AGAIN
    if times < most and not is_again:
        return ""
    line = first_line(error)
    if found.state == HALF_OPEN:
        return f"the same error again after the pause: {line}"
    return f"the same error {_times(times)}: {line}"


def _no_progress(found: _State, progress: bool | None, limits: Limits) -> str:
    most = limits.no_progress
    if progress is not False or most <= 0:
        return ""
    if found.state == HALF_OPEN:
        return f"no progress after the pause either: {NO_SIGN}"
    number = found.no_progress
    if number < most:
        return ""
    return f"{number} iteration{'s' if number > 1 else ''} without progress: {NO_SIGN}"


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number} times"


def _count(value: object) -> int:
    return value if type(value) is int and value >= 0 else 0


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _moment(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return 0.0
    return value if 0 <= value < _MOMENTS else 0.0
