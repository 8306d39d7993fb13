"""A forked session's model holds what its parent's was sent.

No payload and no line names the parent (Claude Code 2.1.329). But the client copies the parent's
lines into the fork's transcript with name and time unchanged, so the parent is the
neighbouring transcript that holds the last copied line. Siblings forked at the same place hold it
too, and nothing tells which is the parent.
"""

from __future__ import annotations

import os

from sisyphus.clients import files_of
from sisyphus.transcript import TAIL_BYTES, messages, tail

_SEARCHED_BYTES = 1_000_000  # a parent has seldom gone on far when its fork is first looked at
_NEIGHBOURS = 200  # newest first; a parent is among the last ones used


def find_parents(transcript: str, forked_at: object) -> list[str] | None:
    """The sessions of which one is the parent, the newest first; None while it is too early to say.

    `forked_at` is in epoch seconds, as the session file has it.
    """
    last = _last_copied(transcript, _written(forked_at))
    if last is None:
        return None
    near = _neighbours(transcript) if last else []
    found = [path for path in near if last in tail(path, _SEARCHED_BYTES)]
    return [os.path.basename(path).removesuffix(".jsonl") for path in found]


def _last_copied(transcript: str, began: str) -> bytes | None:
    """The last message older than the fork, by its `uuid`; b"" = there is none, None = not yet.

    Other lines do not count: those of the fork's own start may be older than our first look.
    """
    found = None
    client = files_of(transcript)
    lines = reversed(tail(transcript, TAIL_BYTES).splitlines())
    for record in messages(lines, client.read_record):
        if record.at and record.at < began:
            return client.uuid_mark(record.uuid)
        found = b""
    return found


def _written(moment: object) -> str:
    """Epoch seconds as the client writes them, "" where they are none."""
    from datetime import UTC, datetime

    try:
        written = datetime.fromtimestamp(float(str(moment)), UTC)
    except (ValueError, OverflowError, OSError):
        return ""
    return written.isoformat(timespec="milliseconds")


def _neighbours(transcript: str) -> list[str]:
    folder, own = os.path.split(transcript)
    try:
        with os.scandir(folder) as entries:
            files = [e for e in entries if e.name.endswith(".jsonl") and e.name != own]
            files.sort(key=lambda e: e.stat(follow_symlinks=False).st_mtime, reverse=True)
    except OSError:
        return []
    return [e.path for e in files[:_NEIGHBOURS]]
