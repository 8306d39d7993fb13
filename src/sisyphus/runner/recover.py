"""Takes up what a runner left that was killed, interrupted, or met a fatal failure."""

from __future__ import annotations

import os

from sisyphus.paths import is_safe_id
from sisyphus.runner import attend, handed, outcome
from sisyphus.runner.client import follow, launch
from sisyphus.runner.client.stream import Seen
from sisyphus.runner.handed import CUT_SHORT
from sisyphus.runner.keep.state import RUNNING

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus.runner.attend import Landed
    from sisyphus.runner.desk import Desk

CUT = "the iteration was cut short"


def take_up(desk: Desk) -> Landed | None:
    """The end of the iteration that was in flight; None where it is to be begun, again or at all.

    Its client lives: it is followed on. It has ended by itself: it is judged, not run again. It was
    cut short: what it did is handed over to the client that does the same iteration again.
    """
    outcome.write_note(desk, once=True)
    run = desk.run
    if not run.in_flight:
        return None
    run.iteration, run.status, run.reason = run.judged + 1, RUNNING, ""
    if child := launch.living(run.in_flight):
        run.in_flight["child"] = child.as_json()
        desk.save()
        desk.screen.started(run, is_resumed=True)
        return attend.attend(desk, child)
    landed = _landed(desk)
    if landed is None:
        _cut_short(desk)
    return landed


def _landed(desk: Desk) -> Landed | None:
    """What a client left that came to its end while nobody looked."""
    flight, seen = desk.run.in_flight, Seen()
    follow.catch_up(seen, launch.output(flight))
    code = launch.exit_code(flight)
    if _answered(seen):
        attend.delivered(desk)
    is_whole = seen.has_ended and not seen.is_error
    was_cut = seen.was_interrupted or (flight.get("interrupted") is True and not is_whole)
    if was_cut or (code is None and not seen.has_ended):
        return None
    desk.screen.note(f"iteration {desk.run.iteration} ended while nobody looked")
    ended = follow.Ended()
    ended.exit_code = code
    return attend.land(desk, seen, ended, _last_change(launch.output(flight)))


def _cut_short(desk: Desk) -> None:
    run, seen = desk.run, Seen()
    follow.catch_up(seen, launch.output(run.in_flight))
    session = seen.session if is_safe_id(seen.session) else str(run.in_flight.get("session_id"))
    entry = handed.open_of(desk.space, session)
    full = handed.filled(desk.space, seen.peak, seen.model, seen.window)
    if entry is None and seen.tool_calls:
        entry = handed.write(
            desk.space, session, occasion=CUT_SHORT, reason=CUT, full=full, run=run.as_json()
        )
    if entry is not None:
        run.context_checkpoint = {**entry}
    run.tokens += seen.spent
    run.peak = max(run.peak, full.percent)
    ended = _last_change(launch.output(run.in_flight))
    run.worked_seconds += max(ended - run.began, 0.0) if run.began else 0.0
    run.in_flight = {}
    desk.save()
    desk.screen.note(f"iteration {run.iteration} was cut short; it is done again")


def _answered(seen: Seen) -> bool:
    return bool(seen.said or seen.tool_calls or seen.spent)


def _last_change(path: str) -> float:
    try:
        return os.stat(path).st_mtime
    except OSError:
        return 0.0
