"""Once a day the end of a session removes what is old."""

from __future__ import annotations

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

PURGED = "purged_at"
"""The note in the memory that says when it was cleaned last, in epoch seconds."""


def on_session_end(payload: Payload, space: Workspace) -> Outcome | None:
    """Removes what `sisyphus purge` would, apart from what only people are to decide on."""
    if payload.agent or not payload.session:
        return None
    days: int = space.settings.get("state.keep_days")
    if days <= 0 or space.memory.problem or not _is_due(space):
        return None
    _note_day(space)
    return _purge(space, days, time.monotonic() + MOST_SECONDS)


def _is_due(space: Workspace) -> bool:
    row = space.memory.row("SELECT value FROM note WHERE name = ?", PURGED)
    return row is None or abs(space.now - float(row[0])) >= EVERY_SECONDS


def _note_day(space: Workspace) -> None:
    """First of all: what fails or is killed is not tried again at every end."""
    space.memory.write("INSERT OR REPLACE INTO note VALUES (?, ?)", PURGED, str(space.now))


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
    sessions = purge.Sessions(space.memory, space.now, days)
    if sessions:
        sessions.remove(space.memory, space.now)
    if not done.gone and not sessions:
        return None
    left = len(found) - len(done.gone)
    gone = [str(sessions)] if sessions else []
    gone += [purge.total(done.gone)] if done.gone else []
    rest = f"; {left:,} files stay for another day" if left else ""
    return Outcome(notes=[f"removed what was not used for {days} days: {', '.join(gone)}{rest}"])
