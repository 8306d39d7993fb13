"""Sessions whose contexts fill up, as transcripts and journals tell of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from checkpoint.desk import NOW, SMALL, Desk
from checkpoint.size.test_points import boundary, told
from making import journal
from ralph.lines import add, prompt

from sisyphus.checkpoint import handoffs
from sisyphus.times import iso

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

    from sisyphus._types import Checkpoint

__all__ = ["NOW", "SMALL", "Sessions"]


class Sessions:
    """Of a model with a window of 200,000 tokens, in `project`."""

    def __init__(self, home: Path, project: Path) -> None:
        self.home = home
        self.project = project
        self.ours = str(home / ".claude" / ".sisyphus")
        self._desk = Desk(home, project)

    def transcript(self, session: str = "s1") -> Path:
        return self._desk.transcript(session)

    def seen(self, session: str = "s1", at: float = NOW, **fields: object) -> None:
        """A hook of it ran."""
        entry = {"at": at, "event": "stop", "client": "claude", "project": str(self.project)}
        journal(session, {**entry, **fields})

    def fill(self, *percents: float, session: str = "s1", at: float = NOW) -> None:
        """An answer a minute; a fall is a compaction."""
        for number, percent in enumerate(percents):
            if number and percent < percents[number - 1]:
                add(self.transcript(session), boundary(timestamp=iso(at + 60 * number - 30)))
            answer = told(
                round(SMALL * percent / 100), f"{session}-{number}", at=at + 60 * number, calls=1
            )
            add(self.transcript(session), answer)

    def ask(self, session: str = "s1") -> None:
        """The user asked for something that is not answered yet."""
        add(self.transcript(session), prompt("do it"))

    def hand_over(self, session: str = "s1", **fields: Any) -> Checkpoint:
        """Notes a handoff, whose file is not written."""
        entry: Checkpoint = {
            "active": True,
            "session_id": session,
            "handoff_file": ".claude/handoffs/a.md",
            "timestamp": iso(NOW),
            "level": "L2",
            "percent_at_checkpoint": 86,
            "next_step": "Write the tests",
        }
        entry.update(fields)  # type: ignore[typeddict-item]  # a test names the fields it is about
        handoffs.add(self.ours, str(self.project), entry)
        return entry
