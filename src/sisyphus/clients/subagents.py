"""What the subagents of a session have used, by their transcripts."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from sisyphus.clients.transcript_records import Reading


def tokens_in(folder: str, since: float, read: Callable[..., Reading]) -> int:
    """Returns how many tokens the transcripts in a folder count since a time."""
    total = 0
    for name in os.listdir(folder) if os.path.isdir(folder) else ():
        file = os.path.join(folder, name)
        if name.endswith(".jsonl") and _has_changed(file, since):
            total += sum(record.tokens for record in read(file, since=since).records)
    return total


def _has_changed(file: str, since: float) -> bool:
    try:
        return os.path.getmtime(file) >= since
    except OSError:  # it was deleted
        return False
