"""What a forked session takes over from its parent: the texts it has, and those that still wait.

No payload names the parent. The transcript of one client does; another copies the parent's messages
into the fork. So there, the parent is the last used session of this project whose transcript starts
with the same message.
"""

from __future__ import annotations

from sisyphus import clients
from sisyphus.hook.session import KNOWN_FORK, Session
from sisyphus.sessions import sessions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus.hook.hook import Hook

_CANDIDATES = 50
"""The most sessions that are compared. A parent is among the last that were used."""


def find_parent(hook: Hook) -> Session | None:
    """Returns the parent; one that is not in the store if it is unknown, None if it is too early to
    tell."""
    transcript = clients.transcript(hook.event.client)
    if named := transcript.parent(hook.event.transcript):
        return Session.find(hook.store, named)
    own = transcript.first_id(hook.event.transcript)
    if not own:
        return None
    others = sessions.with_transcripts(hook.store, hook.session.client, hook.project, _CANDIDATES)
    same = (each for each in others if transcript.first_id(each.transcript) == own)
    return next((each for each in same if each.n != hook.session.n), Session())


def inherit(hook: Hook, parent: Session) -> None:
    """Copies the parent's ledger up to the fork, and its queue."""
    session = hook.session
    session.fork = KNOWN_FORK
    hook.store.run(
        "INSERT OR IGNORE INTO sent SELECT ?, hash, kind, path, at FROM sent WHERE session = ? "
        "AND at <= ?",
        session.n, parent.n, session.started_at,
    )  # fmt: skip
    hook.store.run(
        "INSERT OR IGNORE INTO waiting SELECT ?, seq, kind, path, hash, frame, part, text "
        "FROM waiting WHERE session = ? AND kind <> 'answer'",
        session.n, parent.n,
    )  # fmt: skip
