"""What enforcement says to the model and to the user, to the letter."""

from __future__ import annotations

from sisyphus.text import cut_units, one_line
from sisyphus.times import duration

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    from sisyphus._types import Toast
    from sisyphus.enforce.limits import Limits
    from sisyphus.enforce.record import Entry

HEAD = "CONTINUOUS ENFORCEMENT"
TITLE = "Continuous enforcement"

_CLAIM_UNITS = 200
_MINUTE = 60


def claimed(claim: str, entry: Entry, limits: Limits) -> str:
    """Why the model may not stop, in at most 900 UTF-16 units: the client shows it twice."""
    return _go_on(f'You said: "{quoted(claim)}"', entry, limits)


def idle(milliseconds: int, entry: Entry, limits: Limits) -> str:
    """Why a session that rests is woken."""
    return _go_on(f"The session has been idle for {_spelled(milliseconds)}.", entry, limits)


def _go_on(why: str, entry: Entry, limits: Limits) -> str:
    return f"""\
[{HEAD}]

{why}

Before you stop:
1. Verify: run the tests and the build, and read what they say.
2. Requirements: go through everything that was asked, point by point.
3. Evidence: show the output that proves each point.
4. Improve: name the weakest part that is left, and make it better.

{count(entry, limits)}. Only the user ends this, with /sisyphus:enforce stop."""


def count(entry: Entry, limits: Limits) -> str:
    """`Enforcement 3 of 50`."""
    most = f" of {limits.max_iterations}" if limits.max_iterations else ""
    return f"Enforcement {entry.iteration}{most}"


def told(entry: Entry, limits: Limits) -> str:
    """For the user."""
    return f"{count(entry, limits)}: the session was told to go on."


def rests(entry: Entry, limits: Limits, *, has_failed: bool) -> str:
    """For the user, once: nobody is told to go on any more."""
    if has_failed:
        why = (
            f"{entry.failure_count} enforcements in a row were not followed by a tool call. The "
            f"session rests; {duration(limits.recovery / 1_000)} after the last one your next "
            "prompt begins anew."
        )
    else:
        why = (
            f"The limit of {limits.max_iterations} enforcements of this session is reached. "
            "`sisyphus enforce on` begins anew."
        )
    return f"[ENFORCEMENT RESTS]\n\n{why}"


def warning(claim: str, entry: Entry, limits: Limits, seconds: float) -> Toast:
    """The model says that the work is done."""
    message = f'{count(entry, limits)}: the model said "{quoted(claim)}".'
    return _toast("warning", message, seconds, 0)


def alarm(
    milliseconds: int, entry: Entry, limits: Limits, seconds: float, countdown: float
) -> Toast:
    """A session that rests is told to go on after `countdown` seconds."""
    message = f"{count(entry, limits)}: idle for {_spelled(milliseconds)}."
    return _toast("error", message, seconds, countdown)


def _toast(
    variant: Literal["warning", "error"], message: str, seconds: float, countdown: float
) -> Toast:
    return {
        "variant": variant,
        "title": TITLE,
        "message": message,
        "seconds": seconds,
        "countdown": countdown,
    }


def quoted(claim: str) -> str:
    """A stranger's words on one line, within quotes."""
    line = one_line(claim, _CLAIM_UNITS).replace('"', "'")
    return cut_units(line, _CLAIM_UNITS)


def _spelled(milliseconds: int) -> str:
    seconds = round(milliseconds / 1_000)
    return f"{seconds} seconds" if 1 < seconds < _MINUTE else duration(seconds)
