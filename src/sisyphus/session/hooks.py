"""What a session start means for what the model holds."""

from __future__ import annotations

from sisyphus.session.store import SessionStore

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus.contract import Outcome, Payload
    from sisyphus.workspace import Workspace

_ONE_START_SECONDS = 2


def on_session_start(payload: Payload, space: Workspace) -> Outcome | None:
    """Startup, clear and compact leave the model an empty context; a fork has its parent's."""
    if not payload.key:
        return None
    with SessionStore(space.ours, payload.key) as session:
        if payload.source == "fork" and "forked_at" not in session.state:
            session.set(forked_at=space.now)
        elif payload.is_fresh and not _has_just_forgotten(session, payload, space):
            session.forget()
            session.set(forgot_at=space.now, forgot_for=payload.source)
        session.save()
    return None


def _has_just_forgotten(session: SessionStore, payload: Payload, space: Workspace) -> bool:
    """Where we are wired twice, one start of the session comes twice, some moments apart."""
    at = session.state.get("forgot_at")
    is_recent = isinstance(at, float) and abs(space.now - at) < _ONE_START_SECONDS
    return is_recent and session.state.get("forgot_for") == payload.source
