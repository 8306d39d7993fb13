from __future__ import annotations

import json
from typing import TYPE_CHECKING

from making import ours

from sisyphus.state import journal

if TYPE_CHECKING:
    from pathlib import Path


def test_a_session_has_its_own_journal(home: Path) -> None:
    journal.append("s1", {"event": "stop", "notes": ["a"]})
    journal.append("s2", {"event": "stop", "notes": []})
    journal.append("s1", {"event": "session-end", "notes": ["b\nc"]})
    lines = ours(home, "logs/journal-s1.jsonl").read_text().splitlines()
    assert [json.loads(line)["event"] for line in lines] == ["stop", "session-end"]


def test_the_journal_lies_below_our_folder(home: Path) -> None:
    assert journal.journal_path("s1") == str(ours(home, "logs/journal-s1.jsonl"))
