"""Waits for a failure to pass. What is waited for stands in the state, so that a runner that is
killed meanwhile waits on when it is resumed."""

from __future__ import annotations

from sisyphus.notify.send import PAUSE
from sisyphus.runner import tell

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus._types import Json
    from sisyphus.runner.desk import Desk

LONGEST = 8 * 86_400
"""The longest limit of an account is that of a week."""

WORTH_TELLING = 60
_STEP = 1.0
_QUICK_STEP = 0.05


def wait(desk: Desk) -> bool:
    """Until the moment that the state names; whether it came, and not the user's interruption."""
    waiting = desk.run.waiting
    until = _until(waiting, desk.now())
    if until - desk.now() > WORTH_TELLING:
        reason = str(waiting.get("for") or "")
        tell.send_about(desk, PAUSE, f"{reason}; it goes on by itself" if reason else "")
    while (left := until - desk.now()) > 0:
        if desk.interrupted():
            return False
        desk.screen.waits(desk.run, left)
        desk.sleep(min(left, _STEP if left > 2 * _STEP else _QUICK_STEP))
    desk.run.waiting = {}
    return True


def _until(waiting: Json, now: float) -> float:
    until = waiting.get("until")
    is_moment = isinstance(until, (int, float)) and until <= now + LONGEST
    return float(until) if is_moment and isinstance(until, (int, float)) else now
