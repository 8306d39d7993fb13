"""The facts of a handoff, section by section; each is "" where there is nothing to say. Pure."""

from __future__ import annotations

from sisyphus.checkpoint.paper import facts
from sisyphus.checkpoint.paper.in_progress import files_in_progress
from sisyphus.checkpoint.paper.marks import cell, code, fence, quote, table, text
from sisyphus.text import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from sisyphus.checkpoint.paper.situation import Situation
    from sisyphus.checkpoint.seen.shell import Command

_SAID = 1_200
_CELL = 160
_BOXES = {"completed": "x", "in_progress": "/", "cancelled": "-"}


def progress(s: Situation) -> str:
    """What was in progress, how far it is, and what the user asked for last."""
    rows = (
        ("Current item", facts.current_item(s)),
        ("Progress on it", facts.progress_on_item(s)),
        ("Done before", facts.done_before(s)),
        ("Last action", facts.last_action(s)),
        ("Last prompt", _last_prompt(s)),
        ("Last failing tool", s.work.failed_tool),
    )
    return "\n".join(f"- **{name}**: {text(said)}" for name, said in rows if said)


def said(s: Situation) -> str:
    words = s.work.said
    return quote(words if len(words) <= _SAID else f"… {words[-_SAID:]}") if words else ""


def todos(s: Situation, most: int) -> str:
    rows = [
        f"- [{_BOXES.get(str(todo.get('status')), ' ')}] {text(str(todo['content']), _CELL)}"
        for todo in facts.todos(s)
    ]
    return _some(rows, most)


def changed(s: Situation, most: int) -> str:
    return _some([f"- {code(path, _CELL)}" for path in s.changed], most)


def in_progress(s: Situation) -> str:
    rows = [
        (cell(file["path"]), file["lines"] or "whole file", cell(file["description"]))
        for file in files_in_progress(s)
    ]
    return table(("File", "Lines", "What stands there"), rows) if rows else ""


def failure(s: Situation) -> str:
    failed = s.work.failed
    if failed is None and not s.work.commands:
        return "No command was run."
    if failed is None:
        has_failed = any(not command.ok for command in s.work.commands)
        return "What failed succeeded afterwards." if has_failed else "No command failed."
    output = fence(failed.output) if failed.output.strip() else "It printed nothing."
    return f"{code(failed.command)}{_at(failed)}\n\n{output}"


def verified(s: Situation) -> str:
    rows = (
        f"- {code(check.command, _CELL)}: {_end(check)}{_last_line(check)}"
        for check in s.work.verified
    )
    return "\n".join(rows) or "Nothing was checked: no tests, linters, types or builds were run."


def _last_prompt(s: Situation) -> str:
    """ "" where it is the task, which is named above, or a run's own."""
    said = one_line(s.work.last_prompt, facts.CHARACTERS)
    return "" if s.item or said == facts.task(s) else said


def _at(failed: Command) -> str:
    return f" failed at {text(failed.at)}:" if failed.at else " failed:"


def _end(check: Command) -> str:
    if not check.is_sure:
        return "ended, but its exit code was hidden"
    return "passed" if check.ok else "failed"


def _last_line(check: Command) -> str:
    said = [line for line in check.output.splitlines() if line.strip()]
    return f" ({text(said[-1], _CELL)})" if said else ""


def _some(rows: Sequence[str], most: int) -> str:
    left = len(rows) - most
    more = [f"- and {left:,} more"] if left > 0 else []
    return "\n".join([*rows[:most], *more])
