"""What a session start means for what the model holds, and which client process is in a session."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus.clients.base import Outcome, Payload
    from sisyphus.session.store import SessionStore
    from sisyphus.workspace import Workspace

FEATURES = ("boulder", "ralph", "checkpoint", "enforce", "rules", "context")
"""Those that a setting, `enabled`, switches off."""

_ONE_START_SECONDS = 2


def on_session_start(payload: Payload, space: Workspace) -> Outcome | None:
    """Startup, clear and compact leave the model an empty context; a fork has its parent's."""
    if not payload.key:
        return None
    from sisyphus.session import client
    from sisyphus.session.store import SessionStore

    with SessionStore(space.ours, payload.key) as session:
        if payload.source == "fork" and "forked_at" not in session.state:
            session.set(forked_at=space.now)
        elif payload.is_fresh and not _has_just_forgotten(session, payload, space):
            session.forget()
            session.set(forgot_at=space.now, forgot_for=payload.source)
        session.began(space.scope, space.now)
        pid = _take_up(session, payload, space)
        session.save()
    client.publish(space.ours, payload.session, pid)
    return _switched_off(space)


def _switched_off(space: Workspace) -> Outcome | None:
    """For `why`: what is silent all session long, and why."""
    off = [name for name in FEATURES if not space.settings.get(f"{name}.enabled")]
    if not off:
        return None
    from sisyphus.clients.base import Outcome

    return Outcome(notes=[f"switched off by a setting: {', '.join(off)}"])


def on_session_end(payload: Payload, space: Workspace) -> Outcome | None:
    """The client process leaves the session, unless it goes on with another one."""
    if not payload.session or not _is_clients_own(payload, space):
        return None
    from sisyphus.session import client

    if payload.reason not in client.CONTINUES:
        client.unbind(space.ours, payload.session)
    return None


def _take_up(session: SessionStore, payload: Payload, space: Workspace) -> int:
    """The pid of the client process that runs the session from now on; 0 = none is known."""
    from sisyphus.session import client

    if not _is_clients_own(payload, space):
        return 0
    is_cleared = payload.source == "clear"
    return client.take_up(session, space.ours, payload.session, space.now, is_cleared=is_cleared)


def _is_clients_own(payload: Payload, space: Workspace) -> bool:
    """Another client's hooks may run below a process of this one, and are none of its sessions."""
    return space.client == "claude" and not payload.agent


def _has_just_forgotten(session: SessionStore, payload: Payload, space: Workspace) -> bool:
    """Where we are wired twice, one start of the session comes twice, some moments apart."""
    at = session.state.get("forgot_at")
    is_recent = isinstance(at, float) and abs(space.now - at) < _ONE_START_SECONDS
    return is_recent and session.state.get("forgot_for") == payload.source
