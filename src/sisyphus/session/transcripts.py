"""Which transcripts there are: those that Claude Code writes, and ours of OpenCode's sessions."""

from __future__ import annotations

import os
from itertools import islice

from sisyphus import transcript
from sisyphus.clients import CLAUDE, all_files, files, files_of
from sisyphus.paths import is_safe_id

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

NEWEST = 5
TAIL_BYTES = 256_000

_MOST = 20_000
_END = ".jsonl"


def transcript_path(home: str, session: str) -> str:
    """The session's transcript; "" where there is none yet. `home` is Claude Code's folder."""
    found = (one.transcript_path(home, session) for one in all_files())
    return next(filter(None, found), "")


def transcripts(home: str) -> dict[str, str]:
    """Session -> transcript of every session that has one, each as `transcript_path` finds it.
    Every folder is read once, however many there are."""
    found: dict[str, str] = {}
    for entry in (entry for one in all_files() for entry in one.transcripts(home)):
        session = entry.name.removesuffix(_END)
        if is_safe_id(session):
            found.setdefault(session, entry.path)
    return found


def resumable(home: str) -> set[str]:
    """The sessions whose transcript Claude Code still has: somebody may go on with each of them."""
    return {entry.name.removesuffix(_END) for entry in files(CLAUDE).transcripts(home)}


def resume_command(home: str, session: str) -> str:
    """What goes on with the session in a terminal."""
    owners = (one for one in all_files() if one.transcript_path(home, session))
    return next(owners, files(CLAUDE)).resume_command(session)


def newest(home: str) -> list[str]:
    """The few transcripts of Claude Code's that were written last, of all projects."""
    entries = islice(files(CLAUDE).transcripts(home), _MOST)
    return [path for _, path in sorted(filter(None, map(_written, entries)), reverse=True)[:NEWEST]]


def sessions_with_goal(home: str) -> Iterator[str]:
    """The sessions of late in which somebody typed `/goal`."""
    for path in newest(home):
        if has_goal(path):
            yield os.path.basename(path).removesuffix(_END)


def has_goal(path: str) -> bool:
    """Whether somebody typed `/goal` of late in the session whose transcript that is."""
    return files_of(path).command_mark("goal") in transcript.tail(path, TAIL_BYTES)


def _written(entry: os.DirEntry[str]) -> tuple[float, str] | None:
    """When it was written last, and its path; None where it is gone meanwhile."""
    try:
        return entry.stat().st_mtime, entry.path
    except OSError:
        return None
