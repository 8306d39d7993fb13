"""Reads what our plugin writes down of a session of OpenCode, which has no transcript file of its
own. See `clients.base.Transcript`.

`SESSION.jsonl` has an object a line, `SESSION.AGENT.jsonl` those of a subagent:

    at        when, in milliseconds since 1970; every line has it
    kind      prompt: id, text; command = {name, arguments} of a typed one; is_ours: we injected it
              text: id, text: the agent said it
              tool: id, call, tool, args: it called a tool; folder = that of the session
              result: call, text, failed
              usage: id, tokens = {input, output, reasoning, cache: {read, write}}, window
              compacted: what stands above has left the context
"""

from __future__ import annotations

import os

from sisyphus.clients import lines, patches, values
from sisyphus.clients.opencode import payload, usage
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
from sisyphus.hook import event
from sisyphus.hook.event import Command

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Json = dict[str, Any]

_HEAD = 256_000
"""The first bytes of the file, in which we look for the first prompt."""

_AUTHORS = {
    "prompt": PROMPT, "text": AGENT, "tool": AGENT, "usage": AGENT, "result": TOOL,
    "compacted": OTHER,
}  # fmt: skip

_SHELL, _QUESTION = "bash", "question"
_TARGETS = ("filePath", "command", "pattern", "url", "description", "path")
_NEW_TEXTS = ("newString", "content")
_LONGEST_TIME = 10**14  # milliseconds: the year 5138


def read(path: str, *, offset: int = 0, since: float = 0.0, limit: int = 0) -> Reading:
    objects, end = lines.read(path, _moment, offset=offset, since=since, limit=limit)
    return Reading([record for raw in objects if (record := _record(raw))], end)


def first_id(path: str) -> str:
    """A fork gets ids of its own, so it has none in common with its parent."""
    return ""


def parent(path: str) -> str:
    return ""


def first_prompt(path: str) -> str:
    for raw in lines.head(path, _HEAD):
        record = _record(raw)
        if record and record.author == PROMPT:
            command = record.command
            return f"/{command.name} {command.arguments}" if command else record.texts[0]
    return ""


def subagent_tokens(path: str, since: float) -> int:
    folder, stem = os.path.dirname(path), os.path.basename(path).removesuffix(".jsonl")
    total = 0
    for name in os.listdir(folder) if os.path.isdir(folder) else ():
        if name.startswith(f"{stem}.") and name != f"{stem}.jsonl":
            reading = read(os.path.join(folder, name), since=since)
            total += sum(record.tokens for record in reading.records)
    return total


def has_todo_list(path: str) -> bool | None:
    """It does not say."""
    return None


def _record(raw: Json) -> TranscriptLine | None:
    """Returns the record of a line; None if it has no known kind."""
    kind, text = raw.get("kind"), values.text(raw.get("text"))
    author = _AUTHORS.get(kind) if isinstance(kind, str) else None
    if author is None:
        return None
    id = values.text(raw.get("id"))
    record = TranscriptLine(author, _moment(raw), frozenset((id,)) if id else frozenset())
    if kind == "prompt" and raw.get("is_ours") is True:
        record.author = CONTINUATION
    elif kind == "prompt":
        record.texts, record.command, record.is_personal = (text,), _command(raw), True
    elif kind == "text":
        record.texts = (text,)
    elif kind == "tool":
        record.calls = _calls(raw)
    elif kind == "result":
        record.results = (
            ToolResult(values.text(raw.get("call")), text, raw.get("failed") is True),
        )
    elif kind == "usage":
        record.tokens = sum(usage.tokens_of(raw))
    return record


def _calls(raw: Json) -> tuple[RecordedCall, ...]:
    """Returns a call, or one for each file that a patch changes."""
    tool, args = values.text(raw.get("tool")), values.mapping(raw.get("args"))
    target = next((text for key in _TARGETS if (text := values.text(args.get(key)))), "")
    new = next((text for key in _NEW_TEXTS if (text := values.text(args.get(key)))), "")
    return tuple(
        RecordedCall(
            values.text(raw.get("call")),
            tool,
            payload.ACTIONS.get(tool, event.OTHER),
            asks_user=tool == _QUESTION,
            target=file or target,
            shell=values.text(args.get("command")) if tool == _SHELL else "",
            text=new,
            folder=os.path.join(values.text(raw.get("folder")), values.text(args.get("workdir"))),
        )
        for file in patches.files(values.text(args.get("patchText"))) or [""]
    )


def _command(raw: Json) -> Command | None:
    command = values.mapping(raw.get("command"))
    name = values.text(command.get("name"))
    return Command(name, values.text(command.get("arguments"))) if name else None


def _moment(raw: Json) -> float:
    at = raw.get("at")
    is_time = isinstance(at, int | float) and not isinstance(at, bool) and 0 < at < _LONGEST_TIME
    return at / 1000 if is_time and isinstance(at, int | float) else 0.0
