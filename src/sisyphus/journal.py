"""What each hook decided and why: the memory's `event` rows, asked and written outside of hooks."""

from __future__ import annotations

import _sqlite3
import json

from sisyphus.errors import SisyphusError
from sisyphus.memory import open_memory
from sisyphus.state import debug


def note(ours: str, session: str, text: str, now: float) -> None:
    """Adds a line about what a command did to a session, if the session is known."""
    memory = open_memory(ours)
    row = memory.row("SELECT n FROM session WHERE id = ? AND agent = ''", session)
    if row is None:
        return
    try:
        memory.write(
            "INSERT INTO event (session, at, event, ms, sent, blocked, is_silent, notes, texts) "
            "VALUES (?, ?, 'command', 0, 0, 0, 0, ?, '[]')",
            row[0], now, json.dumps([text]),
        )  # fmt: skip
    except (_sqlite3.Error, SisyphusError) as error:  # what is done counts, not that it is told
        debug.log(f"{text}, and not noted: {error}")


def knows(ours: str, session: str) -> bool:
    """Whether a hook of ours has seen this session."""
    query = "SELECT 1 FROM session WHERE id = ? AND agent = ''"
    return open_memory(ours).row(query, session) is not None
