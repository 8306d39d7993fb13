"""What the client of somebody else's loop printed, read for one decision."""

from __future__ import annotations

import json
import os
import sys

from sisyphus.errors import UnreadableError
from sisyphus.processes import plain
from sisyphus.reading import read_bytes
from sisyphus.runner.client.stream import Seen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus._types import Json

OUTPUT_BYTES = 256_000_000
WHOLE_BYTES = 8_000_000
"""Of an output that is one object; a stream is read line by line."""

ERROR_CHARACTERS = 600

_ERRORS = (
    "API Error:", "Credit balance is too low", "Failed to authenticate", "Invalid API key",
    "Not logged in", "Prompt is too long", "Request rejected (429)",
    "There's an issue with the selected model", "You've hit your ",
)  # fmt: skip
"""What Claude Code 2.1.329 prints alone where a request failed and it was asked for plain text."""


def read_output(name: str) -> bytes | None:
    """What the client wrote; `-` = stdin. None where there is nothing to read."""
    if name == "-":
        return (
            None if sys.stdin is None or sys.stdin.isatty() else sys.stdin.buffer.read(OUTPUT_BYTES)
        )
    try:
        return read_bytes(os.path.expanduser(name), OUTPUT_BYTES)
    except UnreadableError:
        return None


def seen_in(output: bytes) -> Seen:
    """What the client told, as a stream of events, as one object, or in plain words."""
    seen = Seen()
    try:
        whole = json.loads(output) if len(output) <= WHOLE_BYTES else None
    except (ValueError, RecursionError):
        whole = _error(output)
    lines = output.splitlines(keepends=True) if whole is None else [json.dumps(whole).encode()]
    for line in lines:
        seen.feed(line)
    return seen


def _error(output: bytes) -> Json | None:
    """What the client prints for a failed request, as it would report it."""
    words = plain(output[: 2 * ERROR_CHARACTERS]).strip()
    if len(output) > ERROR_CHARACTERS or not words.startswith(_ERRORS):
        return None
    return {"type": "result", "subtype": "success", "is_error": True, "result": words}
