"""How full the context of a session of Codex is, by the end of its rollout. See
`clients.usage`. On the quick path: the caller asks after every tool call."""

from __future__ import annotations

from sisyphus.clients import lines, values

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Json = dict[str, Any]

_MARKS = (b'"token_count"', b'"token_usage_record"', b'"compacted"', b'"task_started"')
"""What a line has if it may count. Most have none of these and are not parsed."""


def read(path: str) -> tuple[int, int]:
    """At a tool call the usage of the answer that made it stands in a token_usage_record alone;
    the window stands in the lines before it."""
    tokens = 0
    for raw in lines.last(path, *_MARKS):
        payload = values.mapping(raw.get("payload"))
        if raw.get("type") == "compacted" and not tokens:
            return 0, 0
        tokens = tokens or tokens_of(raw)
        info = values.mapping(payload.get("info"))
        window = values.count((info or payload).get("model_context_window"))
        if tokens and window:
            return tokens, window
    return tokens, 0


def tokens_of(raw: Json) -> int:
    """Returns how many tokens the model had read for the answer that a line counts; 0 if it counts
    none. What was cached is among them."""
    payload = values.mapping(raw.get("payload"))
    usage = payload.get("usage") or values.mapping(payload.get("info")).get("last_token_usage")
    return values.count(values.mapping(usage).get("input_tokens"))
