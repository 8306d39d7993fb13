"""Reads Copilot CLI's transcripts, as measured on 1.0.102. See `clients.base.Transcript`, and
`events.py` for the form of a line.

The lines of subagents are in the same file.
"""

from __future__ import annotations

from sisyphus.clients import lines, patches, values
from sisyphus.clients.claude_code import transcript as claude_code
from sisyphus.clients.copilot import events
from sisyphus.clients.copilot.payload import command_of
from sisyphus.clients.copilot.usage import COUNT
from sisyphus.clients.transcript_records import (
    AGENT,
    CONTINUATION,
    OTHER,
    PROMPT,
    TOOL,
    Reading,
    RecordedCall,
    ToolResult,
    TranscriptLine,
)
from sisyphus.ground.text import moment
from sisyphus.hook.event import EDIT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Json = dict[str, Any]

_HEAD = 256_000
"""The first bytes of the file, in which we look for the first prompt."""

_PROMPT, _ANSWER = "user.message", "assistant.message"
_RESULT, _ABORT = "tool.execution_complete", "abort"
"""The types of the lines that say something to us."""

_TOOLS = {
    "view": "Read",
    "edit": "Edit",
    "create": "Write",
    "bash": "Bash",
    "skill": "Skill",
    "ask_user": "AskUserQuestion",
}
"""Its name of a tool → Claude Code's."""

_FIELDS = {"path": "file_path", "file_text": "content", "new_str": "new_string"}
"""Its name of a tool's input → Claude Code's."""

_PATCH = "apply_patch"
_IN_BACKGROUND = "async"
_STARTED = "<command started in background"
_REFUSALS = ("denied", "rejected")


def read(path: str, *, offset: int = 0, since: float = 0.0, limit: int = 0) -> Reading:
    objects, end = lines.read(path, _moment, offset=offset, since=since, limit=limit)
    records, is_pushed, folder = [], False, _folder(lines.first(path))
    for raw in objects:
        if raw.get("agentId"):
            records.append(_of_subagent(raw))
            continue
        folder = _folder(raw) or folder
        if record := record_of(raw, folder, is_pushed=is_pushed):
            records.append(record)
        if raw.get("type") == _PROMPT or events.is_block(raw):
            is_pushed = raw.get("type") != _PROMPT
    return Reading(records, end)


def first_id(path: str) -> str:
    return next((values.text(raw.get("id")) for raw in _prompts(path)), "")


def parent(path: str) -> str:
    return ""


def first_prompt(path: str) -> str:
    return next((text for raw in _prompts(path) if (text := _said(raw))), "")


def subagent_tokens(path: str, since: float) -> int:
    """They are among the session's own."""
    return 0


def has_todo_list(path: str) -> bool | None:
    """It does not say. Its models keep their tasks in a table of the session (measured)."""
    return None


def _prompts(path: str) -> list[Json]:
    heads = lines.head(path, _HEAD)
    return [raw for raw in heads if raw.get("type") == _PROMPT and not raw.get("agentId")]


def _of_subagent(raw: Json) -> TranscriptLine:
    return TranscriptLine(OTHER, _moment(raw), tokens=tokens_of(raw))


def _folder(raw: Json) -> str:
    """Returns the folder in which a session starts or goes on, each command in a shell of its own;
    "" if the line does not say it."""
    context = values.mapping(values.mapping(raw.get("data")).get("context"))
    return values.folder(context.get("cwd"))


def record_of(raw: Json, folder: str = "", *, is_pushed: bool = False) -> TranscriptLine | None:
    """Returns the record of a line; None if it says nothing that anybody said or did.

    folder: in which commands run; "" = unknown. is_pushed: hooks have blocked a Stop, and no prompt
    came since.
    """
    kind, at, data = raw.get("type"), _moment(raw), values.mapping(raw.get("data"))
    ids = frozenset(id for id in (values.text(raw.get("id")),) if id)
    if kind == _PROMPT:
        return _of_prompt(raw, at, ids, is_pushed=is_pushed)
    if kind == _ANSWER:
        calls = tuple(
            call for each in values.items(data.get("toolRequests")) for call in _calls(each, folder)
        )
        return TranscriptLine(AGENT, at, ids, tuple(filter(None, [_said(raw)])), calls)
    if kind == _RESULT:
        return TranscriptLine(TOOL, at, ids, results=(_result(data),))
    if kind == COUNT:
        return TranscriptLine(AGENT, at, ids, tokens=tokens_of(raw))
    return TranscriptLine(OTHER, at, ids, is_interrupt=True) if kind == _ABORT else None


def _of_prompt(raw: Json, at: float, ids: frozenset[str], *, is_pushed: bool) -> TranscriptLine:
    said, source = _said(raw), values.mapping(raw.get("data")).get("source")
    if is_pushed:
        return TranscriptLine(CONTINUATION, at, ids)
    command = command_of(said)
    return TranscriptLine(PROMPT, at, ids, (said,), command=command, is_personal=source is None)


def _calls(value: object, folder: str) -> tuple[RecordedCall, ...]:
    """Returns a tool call, one for each file that a patch changes."""
    call = values.mapping(value)
    id, name, given = call.get("toolCallId"), values.text(call.get("name")), call.get("arguments")
    if name == _PATCH:
        patch = values.text(given) or values.text(values.mapping(given).get("input"))
        added = "\n".join(line[1:] for line in patch.split("\n") if line.startswith("+"))
        return tuple(
            RecordedCall(values.text(id), name, EDIT, target=file, text=added)
            for file in patches.files(patch)
        )
    fields = {_FIELDS.get(key, key): each for key, each in values.mapping(given).items()}
    fields["run_in_background"] = fields.get("mode") == _IN_BACKGROUND
    return (claude_code.call_of(id, name, fields, _TOOLS, folder=folder),)


def _result(data: Json) -> ToolResult:
    error = values.mapping(data.get("error"))
    code = values.mapping(data.get("shellExecution")).get("exitCode")
    text = values.text(values.mapping(data.get("result")).get("content"))
    return ToolResult(
        values.text(data.get("toolCallId")),
        text or values.text(error.get("message")),
        is_error=data.get("success") is not True or (code is not None and code != 0),
        is_refused=error.get("code") in _REFUSALS,
        goes_on=text.startswith(_STARTED),
    )


def _said(raw: Json) -> str:
    return values.text(values.mapping(raw.get("data")).get("content"))


def tokens_of(raw: Json) -> int:
    """Returns what an answer has cost, if the line counts one."""
    usage = values.mapping(values.mapping(raw.get("data")).get("usage"))
    counts = (values.count(usage.get(key)) for key in ("inputTokens", "outputTokens"))
    return sum(counts) if raw.get("type") == COUNT else 0


def _moment(raw: Json) -> float:
    return moment(raw.get("timestamp"))
