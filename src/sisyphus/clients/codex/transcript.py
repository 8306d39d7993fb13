"""Reads Codex's rollouts, as measured on 0.169.0. See `clients.base.Transcript`.

We read the items (see `rollout.py`), which are the same in all modes of the client. The lines of
type response_item hold what the model sees: the same texts again, and much that nobody said.
"""

from __future__ import annotations

import os
from glob import escape, glob

from sisyphus.clients import escaped_tags, lines, patches, subagents, values
from sisyphus.clients.codex import payload, rollout, touched, usage
from sisyphus.clients.transcript_records import (
    AGENT,
    CONTINUATION,
    OTHER,
    PROMPT,
    Reading,
    RecordedCall,
    ToolResult,
    TranscriptLine,
)
from sisyphus.ground.text import moment
from sisyphus.hook import event

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Json = dict[str, Any]

_HEAD = 512_000
"""The first bytes of the file, in which we look for the first prompt: the client's own instructions
stand before it."""

_USER, _HOOK, _ANSWER = "UserMessage", "HookPrompt", "AgentMessage"
"""Types of items: a prompt, the reason of a blocked Stop, what the agent says."""

_MCP, _SUBAGENT = "McpToolCall", "SubAgentActivity"
_NO_CALLS = ("Reasoning", "Plan", "ContextCompaction", "EnteredReviewMode", "ExitedReviewMode")
"""Types of items that are no tool call of the agent's. All others are."""


def read(path: str, *, offset: int = 0, since: float = 0.0, limit: int = 0) -> Reading:
    objects, end = lines.read(path, _moment, offset=offset, since=since, limit=limit)
    return Reading([record for raw in objects if (record := _record(raw))], end)


def first_id(path: str) -> str:
    return next((values.text(item.get("id")) for item in _prompts(path)), "")


def parent(path: str) -> str:
    return values.id(rollout.meta(path).get("forked_from_id"))


def first_prompt(path: str) -> str:
    return next((text for item in _prompts(path) if (text := _said(item))), "")


def subagent_tokens(path: str, since: float) -> int:
    """A subagent has a rollout of its own, in the folder of the day on which it began. Its first
    line names its session."""
    session, own = _names(path)

    def of_subagent(file: str, *, since: float) -> Reading:
        names = _names(file)
        is_subagents = names[0] == session and names[1] != own
        return read(file, since=since) if is_subagents else Reading()

    days = _days(path) if session else []
    return sum(subagents.tokens_in(day, since, of_subagent) for day in days)


def has_todo_list(path: str) -> bool | None:
    """It does not say."""
    return None


def _days(path: str) -> list[str]:
    """Returns the folder of the day on which a session began, and those of later days."""
    first = os.path.dirname(path)
    sessions = os.path.dirname(os.path.dirname(os.path.dirname(first)))
    days = glob(os.path.join(escape(sessions), *["[0-9]*"] * 3))
    return [first, *(day for day in days if day > first)]


def _names(path: str) -> tuple[str, str]:
    """Returns the ids of the session and of the agent that wrote a rollout."""
    meta = rollout.meta(path)
    return values.text(meta.get("session_id")), values.text(meta.get("id"))


_LONGEST_TIME = 10**14
"""Milliseconds: the year 5138."""


def _prompts(path: str) -> list[Json]:
    items = map(rollout.item_of, lines.head(path, _HEAD))
    return [item for item in items if item.get("type") == _USER]


def _record(raw: Json) -> TranscriptLine | None:
    """Returns the record of a line; None if it says nothing that anybody said or did."""
    fields = values.mapping(raw.get("payload"))
    if raw.get("type") == "token_usage_record":
        made = values.count(values.mapping(fields.get("usage")).get("output_tokens"))
        return TranscriptLine(AGENT, _moment(raw), tokens=usage.tokens_of(raw) + made)
    if fields.get("type") == "turn_aborted":
        return TranscriptLine(OTHER, _moment(raw), is_interrupt=True)
    item = rollout.item_of(raw)
    return _of_item(item, _moment(raw), _ids(item, fields), _began_at(fields)) if item else None


def _began_at(fields: Json) -> float:
    at = fields.get("started_at_ms")
    return at / 1000 if type(at) is int and 0 < at < _LONGEST_TIME else 0.0


def _of_item(item: Json, at: float, ids: frozenset[str], began_at: float) -> TranscriptLine:
    kind = values.text(item.get("type"))
    if kind == _USER:
        return _of_prompt(_said(item), at, ids)
    if kind == _HOOK:
        return TranscriptLine(CONTINUATION, at, ids)
    if kind == _ANSWER:
        return TranscriptLine(AGENT, at, ids, (escaped_tags.unescaped(_said(item)),))
    if kind in ("", *_NO_CALLS) or (kind == _SUBAGENT and item.get("kind") == "completed"):
        return TranscriptLine(OTHER, at, ids)
    return TranscriptLine(AGENT, at, ids, calls=_calls(item, began_at), results=(_result(item),))


def _of_prompt(said: str, at: float, ids: frozenset[str]) -> TranscriptLine:
    """Returns the record of a prompt. We have queued it if it wakes the session."""
    if payload.is_wake(said.lstrip()):
        return TranscriptLine(CONTINUATION, at, ids)
    command = payload.command_of(said.lstrip())
    return TranscriptLine(PROMPT, at, ids, (said,), command=command, is_personal=True)


def _calls(item: Json, began_at: float) -> tuple[RecordedCall, ...]:
    """began_at: when the call began, in seconds since 1970; 0 = unknown. Its line is written at its
    end."""
    kind = item.get("type")
    if kind == touched.CHANGE:
        return _changes(item)
    return (_command(item, began_at) if kind == touched.COMMAND else _other(item),)


def _command(item: Json, began_at: float) -> RecordedCall:
    words = [values.text(word) for word in values.items(item.get("command"))]
    line = words[-1] if words else ""  # the shell and its option stand before it
    files = touched.files_of(item, "/")
    action, target = files[0] if files else (event.OTHER, line)
    id = values.text(item.get("id"))
    return RecordedCall(
        id, touched.SHELL, action, target=target, shell=line,
        folder=values.text(item.get("cwd")).removeprefix("file://"), at=began_at,
    )  # fmt: skip


def _changes(item: Json) -> tuple[RecordedCall, ...]:
    id = values.text(item.get("id"))
    changes = values.mapping(item.get("changes"))
    return tuple(
        RecordedCall(id, touched.PATCH, action, target=path, text=_new_text(changes.get(path)))
        for action, path in touched.files_of(item, "/")
    )


def _other(item: Json) -> RecordedCall:
    """Returns the call of a tool that touches no file that we know of."""
    name = values.text(item.get("type"))
    if name == _MCP:
        name = "__".join(("mcp", *(values.text(item.get(key)) for key in ("server", "tool"))))
    return RecordedCall(values.text(item.get("id")), name, event.OTHER)


def _new_text(change: object) -> str:
    """Returns what a patch puts into a file."""
    fields = values.mapping(change)
    return values.text(fields.get("content")) or patches.added(
        values.text(fields.get("unified_diff"))
    )


def _result(item: Json) -> ToolResult:
    text = values.text(item.get("aggregated_output")) or values.text(item.get("stdout"))
    code = item.get("exit_code")
    has_failed = item.get("status") == "failed" or (code is not None and code != 0)
    return ToolResult(values.text(item.get("id")), text, has_failed)


def _said(item: Json) -> str:
    parts = [values.mapping(part) for part in values.items(item.get("content"))]
    return "\n".join(text for part in parts if (text := values.text(part.get("text"))))


def _ids(item: Json, fields: Json) -> frozenset[str]:
    ids = (values.text(item.get("id")), values.text(fields.get("turn_id")))
    return frozenset(id for id in ids if id)


def _moment(raw: Json) -> float:
    return moment(raw.get("timestamp"))
