"""What a tool call of Codex did, file by file. On the quick path.

The model reads files through the shell and edits them by patches, several at once. The client
parses the command and the patch itself, and notes in its rollout what it found: before our hook
runs, at every call that was measured.
"""

from __future__ import annotations

import os

from sisyphus.clients import patches, values
from sisyphus.clients.codex import rollout
from sisyphus.hook.event import EDIT, OTHER, READ, WRITE, ToolCall

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Json = dict[str, Any]

SHELL, PATCH = "Bash", "apply_patch"
COMMAND, CHANGE = "CommandExecution", "FileChange"
"""The types of the items that touch files."""

_ACTIONS = {"add": WRITE, "update": EDIT}
_SCHEME = "file://"


def calls(raw: Json, transcript: str, cwd: str) -> list[ToolCall]:
    """Returns the tool call of a payload, one for each file that it touched. raw: the payload."""
    tool, id = values.text(raw.get("tool_name")), values.text(raw.get("tool_use_id"))
    fields = values.mapping(raw.get("tool_input"))
    command = values.text(fields.get("command"))
    touched = files_of(rollout.item(transcript, id), cwd) if tool in (SHELL, PATCH) else []
    if not touched and tool == PATCH:
        touched = [(EDIT, path) for path in patches.files(command)]
    return [
        ToolCall(
            action,
            os.path.normpath(os.path.join(cwd, path)) if path else "",
            id,
            tool=tool,
            object=path if tool == PATCH else command,
        )
        for action, path in touched or [(OTHER, "")]
    ]


def files_of(item: Json, cwd: str) -> list[tuple[str, str]]:
    """Returns action and path of each file that an item touched."""
    if item.get("type") == CHANGE:
        changes = values.mapping(item.get("changes"))
        return [each for path, change in changes.items() for each in _changed(path, change)]
    if item.get("type") != COMMAND or item.get("exit_code") != 0:
        return []
    folder = _folder(item.get("cwd")) or cwd
    parts = [values.mapping(part) for part in values.items(item.get("parsed_cmd"))]
    reads = [values.path(part.get("path")) for part in parts if part.get("type") == "read"]
    return [(READ, os.path.join(folder, path)) for path in reads if path]


def _changed(path: str, change: object) -> list[tuple[str, str]]:
    """Returns what is left of a file that a patch changes: nothing if it deletes it, the other path
    if it moves it."""
    fields = values.mapping(change)
    action = _ACTIONS.get(values.text(fields.get("type")))
    found = values.path(fields.get("move_path")) or values.path(path)
    return [(action, found)] if action and found else []


def _folder(uri: object) -> str:
    """Returns the folder of a file URI; "" if it is none."""
    text = values.text(uri)
    if not text.startswith(_SCHEME):
        return ""
    if "%" in text:
        from urllib.parse import unquote  # imported late: most folders need it not

        text = unquote(text)
    return values.folder(text.removeprefix(_SCHEME))
