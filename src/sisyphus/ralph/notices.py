"""What a command line did to a session: told by `why`, and to the user at its next Stop."""

from __future__ import annotations

import os

from sisyphus.session import client


def who(where: str = "") -> str:
    """The model's shell and the user's own `!` look alike to us. `where`: the place that the user
    did it at, as in "on the dashboard"; then it does not matter where this process runs."""
    if where:
        return f"the user {where}"
    return "a command in the client's shell" if client.is_inside_client() else "the user"


def listens(ours: str, session: str) -> bool:
    """Whether somebody may hear of it there: a session that is over, or whose journal was removed,
    is told nothing, unless a loop waits for whoever comes back to it."""
    from sisyphus.ralph import store
    from sisyphus.session import binding

    if store.has_loop(ours, session):
        return True
    return _has_journal(session) and binding.is_held(ours, session) is not False


def note(session: str, text: str, now: float) -> None:
    """For `why`, of a session that it knows."""
    from sisyphus.state import debug, journal

    if not _has_journal(session):
        return
    line = {"at": now, "event": "command", "ms": 0, "sent": 0, "blocked": False, "notes": [text]}
    try:
        journal.append(session, line)
    except OSError as error:  # what is done counts, not that it is told
        debug.log(f"{text}, and not noted: {error}")


def _has_journal(session: str) -> bool:
    from sisyphus.state.journal import journal_path

    return os.path.lexists(journal_path(session))


def tell(ours: str, session: str, head: str, text: str, now: float) -> None:
    """Both, where nothing else changes in the session's loops."""
    from sisyphus.ralph import store

    note(session, text, now)
    with store.LoopStore(ours, session) as held:
        held.memory.news.append(f"[{head}]\n\n{text}")
        held.save_memory()
