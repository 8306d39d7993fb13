"""Takes a session up again when the account's limit is over: `sisyphus hook idle` at StopFailure.

Claude Code 2.1.329 goes on by itself some 75 s after a 5-hour limit; whoever was first, the other
sees that nothing waits any more. An asynchronous hook may wait for hours: it holds no lock of the
loop, and looks every few seconds whether it is still wanted.
"""

from __future__ import annotations

import time

from sisyphus import memory
from sisyphus.clients.base import Outcome
from sisyphus.errors import LockedError
from sisyphus.ralph import store
from sisyphus.session import client_process
from sisyphus.session.process import is_alive
from sisyphus.state.lock import Lock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from sisyphus._types import Json
    from sisyphus.clients.base import Payload
    from sisyphus.ralph.loop import Loop
    from sisyphus.workspace import Workspace

AFTER_RESET = 120
"""Seconds behind the named moment: the client's own continuation comes first."""

LAST_TRY = 3_600
"""Seconds to wait at most where no moment is known."""

LOOK_SECONDS = 10
LOOKS = (0, 1, 3, 6)
"""Seconds before each look for the note of the failure; hooks have ten to do their work."""

_MOMENTS = 1e12  # epoch seconds; what lies beyond is no time

TEXT = "The limit is over. Go on with the task of the ralph loop where it stopped."


def on_idle(
    payload: Payload,
    space: Workspace,
    sleep: Callable[[float], None] = time.sleep,
    clock: Callable[[], float] = time.time,
) -> Outcome | None:
    """Waits, where the loop asks for it; an outcome with a reason wakes the session."""
    if not payload.follows_failure or payload.is_subagent or not payload.session:
        return None
    if not space.settings.get("ralph.enabled"):
        return None
    path = store.loop_path(space.ours, payload.session)
    if not _may_wake(store.peek(path)) or not _is_noted(path, space.now, sleep):
        return None
    try:
        with Lock(path + ".wake", wait=0):
            return _Watch(path, payload.transcript, space).wait(sleep, clock)
    except LockedError:
        return Outcome(notes=["another hook waits for the limit already"])


def _is_noted(path: str, started: float, sleep: Callable[[float], None]) -> bool:
    """Whether the loop waits since this failure. The hook that notes it was started when we were,
    and until then what an earlier failure left is there."""
    for seconds in LOOKS:
        sleep(seconds)
        if _number(_wanted(path).get("since")) > started - sum(LOOKS):
            return True
    return False


class _Watch:
    """Over one loop, until its limit is over or nobody is to be woken any more."""

    __slots__ = ("_first", "_path", "_process", "_transcript")

    def __init__(self, path: str, transcript: str, space: Workspace) -> None:
        self._path = path
        self._transcript = transcript
        self._first = max(space.settings.get("ralph.retry_seconds"), 1)
        self._process = client_process.client_process()

    def wait(self, sleep: Callable[[float], None], clock: Callable[[], float]) -> Outcome:
        """A later failure may find us waiting, and its own hook leaves it to us."""
        while waiting := _wanted(self._path):
            left = due(waiting, self._first) - clock()
            if self._process is None or is_alive(self._process) is False:
                return Outcome(notes=["the client has gone while the loop waited"])
            if left <= 0:
                return self._over(waiting)
            memory.close()  # or what is written beside it stays there for as long as we wait
            sleep(min(LOOK_SECONDS, left))
        return Outcome(notes=["the loop waits no more for the limit"])

    def _over(self, waiting: Json) -> Outcome:
        if _has_answered(self._transcript, _number(waiting.get("since"))):
            return Outcome(notes=["the session goes on by itself"])
        what = waiting.get("for", "limit")
        return Outcome(reason=TEXT, notes=[f"woken: the {what} is over"])


def _has_answered(transcript: str, since: float) -> bool:
    """Whether the model has said anything after the failure, whose message is no answer."""
    from sisyphus.ralph import watch
    from sisyphus.times import is_before, iso
    from sisyphus.transcript import ASSISTANT

    failed_at = iso(since + 1)
    for record in watch.last_records(transcript):
        is_answer = record.role == ASSISTANT and not record.is_clients
        if is_answer and not is_before(record.at, failed_at):
            return True
    return False


def due(waiting: Json, first: float) -> float:
    """When to try again, in epoch seconds; `first`: seconds to wait where no moment is known,
    doubled with each failure in a row."""
    since, until, tries = (_number(waiting.get(name)) for name in ("since", "until", "tries"))
    if until:
        return until + AFTER_RESET
    return since + min(first * 2 ** min(tries, 10), max(first, LAST_TRY))


def _wanted(path: str) -> Json:
    """What the loop waits for, {} where nobody is to be woken for it."""
    loop = store.peek(path)
    return loop.waiting if loop and _may_wake(loop) else {}


def _may_wake(loop: Loop | None) -> bool:
    return bool(loop and loop.options.get("resume_after_limit") and not loop.is_paused)


def _number(value: object) -> float:
    return value if isinstance(value, (int, float)) and 0 < value < _MOMENTS else 0
