"""What the client of somebody else's loop printed, read for one decision."""

from __future__ import annotations

import os
import sys

from sisyphus import clients
from sisyphus.errors import UnreadableError
from sisyphus.reading import read_bytes
from sisyphus.runner.client.stream import Seen

OUTPUT_BYTES = 256_000_000


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
    for line in clients.program().report_lines(output):
        seen.feed(line)
    return seen
