"""The texts of sisyphus that scenarios look for in what the model received."""

from __future__ import annotations

ENABLED = "Boulder state tracking enabled for this plan"
RULES = "The following rules apply to this file:"
DOCUMENTS = "The following project documentation is available:"
GO_ON = """\
[RALPH LOOP ENFORCEMENT]

The completion promise was not output. The loop must continue.

Expected promise: <promise>DONE</promise>

Continue working on the task. Output the promise only when the task is TRULY complete."""
COMPLETE = """\
[RALPH LOOP COMPLETE]

Completion promise detected: <promise>DONE</promise>
Ralph loop has ended."""


def continuation(plan: str, progress: str, place: str = ".claude/PLAN.md") -> str:
    return f"""\
[BOULDER STATE DETECTED]

Active plan: {plan}
Progress: {progress} tasks complete
Plan location: {place}

Continuing from where you left off."""
