"""What changed on disk, told by topics. Pure.

A topic is what a part of a page is about, e.g. `loops`.
"""

from __future__ import annotations

import os
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

LOOPS, HISTORY, TRANSCRIPTS, JOURNAL = "loops", "history", "transcripts", "journal"
BOULDERS, ENFORCEMENT, CONTEXT, RULES = "boulders", "enforcement", "context", "rules"
TIME = "time"
"""Of what no file tells: ages, and whether clients live."""

TOPICS = (LOOPS, HISTORY, TRANSCRIPTS, JOURNAL, BOULDERS, ENFORCEMENT, CONTEXT, RULES, TIME)

_FOLDERS = {
    ("ralph", "loops"): LOOPS,
    ("ralph", "checklists"): LOOPS,
    ("ralph", "runs"): LOOPS,
    ("ralph", "transcripts"): TRANSCRIPTS,
    ("checkpoint",): CONTEXT,
    ("rules-injector",): RULES,
    ("context-injector",): RULES,
}
_OF_A_PROJECT = {"handoffs": CONTEXT, "enforce": ENFORCEMENT, "enforcements": ENFORCEMENT}
_PASSING = (".lock", ".tmp")


def topic_of(path: str, ours: str) -> str:
    """The topic of a file below `ours`; "" for one that no page shows."""
    parts = tuple(os.path.relpath(path, ours).split(os.sep))
    name = parts[-1]
    if name.endswith(_PASSING) or parts[0] == os.pardir:
        return ""
    if name.startswith("sisyphus.db"):
        return JOURNAL
    if parts[0] == "logs":
        return _of_log(name)
    if parts[0] == "projects":
        return _OF_A_PROJECT.get("".join(parts[2:3]).partition(".")[0], BOULDERS)
    return _FOLDERS.get(parts[:2], _FOLDERS.get(parts[:1], ""))


def _of_log(name: str) -> str:
    return HISTORY if name.startswith("sessions.") else ""


class Changes:
    """How often each topic changed. `are_seen`: whether somebody watches the files; if not, nothing
    that was read before may be taken for what is there now."""

    def __init__(self) -> None:
        self.are_seen = False
        self._counts: Counter[str] = Counter()

    def note(self, topics: Iterable[str]) -> None:
        self._counts.update(topics)

    @property
    def total(self) -> int:
        return self._counts.total()

    def count(self, *topics: str) -> tuple[int, ...]:
        return tuple(self._counts[topic] for topic in topics)
