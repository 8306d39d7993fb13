"""Once a day the end of a session removes what is old."""

from __future__ import annotations

import os
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus.clients.base import Outcome, Payload
    from sisyphus.workspace import Workspace

EVERY_SECONDS = 86_400
MOST_SECONDS = 0.5
"""Claude Code 2.1.329 kills its hooks 1.5 s after a signal has ended it; nothing that is cut off
there is half done."""

MOST_FILES = 2_000


def on_session_end(payload: Payload, space: Workspace) -> Outcome | None:
    """Removes what `sisyphus purge` would, apart from what only people are to decide on."""
    if payload.agent or not payload.session:
        return None
    stamp = stamp_path(space.ours)
    if not _is_due(stamp, space.now):
        return None
    days: int = space.settings.get("state.keep_days")
    if days <= 0:
        return None
    _note_day(stamp, space.now)
    return _purge(space, days, time.monotonic() + MOST_SECONDS)


def stamp_path(ours: str) -> str:
    """Its time is that of the last clean-up."""
    return os.path.join(ours, "cache", "purged")


def _is_due(stamp: str, now: float) -> bool:
    try:
        return abs(now - os.stat(stamp).st_mtime) >= EVERY_SECONDS
    except OSError:
        return True


def _note_day(stamp: str, now: float) -> None:
    """First of all: what fails or is killed is not tried again at every end."""
    from sisyphus.state.files import append_text

    append_text(stamp, "")
    os.utime(stamp, (now, now))


class _LateError(Exception):
    """There is more to look through than a hook has time for."""


def _purge(space: Workspace, days: int, deadline: float) -> Outcome | None:
    from sisyphus.clients.base import Outcome
    from sisyphus.upkeep import kept, purge

    def tell(count: int) -> None:
        if time.monotonic() > deadline:
            raise _LateError(f"{count:,} files and more are too many to look through here")

    try:
        found = purge.find(space.ours, space.now, days, without=kept.FOR_PEOPLE, tell=tell)
    except _LateError as error:
        return Outcome(notes=[f"nothing old was removed: {error}; `sisyphus purge` does"])
    done = purge.carry_out(found[:MOST_FILES], deadline)
    if not done.gone:
        return None
    left = len(found) - len(done.gone)
    rest = f"; {left:,} stay for another day" if left else ""
    gone = purge.total(done.gone)
    return Outcome(notes=[f"removed what was not used for {days} days: {gone}{rest}"])
