"""What the next session is given of a checkpoint. Pure.

An entry may come from a file that anybody can write, so no field is trusted to have its type.
"""

from __future__ import annotations

from sisyphus.checkpoint.paper.facts import current_item, progress_on_item, summary, task
from sisyphus.checkpoint.paper.in_progress import FILES, files_in_progress
from sisyphus.checkpoint.paper.marks import cell, code, table, text
from sisyphus.checkpoint.paper.next_step import next_step
from sisyphus.checkpoint.paper.situation import (
    BY_ASKING,
    BY_BREAKER,
    BY_COMPACTION,
    BY_CUT,
    BY_LEVEL,
)
from sisyphus.times import iso

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from sisyphus._types import Checkpoint, FileInProgress
    from sisyphus.checkpoint.paper.situation import Situation

CHARACTERS = 3_500
HEADING = "## CONTEXT CHECKPOINT RESUME"

_SUMMARY, _LINE, _PATH = 500, 240, 160
_LEVEL = 20
_NO_PERCENT = 1_000
_DIGITS = 9


def checkpoint(s: Situation, handoff_file: str) -> Checkpoint:
    """The entry of a handoff that was just written and that nobody was given yet."""
    found: Checkpoint = {
        "active": True,
        "level": s.level if s.occasion == BY_LEVEL else "",
        "timestamp": iso(s.now),
        "handoff_file": handoff_file,
        "resume_summary": summary(s),
        "files_in_progress": files_in_progress(s),
        "current_todo_item": current_item(s),
        "progress_on_item": progress_on_item(s),
        "occasion": s.occasion,
        "session_id": s.session_id,
        "next_step": next_step(s),
        "task": task(s),
    }
    if s.percent is not None:
        found["percent_at_checkpoint"] = s.percent
    loop = s.loop or {}
    if isinstance(loop.get("loop_id"), str):
        found["loop_id"] = loop["loop_id"]
    if type(loop.get("iteration")) is int:
        found["iteration"] = loop["iteration"]
    return found


def block(entry: Checkpoint) -> str:
    """The text that goes on behind the checkpoint, in at most `CHARACTERS`."""
    found = ""
    for most in range(FILES, -1, -1):
        found = "\n\n".join(filter(None, _parts(entry, _files(entry)[:most])))
        if len(found) <= CHARACTERS:
            break
    return found


def _parts(entry: Checkpoint, files: list[FileInProgress]) -> Iterator[str]:
    yield HEADING
    yield "\n".join(f"> {line}" for line in _occasion(entry))
    yield "### What Was In Progress"
    yield _in_progress(entry)
    if files:
        yield "### Files To Resume"
        yield table(("File", "Lines", "Status"), [_row(file) for file in files])
    if file := code(_text(entry, "handoff_file"), _LINE):
        yield "### Handoff Document"
        yield f"Read {file} for full context."
    yield "### Resume Instructions"
    yield "\n".join(f"{n}. {line}" for n, line in enumerate(_instructions(entry, files), 1))


def _occasion(entry: Checkpoint) -> Iterator[str]:
    yield "⚠️ This session resumes from a context checkpoint."
    percent = entry.get("percent_at_checkpoint")
    full = f"{percent}%" if type(percent) is int and 0 < percent < _NO_PERCENT else ""
    level, occasion = text(_text(entry, "level"), _LEVEL), _text(entry, "occasion")
    if occasion == BY_BREAKER:
        yield "The session before it made no more progress, and the circuit breaker stopped it."
    elif occasion == BY_COMPACTION:
        yield f"The context was compacted{f' at {full}' if full else ''}."
    elif occasion == BY_CUT:
        yield "The session before it was cut short: it was killed, interrupted, or out of time."
    elif full and occasion != BY_ASKING:
        threshold = f" ({level} threshold)" if level else ""
        yield f"The session before it reached {full} of its context{threshold}."
    else:
        yield f"The checkpoint was asked for{f' at {full} of the context' if full else ''}."


def _in_progress(entry: Checkpoint) -> str:
    task, item = _text(entry, "task"), _text(entry, "current_todo_item")
    rows = (
        ("Task", task),
        ("Item", item if item != task else ""),
        ("Progress on it", _text(entry, "progress_on_item")),
    )
    listed = "\n".join(f"- **{name}**: {text(said, _LINE)}" for name, said in rows if said.strip())
    parts = text(_text(entry, "resume_summary"), _SUMMARY), listed
    return "\n\n".join(filter(None, parts)) or "The handoff document tells it."


def _row(file: FileInProgress) -> tuple[str, str, str]:
    said = cell(file["description"], _PATH)
    return (
        cell(file["path"], _PATH),
        cell(file["lines"], _PATH // 2) or "whole file",
        f"in progress: {said}" if said else "in progress",
    )


def _instructions(entry: Checkpoint, files: list[FileInProgress]) -> Iterator[str]:
    yield "**DO NOT restart the task from scratch**"
    if _text(entry, "handoff_file"):
        yield "Read the handoff document first"
    if files:
        yield f"Continue {_place(files[0])}{code(files[0]['path'], _PATH)}"
    if step := text(_text(entry, "next_step"), _LINE):
        yield f"Next step: {step}"
    aside = ", except the files to resume" if files else ""
    yield f"Do not read again what the handoff tells enough about{aside}"


def _files(entry: Checkpoint) -> list[FileInProgress]:
    found: object = entry.get("files_in_progress")
    rows = found if isinstance(found, list) else []
    return [_file(row) for row in rows[:FILES] if isinstance(row, dict) and _text(row, "path")]


def _place(file: FileInProgress) -> str:
    """`at line 45 of `: where the last edit is, else where the first lines are."""
    line = file.get("line", 0) or _first_number(file["lines"])
    return f"at line {line} of " if line else "in "


def _first_number(lines: str) -> int:
    digits = lines.replace(",", "-").split("-")[0].strip()
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) <= _DIGITS else 0


def _file(row: Mapping[str, object]) -> FileInProgress:
    line = row.get("line")
    return {
        "path": _text(row, "path"),
        "lines": _text(row, "lines"),
        "description": _text(row, "description"),
        "line": line if type(line) is int and 0 < line < 10**_DIGITS else 0,
    }


def _text(found: Mapping[str, object], field: str) -> str:
    value = found.get(field)
    return value if isinstance(value, str) else ""
