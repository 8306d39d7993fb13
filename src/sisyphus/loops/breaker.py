"""The circuit breaker: pauses a loop that makes no progress.

It opens after some Stops without progress or with the same error, and the loop is paused as STUCK.
`sisyphus ralph resume`, a prompt of the user and an empty context close it.
"""

from __future__ import annotations

from sisyphus.ground.record import asdict
from sisyphus.ground.text import one_line
from sisyphus.hook.stops import Stops

_ERROR_CHARACTERS = 300
_SHOWN_CHARACTERS = 100


def after_stop(stops: Stops, *, has_progress: bool, error: str) -> Stops:
    """Returns the counters after a Stop. error: the last failure before it, or ""."""
    kind = _kind(error)
    same = stops.same_error + 1 if kind == stops.error else 1
    idle = 0 if has_progress else stops.idle + 1
    counted = {"idle": idle, "error": kind, "same_error": same if kind else 0}
    return Stops(**{**asdict(stops), **counted})


def _kind(error: str) -> str:
    """Returns an error without its numbers and addresses, so that two reports of it are equal."""
    if not error:
        return ""
    import re  # imported late: most Stops come without one

    words = " ".join(error.split())
    return re.sub(r"0x[0-9a-f]+|\d+", "#", words, flags=re.IGNORECASE)[:_ERROR_CHARACTERS]


def why_open(stops: Stops, limit: int, error: str) -> str:
    """Returns why the breaker opens; "" = it does not. error: the last failure, as it was."""
    if limit and stops.idle >= limit:
        return f"{stops.idle} iterations without any change"
    if limit and stops.same_error >= limit:
        shown = one_line(error, _SHOWN_CHARACTERS)
        return f"the same error {stops.same_error} times in a row: {shown}"
    return ""
