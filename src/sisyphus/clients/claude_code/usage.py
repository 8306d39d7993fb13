"""How full the context of a Claude Code session is, by the end of its transcript. See
`clients.usage`. On the quick path: the caller asks after every batch of tool calls."""

from __future__ import annotations

import os

from sisyphus.clients import values
from sisyphus.ground import files, quick_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, BinaryIO

LARGE, SMALL = 1_000_000, 200_000
"""The windows of the client's models, in tokens (measured on 2.1.329)."""

_LARGE_MARK = "[1m]"
_FIRST_LARGE = 5
"""Models of this version and later have the large window."""
_DATE = 8
"""The digits of a date, as in `claude-sonnet-4-5-20250929`."""

_TAIL, _LONG_TAIL = 256_000, 4_000_000
"""The bytes at the end of the file in which we look for the last answer, and those in which we look
once more if it is not there: the results of tools may be long."""

_COUNTS = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
_EMPTIED = (b'"compact_boundary"', b'"isCompactSummary"')


def read(path: str) -> tuple[int, int]:
    """Returns the tokens in the context, and how many fit by the name of the model; (0, 0) if
    nothing was answered since the context was emptied, or the answer is too far from the end."""
    try:
        with files.open_regular(path) as file:
            size = file.seek(0, os.SEEK_END)
            found = _last(_tail(file, size, _TAIL))
            if found is None and size > _TAIL:
                found = _last(_tail(file, size, _LONG_TAIL))
    except (OSError, ValueError):
        return 0, 0
    return found or (0, 0)


def _tail(file: BinaryIO, size: int, length: int) -> list[bytes]:
    file.seek(max(0, size - length))
    return file.read().split(b"\n")


def _last(lines: list[bytes]) -> tuple[int, int] | None:
    """Returns tokens and window of the last answer; (0, 0) if the context was emptied after it;
    None if neither is there."""
    for line in reversed(lines):
        if any(mark in line for mark in _EMPTIED):
            return 0, 0
        if b'"usage"' in line and (usage := _usage(line)):
            return usage
    return None


def _usage(line: bytes) -> tuple[int, int] | None:
    """Returns tokens and window of an answer of the main conversation; None for other lines."""
    try:
        raw = quick_json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(raw, dict) or raw.get("type") != "assistant" or raw.get("isSidechain"):
        return None
    return of_answer(raw)


def of_answer(raw: dict[str, Any]) -> tuple[int, int] | None:
    """Returns the tokens in the context of an answer, and how many fit by the name of the model;
    None if it has no usage."""
    message = raw.get("message")
    usage = message.get("usage") if isinstance(message, dict) else None
    tokens = (
        sum(values.count(usage.get(name)) for name in _COUNTS) if isinstance(usage, dict) else 0
    )
    if not (isinstance(message, dict) and tokens):  # the client's own answer to an API error has 0
        return None
    model = raw.get("requestedModel") or message.get("model")
    is_large = tokens > SMALL or _is_large(model if isinstance(model, str) else "")
    return tokens, LARGE if is_large else SMALL


def _is_large(model: str) -> bool:
    """Tells whether a model such as `claude-opus-5-5` or `claude-sonnet-4-5[1m]` has the large
    window. Dates and aliases without a version do not count as versions."""
    if model.lower().endswith(_LARGE_MARK):
        return True
    numbers = [part for part in model.split("-") if part.isdecimal() and len(part) < _DATE]
    return bool(numbers) and int(numbers[0]) >= _FIRST_LARGE
