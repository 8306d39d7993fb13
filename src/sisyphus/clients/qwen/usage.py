"""How full the context of a session of Qwen Code is, by the end of its transcript. See
`clients.usage`. On the quick path: the caller asks after every tool call."""

from __future__ import annotations

from sisyphus.clients import lines, values

_EMPTIED = "chat_compression"
_MARKS = (b'"usageMetadata"', b'"chat_compression"')
"""What a line has if it may count. Most have none of these and are not parsed."""


def read(path: str) -> tuple[int, int]:
    for raw in lines.last(path, *_MARKS):
        if raw.get("subtype") == _EMPTIED:
            return 0, 0
        usage = values.mapping(raw.get("usageMetadata"))
        tokens = values.count(usage.get("promptTokenCount"))
        if raw.get("type") == "assistant" and tokens:
            return tokens, values.count(raw.get("contextWindowSize"))
    return 0, 0
