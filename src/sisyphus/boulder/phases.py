"""Reads the phases of a `task_plan.md` of planning-with-files that has no boxes.

A phase is a heading, and its status stands behind it or in a line below it.
"""

import re

from sisyphus.ground import markdown
from sisyphus.ground.markdown import Kind
from sisyphus.ground.record import Record, replace

WORDS = ("pending", "in_progress", "complete", "completed", "done", "blocked")
"""What a status says."""

_PHASE = re.compile(
    rf"#{{2,4}}\s+((?:Phase\s|阶段)\s*\S.*?)(?:\s*\(({'|'.join(WORDS)})\))?\s*$", re.IGNORECASE
)
_STATUS = re.compile(r"\*\*Status(?:\*\*:|:\*\*)\s*(\w+)", re.IGNORECASE)


class Phase(Record):
    """word: its status in lower case, which may be none of `WORDS`; "" = it has none."""

    title: str
    word: str
    line: int


def read(text: str) -> list[Phase]:
    """Returns the phases of a document."""
    found: list[Phase] = []
    is_in_phase = False
    for line in markdown.lines(text):
        if line.kind is Kind.HEADING:
            phase = _PHASE.match(line.content)
            is_in_phase = phase is not None
            if phase:
                found.append(Phase(phase[1], (phase[2] or "").lower(), line.number))
        elif is_in_phase and line.is_prose and (status := _STATUS.match(line.content)):
            found[-1] = replace(found[-1], word=status[1].lower())
    return found
