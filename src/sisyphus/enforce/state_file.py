"""`enforce.json`: how enforcement stands in a project, for other programs."""

from __future__ import annotations

import time

from sisyphus.enforce import enforcements, gates
from sisyphus.ground import exports, paths, traces
from sisyphus.ground.partial import partial

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from sisyphus.enforce.enforcements import Enforcement
    from sisyphus.ground.settings import Values
    from sisyphus.ground.store import Store
    from sisyphus.hook.session import Session

OFF, CONTINUOUS, STOPPED = "OFF", "CONTINUOUS", "STOPPED"
RECOVERING, EXHAUSTED = "RECOVERING", "EXHAUSTED"

_SHORT = {CONTINUOUS: "on", STOPPED: "stopped", RECOVERING: "waiting", EXHAUSTED: "at limit"}


def export(store: Store, project: str, settings: Values) -> None:
    """Writes the file from the session that was enforced last. Raises `OSError`."""
    exports.write(store, file_of(project), partial(as_dict, store, project, settings))


def file_of(project: str) -> str:
    """Returns the path of a project's file."""
    return traces.enforcement_file(paths.our_home(project), project)


def as_dict(
    store: Store, project: str, settings: Values, session: Session | None = None
) -> dict[str, Any]:
    """Returns the content of the file; times are milliseconds since 1970, 0 = never. session: None
    = the one that was enforced last."""
    session = session or enforcements.latest(store, project)
    enforcement = enforcements.load(store, session)
    is_on = bool(enforcements.enforced_since(store, project)) and settings["enforce.enabled"]
    return {
        "iteration": enforcement.iteration,
        "lastActivity": int(session.seen_at * 1000),
        "lastEnforcement": int(enforcement.at * 1000),
        "failureCount": enforcement.failures,
        "stopRequested": enforcement.is_stopped,
        "status": status(enforcement, settings, time.time()) if is_on else OFF,
    }


def in_short(enforcement: Enforcement, settings: Values, now: float) -> str:
    """Returns the status of a session for a status line."""
    return f"enforce {_SHORT[status(enforcement, settings, now)]}"


def status(enforcement: Enforcement, settings: Values, now: float) -> str:
    """Returns the status of a session where enforcement is on."""
    if enforcement.is_stopped:
        return STOPPED
    if gates.is_exhausted(enforcement, settings):
        return EXHAUSTED
    if gates.has_too_many_failures(gates.recovered(enforcement, now, settings), settings):
        return RECOVERING
    return CONTINUOUS
