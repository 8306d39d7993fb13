"""Files of a project that are no work on it."""

OWN_FILES = (
    ".claude/handoffs/",
    ".claude/ralph-state.json",
    ".claude/PROMPT.md",
    ".claude/progress.txt",
    ".claude/ralph-loop.local.md",
    "docs/kord/boulder.json",
)
"""Beginnings of names: state of ours and of other loops, with its locks and temporary files."""
