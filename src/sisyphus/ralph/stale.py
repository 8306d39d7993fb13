"""Whether anybody still runs a loop: its session's client process, and how long it was silent."""

from __future__ import annotations

import os

from sisyphus.ralph.loop import waits_since
from sisyphus.session import client_process

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus._types import Json
    from sisyphus.workspace import Workspace

ALIVE, GONE, STALE = "alive", "gone", "stale"


def is_stale(alive: bool | None, quiet_seconds: float, hours: float) -> bool:
    """Silence for `hours` tells, unless the process is known to live; None = that is not known."""
    return alive is not True and quiet_seconds >= hours * 3600


def health(ours: str, session: str, path: str, now: float, hours: float) -> str:
    """How a session's loop fares whose file is `path`, at `now` in epoch seconds."""
    alive = client_process.is_held(ours, session)
    if is_stale(alive, quiet_seconds(path, now), hours):
        return STALE
    return GONE if alive is False else ALIVE


def worked_until(row: Json, now: float) -> float:
    """The moment up to which a session's current loop was at work. `row`: as `list --json` has it.

    Since then the account's limit holds it, or its client has gone: its file was written last while
    that was there.
    """
    quiet = 0.0 if row["health"] == ALIVE else max(quiet_seconds(row["state_file_path"], now), 0)
    return min(waits_since(row["waiting"], now), now - quiet)


def was_stale(space: Workspace, session: str, path: str) -> bool:
    """Whether the loop in `path` was stale when its client process of now took its session up.

    Any change of the file since then answers no, and so does a session that its process has not
    left, however long it was silent.
    """
    hours = space.settings.get("ralph.stale_hours")
    if not is_stale(None, quiet_seconds(path, space.now), hours):
        return False
    former, moment = client_process.taken_over(space.ours, session, space.now)
    if moment is None:
        return False
    from sisyphus.session.process import is_alive

    return is_stale(is_alive(former) if former else None, quiet_seconds(path, moment), hours)


def quiet_seconds(path: str, moment: float) -> float:
    """How long before `moment` the file was written last; 0 where there is none."""
    try:
        return moment - os.stat(path).st_mtime
    except OSError:
        return 0.0
