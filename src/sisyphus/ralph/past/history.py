"""The history of loops: a line where a loop starts and one where it ends, each a JSON object.

    logs/sessions.jsonl             what was last, and every loop that has not ended
    logs/sessions.archive.jsonl     what went before

A loop may be active again after its end (its session was given up, then resumed): the later line
counts. Whoever reads the files reads the archive's lines before the log's; a loop that stands in
both is one loop.
"""

from __future__ import annotations

import os

from sisyphus.errors import SisyphusError
from sisyphus.plain import sound
from sisyphus.ralph import loop as lp
from sisyphus.state import debug
from sisyphus.state.files import append_line, ensure_folder
from sisyphus.times import iso

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus._types import Json
    from sisyphus.ralph.loop import Loop
    from sisyphus.ralph.past.records import Record

LOG_BYTES = 1_000_000
TEXT_CHARACTERS = 2_000
"""So much of a task, a promise or a reason stands in a line."""


def log_path(ours: str) -> str:
    return os.path.join(ours, "logs", "sessions.jsonl")


def archive_path(ours: str) -> str:
    return os.path.join(ours, "logs", "sessions.archive.jsonl")


def started(ours: str, loop: Loop, path: str) -> None:
    """Notes that `loop` begins, or goes on after its end; never raises. `path`: its state file."""
    promise = loop.completion_promise
    _append(
        ours,
        {
            "loop_id": loop.loop_id,
            "session_id": loop.session_id,
            "status": "active",
            "project": loop.project,
            "project_name": os.path.basename(loop.project),
            "state_file_path": path,
            "task": _cut(loop.prompt),
            "started_at": loop.started_at,
            "max_iterations": loop.max_iterations,
            "completion_promise": None if promise is None else _cut(promise),
        },
    )


def ended(ours: str, loop: Loop, outcome: str, now: float, reason: str = "") -> None:
    """Notes how `loop` ended; never raises. `now` in epoch seconds; `reason`: why, in words."""
    began = lp.epoch(loop.started_at)
    _append(
        ours,
        {
            "loop_id": loop.loop_id,
            "session_id": loop.session_id,
            "status": "completed",
            "outcome": outcome,
            "ended_at": iso(now),
            "duration_seconds": max(int(now - began), 0) if began else 0,
            "iterations": loop.iteration,
            "error_reason": _cut(reason) or None,
        },
    )


def read(ours: str) -> list[Record]:
    """Every loop that is known, newest first; for people."""
    from sisyphus.ralph.past import records
    from sisyphus.ralph.past.living import living
    from sisyphus.state import jsonl

    log = list(jsonl.read(log_path(ours)))  # first: what moves meanwhile is found in the archive
    found = records.Merge()
    for line in jsonl.read(archive_path(ours)):
        found.take(line)
    for line in log:
        found.take(line)
    return found.settle(living(ours))


def _append(ours: str, line: Json) -> None:
    from sisyphus.ralph.past import rotation
    from sisyphus.state.lock import Lock

    path = log_path(ours)
    try:
        ensure_folder(os.path.dirname(path))
        with Lock(path):
            if not rotation.ends_with_line(path):
                rotation.append(path, b"")
            append_line(path, line)
            if os.path.getsize(path) > LOG_BYTES:
                _rotate(ours)
    except (OSError, SisyphusError) as error:
        debug.log(f"history of loops: {type(error).__name__}: {error}")


def _rotate(ours: str) -> None:
    from sisyphus.ralph.past import rotation
    from sisyphus.ralph.past.living import living

    staying = {loop.loop_id for loop, _ in living(ours)}
    rotation.rotate(log_path(ours), archive_path(ours), staying, LOG_BYTES // 2)


def _cut(text: str) -> str:
    return sound(text[:TEXT_CHARACTERS])
