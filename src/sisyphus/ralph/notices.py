"""What a command line did to a session: told by `why`, and to the user at its next Stop."""

from __future__ import annotations

from sisyphus.session import client


def who() -> str:
    """The model's shell and the user's own `!` look alike to us."""
    return "a command in the client's shell" if client.is_inside_client() else "the user"


def note(session: str, text: str, now: float) -> None:
    """For `why`."""
    from sisyphus.state import debug, journal

    line = {"at": now, "event": "command", "ms": 0, "sent": 0, "blocked": False, "notes": [text]}
    try:
        journal.append(session, line)
    except OSError as error:  # what is done counts, not that it is told
        debug.log(f"{text}, and not noted: {error}")


def tell(ours: str, session: str, head: str, text: str, now: float) -> None:
    """Both, where nothing else changes in the session's loops."""
    from sisyphus.ralph import store

    note(session, text, now)
    with store.LoopStore(ours, session) as held:
        held.memory.news.append(f"[{head}]\n\n{text}")
        held.save_memory()
