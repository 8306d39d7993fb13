"""How full the context of a session of Copilot CLI is, by the end of its transcript. See
`clients.usage`. On the quick path: the caller asks after every tool call."""

from __future__ import annotations

from sisyphus.clients import lines, values

COUNT, _EMPTIED = "session.usage_record", "session.compaction_complete"
"""Types of lines: what an answer has used, and that the context was emptied."""

_MARKS = tuple(f'"{kind}"'.encode() for kind in (COUNT, _EMPTIED))
"""What a line has if it may count. Most have none of these and are not parsed."""


def read(path: str) -> tuple[int, int]:
    for raw in lines.last(path, *_MARKS):
        data = values.mapping(raw.get("data"))
        if raw.get("type") == _EMPTIED and data.get("success") is True:
            return 0, 0
        usage = values.mapping(data.get("usage"))
        tokens = values.count(usage.get("inputTokens"))
        if raw.get("type") == COUNT and tokens and not raw.get("agentId"):
            return tokens, values.count(usage.get("maxPromptTokens"))
    return 0, 0
