"""The client's transcript: JSON lines, appended to while we read, up to gigabytes long.

Lines of other types repeat prompts and system text (`api-request-blob`, `attachment`), so only
parsed `user` and `assistant` records count. At Stop the last assistant line is often not there
yet (Claude Code 2.1.329): the payload's own last message comes first.
"""

from __future__ import annotations

import json
import os

from sisyphus.errors import UnreadableError
from sisyphus.reading import open_regular

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sisyphus._types import Json

TAIL_BYTES = 64_000_000
"""What is read at most in one go: about 30 ms from the page cache."""


def lines(path: str, offset: int, limit: int = TAIL_BYTES) -> Iterator[tuple[int, bytes]]:
    """The complete lines behind byte `offset`, each with its own offset; of a lot only the end.

    A file shorter than `offset` is another one and is read from its start; an unreadable file has
    no lines. One line at a time is held, so that a gigabyte costs no memory.
    """
    try:
        with open_regular(path) as file:
            end = os.fstat(file.fileno()).st_size
            start = offset if 0 <= offset <= end else 0
            position = max(start, end - limit)
            file.seek(position)
            if position > start:
                position += len(file.readline())  # the rest of the line that the jump cut
            for line in file:
                if not line.endswith(b"\n"):
                    return
                yield position, line
                position += len(line)
    except (UnreadableError, OSError):
        return


def records(lines: Iterable[bytes], *needles: bytes, sidechains: bool = False) -> Iterator[Json]:
    """The main thread's `user` and `assistant` records among `lines`, oldest first.

    With `needles`, a line that holds none of them is passed over without parsing it; with
    `sidechains`, a subagent's records are there as well.
    """
    for line in lines:
        if needles and not any(needle in line for needle in needles):
            continue
        record = parse(line)
        is_wanted = sidechains or not record.get("isSidechain")
        if record.get("type") in ("user", "assistant") and is_wanted:
            yield record


def blocks(record: Json) -> list[Json]:
    """The content blocks of a record; a bare text counts as one block."""
    message = record.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [b for b in content if isinstance(b, dict)] if isinstance(content, list) else []


def texts(record: Json) -> list[str]:
    """The text blocks of a record: no thinking, no tool calls, no tool results."""
    found = (block.get("text") for block in blocks(record) if block.get("type") == "text")
    return [text for text in found if isinstance(text, str)]


def tool_uses(record: Json) -> list[Json]:
    """The tool calls in an assistant record."""
    if record.get("type") != "assistant":
        return []
    return [block for block in blocks(record) if block.get("type") == "tool_use"]


def result_text(block: Json) -> str:
    """What a tool answered, of a `tool_result` block."""
    content = block.get("content")
    if isinstance(content, str):
        return content
    found = texts({"message": {"content": content}})
    return "\n".join(found)


_COUNTS = (
    "input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens",
)  # fmt: skip
_NO_COUNT = 10**12


def tokens(record: Json) -> int:
    """What the answer in an assistant record cost: read, cached, read from the cache, written."""
    message = record.get("message")
    usage = message.get("usage") if isinstance(message, dict) else None
    if record.get("type") != "assistant" or not isinstance(usage, dict):
        return 0
    return sum(n for n in map(usage.get, _COUNTS) if type(n) is int and 0 < n < _NO_COUNT)


_CONTEXT_COUNTS = _COUNTS[:3]
_SYNTHETIC = "<synthetic>"


def context_tokens(record: Json) -> int:
    """How much of the context the answer in an assistant record found filled; 0 = not told.

    What it read, from the cache or not; what the client wrote in the model's place tells nothing.
    """
    message = record.get("message")
    usage = message.get("usage") if isinstance(message, dict) else None
    if record.get("type") != "assistant" or not isinstance(usage, dict):
        return 0
    if record.get("isApiErrorMessage") or record["message"].get("model") == _SYNTHETIC:
        return 0
    counts = map(usage.get, _CONTEXT_COUNTS)
    return sum(n for n in counts if type(n) is int and 0 < n < _NO_COUNT)


def is_user_prompt(record: Json) -> bool:
    """Whether the user said this: no tool result, and nothing that the client wrote for him."""
    return record.get("type") == "user" and not record.get("isMeta") and bool(texts(record))


def parse(line: bytes) -> Json:
    """The record that a line holds; {} where it holds none."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
