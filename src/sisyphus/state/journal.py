"""What each hook decided and why: one JSON line a hook, in `logs/journal-SESSION.jsonl`."""

from __future__ import annotations

import os

from sisyphus.paths import our_home
from sisyphus.state.files import append_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus._types import Json


def journal_path(session: str) -> str:
    return os.path.join(our_home(), "logs", f"journal-{session}.jsonl")


def append(session: str, entry: Json) -> None:
    """`entry`: at (epoch seconds), event, agent, ms, sent (UTF-16 units), blocked, notes; texts,
    where some were sent ("rules .claude/rules/a.md": kind and file); silent, where another wiring
    answers; of a session's start also project, client, source and, of a fresh-context run, run (its
    id)."""
    append_line(journal_path(session), entry)
