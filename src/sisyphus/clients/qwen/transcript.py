"""Reads Qwen Code's transcripts, as measured on 0.24.4. See `clients.base.Transcript`.

A line is {uuid, timestamp, type, message: {parts}}. Nothing notes the reason of a blocked Stop, nor
which slash command was typed: its prompt is the text of the command's file.
"""

from __future__ import annotations

import os

from sisyphus.clients import escaped_tags, lines, subagents, values
from sisyphus.clients.claude_code import transcript as claude_code
from sisyphus.clients.qwen.payload import TOOLS
from sisyphus.clients.transcript_records import (
    AGENT,
    OTHER,
    PROMPT,
    TOOL,
    Reading,
    RecordedCall,
    ToolResult,
    TranscriptLine,
)
from sisyphus.ground.text import moment

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Json = dict[str, Any]

_HEAD = 256_000
"""The first bytes of the file, in which we look for the first prompt."""

_PERSON = "real_user"
_CONTEXT = "<qwen:user-prompt-submit-context>"
"""How the part of a prompt starts that hooks have added."""


def read(path: str, *, offset: int = 0, since: float = 0.0, limit: int = 0) -> Reading:
    objects, end = lines.read(path, _moment, offset=offset, since=since, limit=limit)
    return Reading([_record(raw) for raw in objects if "message" in raw], end)


def first_id(path: str) -> str:
    return next((values.text(raw.get("uuid")) for raw in _prompts(path)), "")


def parent(path: str) -> str:
    return ""


def first_prompt(path: str) -> str:
    return next((text for raw in _prompts(path) for text in _record(raw).texts), "")


def subagent_tokens(path: str, since: float) -> int:
    """Each subagent has its own file, in a folder of the session beside that of all chats."""
    chats, name = os.path.split(path.removesuffix(".jsonl"))
    folder = os.path.join(os.path.dirname(chats), "subagents", name)
    return subagents.tokens_in(folder, since, read)


def has_todo_list(path: str) -> bool | None:
    """It does not say."""
    return None


def _prompts(path: str) -> list[Json]:
    return [raw for raw in lines.head(path, _HEAD) if raw.get("type") == "user"]


def _record(raw: Json) -> TranscriptLine:
    kind, at = raw.get("type"), _moment(raw)
    ids = frozenset(id for id in (values.text(raw.get("uuid")),) if id)
    parts = [
        values.mapping(part)
        for part in values.items(values.mapping(raw.get("message")).get("parts"))
    ]
    said = (values.text(part.get("text")) for part in parts if part.get("thought") is not True)
    texts = tuple(text for text in said if text and not text.startswith(_CONTEXT))
    if kind == "assistant":
        texts = tuple(map(escaped_tags.unescaped, texts))
        tokens = values.count(values.mapping(raw.get("usageMetadata")).get("totalTokenCount"))
        calls = tuple(
            _call(part["functionCall"], raw.get("cwd")) for part in parts if "functionCall" in part
        )
        return TranscriptLine(AGENT, at, ids, texts, calls, tokens=tokens)
    if kind == "tool_result":
        answers = [part["functionResponse"] for part in parts if "functionResponse" in part]
        return TranscriptLine(TOOL, at, ids, results=tuple(_result(each, raw) for each in answers))
    if kind != "user" or not texts:
        return TranscriptLine(OTHER, at, ids)
    return TranscriptLine(PROMPT, at, ids, texts, is_personal=raw.get("provenance") == _PERSON)


def _call(value: object, folder: object) -> RecordedCall:
    """folder: where the agent is; a call may name another one."""
    call = values.mapping(value)
    fields = values.mapping(call.get("args"))
    fields = {**fields, "run_in_background": fields.get("is_background")}
    folder = os.path.join(values.text(folder), values.text(fields.get("directory")))
    return claude_code.call_of(
        call.get("id"), call.get("name"), fields, TOOLS, folder=folder.rstrip(os.sep)
    )


def _result(value: object, raw: Json) -> ToolResult:
    answer = values.mapping(value)
    response = values.mapping(answer.get("response"))
    status = values.mapping(raw.get("toolCallResult")).get("status")
    return ToolResult(
        values.text(answer.get("id")),
        values.text(response.get("output")) or values.text(response.get("error")),
        is_error=status != "success",
        is_refused=status == "cancelled",
    )


def _moment(raw: Json) -> float:
    return moment(raw.get("timestamp"))
