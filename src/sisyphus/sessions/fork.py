"""What a forked session takes over from its parent: the texts it has, and those that still wait.

No payload names the parent. The transcript of one client does; another copies the parent's messages
into the fork. So there, the parent is the last used session of this project whose transcript starts
with the same message.
"""

from __future__ import annotations

from sisyphus import clients
from sisyphus.sessions import sessions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus.hook.hook import Hook

_CANDIDATES = 50
"""The most sessions that are compared. A parent is among the last that were used."""


def find_parent(hook: Hook) -> int | None:
    """Returns the number of the parent's row; 0 if it is unknown, None if it is too early to
    tell."""
    transcript = clients.transcript(hook.event.client)
    if named := transcript.parent(hook.event.transcript):
        return sessions.find(hook.store, named)
    own = transcript.first_id(hook.event.transcript)
    if not own:
        return None
    rows = hook.store.all(
        "SELECT n, transcript FROM session WHERE client = ? AND project = ? AND agent = '' "
        "AND transcript <> '' AND n <> ? ORDER BY seen_at DESC LIMIT ?",
        hook.event.client, hook.project, hook.standing.session, _CANDIDATES,
    )  # fmt: skip
    return next((n for n, path in rows if transcript.first_id(path) == own), 0)


def inherit(hook: Hook, parent: int) -> None:
    """Copies the parent's ledger up to the fork, and its queue."""
    hook.store.run("UPDATE session SET fork = ? WHERE n = ?", sessions.KNOWN_FORK, hook.session)
    hook.store.run(
        "INSERT OR IGNORE INTO sent SELECT ?, hash, kind, path, at FROM sent WHERE session = ? "
        "AND at <= (SELECT started_at FROM session WHERE n = ?)",
        hook.session, parent, hook.session,
    )  # fmt: skip
    hook.store.run(
        "INSERT OR IGNORE INTO waiting SELECT ?, seq, kind, path, hash, frame, part, text "
        "FROM waiting WHERE session = ? AND kind <> 'answer'",
        hook.session, parent,
    )  # fmt: skip
