"""What tools were called with, and what they did, in our own words. Pure.

The calls of all clients come in the words of Claude Code's tools (2.1.329), or are brought to them.
"""

from __future__ import annotations

import re

from sisyphus.clients.base import as_list, as_object, as_text
from sisyphus.clients.claude_code import FAILURE, tool_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from sisyphus._types import Json
    from sisyphus.transcript import Call, Result

# --- skills and todos -------------------------------------------------------------------------

LISTED, CREATED, UPDATED, REMOVED = "listed", "created", "updated", "removed"


class TodoChange:
    """What a call made of the model's todo list, by its `kind`: `todos` ({"content", "status"})
    stand in its place, or the todo `id` was created, updated or removed. Values are as the model
    gave them, None where it gave none."""

    __slots__ = ("content", "id", "kind", "status", "todos")

    def __init__(
        self,
        kind: str,
        *,
        todos: list[object] | None = None,
        id: object = None,  # noqa: A002  # it is called so
        content: object = None,
        status: object = None,
    ) -> None:
        self.kind = kind
        self.todos = todos or []
        self.id = id
        self.content = content
        self.status = status


def skill(given: Json) -> tuple[str, str]:
    """Name and arguments of a skill that was called."""
    return as_text(given.get("skill")), as_text(given.get("args"))


def todo_change(tool: str, given: Json, answer: Json) -> TodoChange | None:
    """None where the call changed nothing."""
    if tool == "TodoWrite":
        todos = given.get("todos")
        return TodoChange(LISTED, todos=todos) if isinstance(todos, list) else None
    content = given.get("subject")
    if tool == "TaskCreate":
        return TodoChange(CREATED, id=as_object(answer.get("task")).get("id"), content=content)
    if tool != "TaskUpdate" or answer.get("success") is False:
        return None
    name, status = given.get("taskId"), given.get("status")
    kind = REMOVED if status == "deleted" else UPDATED
    return TodoChange(kind, id=name, content=content, status=status)


# --- edits ------------------------------------------------------------------------------------

_HUNKS = 200
_LINES = 10**9


class Change:
    """`removed` lines from line `old` on became `added` lines from line `new` on."""

    __slots__ = ("added", "new", "old", "removed")

    def __init__(self, old: int, new: int) -> None:
        self.old = old
        self.new = new
        self.removed = 0
        self.added = 0


class Edit:
    """An edit of the file at `path`: it was written whole (`content`), or by a patch (`changes`);
    where neither is told, lines `start` to `end` are another text now, 0 and 0 = nobody knows
    which."""

    __slots__ = ("changes", "content", "end", "path", "start")

    def __init__(self, path: str) -> None:
        self.path = path
        self.content: str | None = None
        self.changes: list[Change] | None = None
        self.start = self.end = 0


def edit(call: Call, noted: Json) -> Edit | None:
    """What a call did that succeeded, `noted` of its result; None where it names no file."""
    given, path = call.input, call.path or tool_path({"file_path": noted.get("filePath")})
    if not path:
        return None
    found, patch = Edit(path), noted.get("structuredPatch")
    # Of a file that was written the client may tell nothing of what it was before.
    is_whole = isinstance(given.get("content"), str) and "structuredPatch" not in noted
    if noted.get("type") == "create" or is_whole:
        found.content = str(given.get("content") or noted.get("content") or "")
    elif isinstance(patch, list):
        found.changes = changes(patch)
    else:
        found.start, found.end = _replaced(given, noted)
    return found


def changes(patch: object) -> list[Change]:
    """The changes in a patch, without the lines around them that it holds for context."""
    return [change for hunk in as_list(patch)[:_HUNKS] for change in _of_hunk(hunk)]


def _of_hunk(hunk: object) -> Iterator[Change]:
    if not isinstance(hunk, dict) or not isinstance(hunk.get("lines"), list):
        return
    old, new = _line(hunk.get("oldStart")), _line(hunk.get("newStart"))
    open_change: Change | None = None
    for line in hunk["lines"]:
        sign = line[:1] if isinstance(line, str) else "\\"
        if sign in ("+", "-"):
            open_change = open_change or Change(old, new)
            open_change.added += sign == "+"
            open_change.removed += sign == "-"
        elif sign != "\\" and open_change:
            yield open_change
            open_change = None
        old += sign not in ("+", "\\")
        new += sign not in ("-", "\\")
    if open_change:
        yield open_change


def _line(value: object) -> int:
    return value if type(value) is int and 0 < value < _LINES else 1


def _replaced(given: Json, noted: Json) -> tuple[int, int]:
    """Where the old text stood, if that is told."""
    before, old = noted.get("originalFile"), given.get("old_string")
    new = given.get("new_string")
    if not (isinstance(before, str) and isinstance(old, str) and isinstance(new, str)):
        return 0, 0
    at = before.find(old)
    if at < 0 or not old:
        return 0, 0
    start = before.count("\n", 0, at) + 1
    return start, start + max(len(new.splitlines()), 1) - 1


# --- commands ---------------------------------------------------------------------------------

_NOT_RUN = (
    FAILURE, "The user doesn't want", "Permission to use", "[Request interrupted",
    "This command requires approval", "Claude requested permissions", "PreToolUse:",
)  # fmt: skip
"""How errors begin that the client gives in the place of a command."""


def command(call: Call) -> str:
    """The command line that a shell was given."""
    return as_text(call.input.get("command"))


def was_interrupted(result: Result) -> bool:
    return result.answer.get("interrupted") is True


def is_in_background(result: Result) -> bool:
    """Whether the command goes on to run; `ended_behind` tells its end."""
    return bool(result.answer.get("backgroundTaskId"))


def printed(result: Result) -> str:
    told = [as_text(result.answer.get(name)).rstrip() for name in ("stdout", "stderr")]
    return "\n".join(filter(None, told)) if any(told) else result.text


def was_run(error: str) -> bool:
    """Whether a command that failed with these words was run at all."""
    return not error.startswith(_NOT_RUN)


def ended_behind(text: str) -> tuple[str, int] | None:
    """The call whose command has ended in the background by this message of the client's, and its
    exit code."""
    told = re.search(r"<tool-use-id>([^<]{1,200})</tool-use-id>", text)
    code = re.search(r"\(exit code ([0-9]+)\)|with exit code ([0-9]+)", text)
    return (told[1], int(code[1] or code[2])) if told and code else None


def error_words(text: str) -> str:
    """What a tool complained of, without the client's frame."""
    return text.removeprefix(FAILURE).removesuffix(FAILURE.replace("<", "</"))
