"""What a command line did to a session: told by `why`, and to the user at its next Stop."""

from __future__ import annotations

from sisyphus.memory import open_memory
from sisyphus.session import client_process
from sisyphus.session import store as session_store


def who(where: str = "") -> str:
    """The model's shell and the user's own `!` look alike to us. `where`: the place that the user
    did it at, as in "on the dashboard"; then it does not matter where this process runs."""
    if where:
        return f"the user {where}"
    return "a command in the client's shell" if client_process.is_inside_client() else "the user"


def listens(ours: str, session: str) -> bool:
    """Whether somebody may hear of it there: a session that is over, or whose journal was removed,
    is told nothing, unless a loop waits for whoever comes back to it."""
    from sisyphus.ralph import store

    if store.has_loop(ours, session):
        return True
    return (
        session_store.is_known(open_memory(ours), session)
        and client_process.is_held(ours, session) is not False
    )


def tell(ours: str, session: str, head: str, text: str, now: float) -> None:
    """Both, where nothing else changes in the session's loops."""
    from sisyphus.ralph import store

    session_store.note(open_memory(ours), session, text, now)
    with store.LoopStore(ours, session) as held:
        held.memory.news.append(f"[{head}]\n\n{text}")
        held.save_memory()
