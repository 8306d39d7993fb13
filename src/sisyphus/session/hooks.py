"""What a session's start and end mean: what its model holds, and which process it is in."""

from __future__ import annotations

from sisyphus.clients import client_named
from sisyphus.clients.base import Outcome
from sisyphus.memory import SET_ASIDE, Removal
from sisyphus.session import client_process, store
from sisyphus.workspace import run_id

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus.clients.base import Payload
    from sisyphus.memory import Value
    from sisyphus.session.store import Session
    from sisyphus.workspace import Workspace

FEATURES = ("boulder", "ralph", "checkpoint", "enforce", "rules", "context")
"""Those that a setting, `enabled`, switches off."""

_ONE_START_SECONDS = 10
"""The client gives up on a hook after so long: what comes later is another start."""


def on_session_start(payload: Payload, space: Workspace) -> Outcome | None:
    """Startup, clear and compact leave the model an empty context; a fork has its parent's."""
    if not payload.is_known:
        return None
    session = store.load_of(space.memory, payload)
    forgets = payload.is_fresh and not _has_just_forgotten(session, payload, space)
    values: dict[str, Value] = {
        "project": space.root, "source": payload.source, "ended_at": None, "run": run_id() or None,
    }  # fmt: skip
    if session.began_at is None:
        values["began_at"] = space.now
    if payload.source == "fork" and session.forked_at is None:
        values["forked_at"] = space.now
    if forgets:
        values |= {"forgot_at": space.now, "forgot_for": payload.source}
        if session.misses_parents:
            values["parents"] = "[]"  # nothing is left to inherit
    if _is_processes_own(payload):
        is_cleared = payload.source == "clear"
        values |= client_process.taken_up(session, space.now, is_cleared=is_cleared)
    begins = store.Beginning(session, space.scope, space.now, values, forgets=forgets)
    outcome = Outcome(changes=[begins], notes=_switched_off(space))
    if kept := space.memory.row("SELECT value FROM note WHERE name = ?", SET_ASIDE):
        outcome.messages.append(
            "sisyphus could not read its memory and has begun a new one. What the old one held is "
            f"kept: {kept[0]}"
        )
        outcome.changes.append(Removal("note", {"name": SET_ASIDE}))
    return outcome


def on_session_end(payload: Payload, space: Workspace) -> Outcome | None:
    """The client process leaves the session, unless it goes on with another one. A session that
    another process has taken up meanwhile goes on there."""
    if not payload.is_known or payload.is_subagent:
        return None
    session = store.load_of(space.memory, payload)
    values: dict[str, Value] = {"ended_at": space.now}
    if _is_processes_own(payload):
        if session.in_process and session.pid != client_process.client_pid():
            return None
        if payload.reason not in client_process.CONTINUES:
            values["in_process"] = 0
    return Outcome(changes=[session.change(**values)])


def _switched_off(space: Workspace) -> list[str]:
    """For `why`: what is silent all session long, and why."""
    off = [name for name in FEATURES if not space.settings.get(f"{name}.enabled")]
    return [f"switched off by a setting: {', '.join(off)}"] if off else []


def _is_processes_own(payload: Payload) -> bool:
    """Another client's hooks may run below a process of this one, and are none of its sessions."""
    return client_named(payload.client).HAS_PROCESS and not payload.agent


def _has_just_forgotten(session: Session, payload: Payload, space: Workspace) -> bool:
    """Where we are wired twice, one start of the session comes twice, some moments apart."""
    at = session.forgot_at
    is_recent = at is not None and abs(space.now - at) < _ONE_START_SECONDS
    return is_recent and session.forgot_for == payload.source
