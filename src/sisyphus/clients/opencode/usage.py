"""How full the context of a session of OpenCode is, by the end of what our plugin has written down.
See `clients.usage`. On the quick path: the caller asks after every tool call."""

from __future__ import annotations

from sisyphus.clients import values
from sisyphus.ground import files, quick_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Json = dict[str, Any]

_KINDS = (b'"compacted"', b'"usage"')
"""What a line has if it may count. Most have neither and are not parsed."""

_TAIL = 256_000
"""The bytes at the end of the file in which we look for the last usage."""


def read(path: str) -> tuple[int, int]:
    for line in reversed(files.tail(path, _TAIL).split(b"\n")):
        raw = _parse(line) if any(kind in line for kind in _KINDS) else {}
        if raw.get("kind") == "compacted":
            return 0, 0
        if raw.get("kind") == "usage" and (found := _usage(raw)):
            return found
    return 0, 0


def _parse(line: bytes) -> Json:
    """Returns the object in a line; empty if it is not one."""
    try:
        raw = quick_json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return raw if isinstance(raw, dict) else {}


def _usage(raw: Json) -> tuple[int, int] | None:
    """Returns tokens and window; None if the line counts none."""
    total = tokens_of(raw)[0]
    return (total, values.count(raw.get("window"))) if total else None


def tokens_of(raw: Json) -> tuple[int, int]:
    """Returns the tokens of a line of usage: what the model read, and what it wrote."""
    tokens = values.mapping(raw.get("tokens"))
    cache = values.mapping(tokens.get("cache"))
    got = (tokens.get("input"), cache.get("read"), cache.get("write"))
    made = (tokens.get("output"), tokens.get("reasoning"))
    return sum(map(values.count, got)), sum(map(values.count, made))
