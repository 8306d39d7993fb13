"""OpenCode's tools in Claude Code's words, so that one set of features serves both. Pure.

Shapes are those of OpenCode 1.18.33: names in lower case, `filePath`, diffs as text in `metadata`.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from sisyphus._types import Json

PATCH = "apply_patch"
"""What models are given that know no `edit`: one text that changes several files."""

_TODOS, _CANCELLED = "todowrite", "cancelled"
_NAMES = {
    "bash": "Bash",
    "edit": "Edit",
    "glob": "Glob",
    "grep": "Grep",
    "list": "LS",
    "multiedit": "MultiEdit",
    "patch": "Edit",
    PATCH: "Edit",
    "question": "AskUserQuestion",
    "read": "Read",
    "task": "Task",
    _TODOS: "TodoWrite",
    "webfetch": "WebFetch",
    "websearch": "WebSearch",
    "write": "Write",
}
_KEYS = {
    "filePath": "file_path",
    "newString": "new_string",
    "oldString": "old_string",
    "replaceAll": "replace_all",
}
_SIGNS = (" ", "+", "-", "\\")
_PATCHED = ("*** Update File: ", "*** Add File: ", "*** Delete File: ")


def name(tool: str) -> str:
    """A tool that Claude Code has not keeps its own name."""
    return _NAMES.get(tool, tool)


def given(tool: str, args: Json, cwd: str) -> Json:
    """What a tool was called with; a path is a full one, as it is in Claude Code."""
    found = {_KEYS.get(key, key): value for key, value in args.items()}
    path = patched(args.get("patchText")) if tool in ("patch", PATCH) else found.get("file_path")
    if path and isinstance(path, str):
        found["file_path"] = os.path.join(cwd, path)
    if tool == _TODOS:
        found["todos"] = _standing(args.get("todos"))
    return found


def patched(text: object) -> str:
    """The first file that a patch names, "" where it names none."""
    for line in text.split("\n") if isinstance(text, str) else ():
        for mark in _PATCHED:
            if line.startswith(mark):
                return line[len(mark) :].strip()
    return ""


def _standing(todos: object) -> object:
    """A todo of Claude Code's is never cancelled: it is taken out of the list."""
    if not isinstance(todos, list):
        return todos
    return [one for one in todos if not isinstance(one, dict) or one.get("status") != _CANCELLED]


def answer(tool: str, args: Json, output: str, metadata: Json) -> Json:
    """What the tool did, as Claude Code notes it beside the text for the model."""
    if tool == "bash":
        return {"stdout": output, "stderr": "", "interrupted": False}
    if tool == _TODOS:
        return {"newTodos": _standing(metadata.get("todos"))}
    diff = _diff(metadata)
    if diff:
        return {"filePath": args.get("filePath"), "structuredPatch": list(hunks(diff))}
    return {}


def failure(tool: str, metadata: Json) -> str:
    """How a command that ran has failed, as Claude Code begins such a result; "" = it has not."""
    code = metadata.get("exit")
    return f"Exit code {code}" if tool == "bash" and type(code) is int and code else ""


def hunks(diff: str) -> Iterator[Json]:
    """The hunks of a unified diff, up to where it begins to tell of another file."""
    hunk: Json | None = None
    for line in diff.split("\n"):
        if line.startswith("@@ "):
            if hunk:
                yield hunk
            old, new = _starts(line)
            hunk = {"oldStart": old, "newStart": new, "lines": []}
        elif hunk and line.startswith(_SIGNS):
            hunk["lines"].append(line)
        elif hunk and line:
            break
    if hunk:
        yield hunk


def _starts(line: str) -> tuple[int, int]:
    """`@@ -1,2 +3,4 @@` -> 1, 3."""
    found = [word[1:].partition(",")[0] for word in line.split()[1:3]]
    numbers = [int(n) if n.isascii() and n.isdigit() and len(n) < 10 else 1 for n in found]  # noqa: PLR2004
    old, new = [*numbers, 1, 1][:2]
    return old, new


def _diff(metadata: Json) -> str:
    """What has changed in the file, or in the first one of several."""
    files = metadata.get("files")
    first = files[0] if isinstance(files, list) and files else None
    for told in (metadata.get("filediff"), first):
        patch = told.get("patch") if isinstance(told, dict) else None
        if patch and isinstance(patch, str):
            return patch
    whole = metadata.get("diff")
    return whole if isinstance(whole, str) else ""
