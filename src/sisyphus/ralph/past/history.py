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
from sisyphus.ralph import loop as lp
from sisyphus.state import debug
from sisyphus.state.files import append_line, ensure_folder
from sisyphus.text import sound
from sisyphus.times import iso

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus._types import Json
    from sisyphus.ralph.loop import Loop
    from sisyphus.ralph.past.records import Record
    from sisyphus.state.lock import Lock

LOG_BYTES = 1_000_000
TEXT_CHARACTERS = 2_000
"""So much of a task, a promise, a command or a reason stands in a line."""

COMMAND, CHECKS = "verify", ("verify_plan", "verify_checklist")
"""Options of a loop: what its promise must pass. The model's own loop has no command."""


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
            "options": options(loop),
        },
    )


def options(loop: Loop) -> Json:
    """Its limits, what its promise must pass, and the plan that it holds the session to: what is
    known of them after its end. `max_minutes` and `max_tokens` are 0 where there is no limit."""
    found: Json = {"max_minutes": loop.max_minutes, "max_tokens": loop.max_tokens}
    found.update({name: True for name in CHECKS if loop.options.get(name)})
    if loop.plan:
        found[lp.PLAN] = _cut(loop.plan)
    command = loop.options.get(COMMAND)
    if command and isinstance(command, str) and not loop.by_model:
        found[COMMAND] = _cut(command)
    return found


def ended(ours: str, loop: Loop, outcome: str, now: float, reason: str = "") -> None:
    """Notes how `loop` ended; never raises. `now` in epoch seconds; `reason`: why, in words."""
    _append(
        ours,
        {
            "loop_id": loop.loop_id,
            "session_id": loop.session_id,
            "status": "completed",
            "outcome": outcome,
            "ended_at": iso(now),
            "duration_seconds": int(round(60 * loop.minutes(now), 3)),
            "iterations": loop.iteration,
            "error_reason": _cut(reason) or None,
        },
    )


def read(ours: str) -> list[Record]:
    """Every loop that is known, newest first; for people."""
    from sisyphus.ralph.past.reader import Reader

    return Reader(ours).read()


def _append(ours: str, line: Json) -> None:
    try:
        with lock(ours):
            append(ours, line)
    except (OSError, SisyphusError) as error:
        debug.log(f"history of loops: {type(error).__name__}: {error}")


def lock(ours: str) -> Lock:
    """Guards both files. Raises `OSError`."""
    from sisyphus.state.lock import Lock

    ensure_folder(os.path.dirname(log_path(ours)))
    return Lock(log_path(ours))


def append(ours: str, line: Json) -> None:
    """The caller holds the lock. Raises `OSError` and `SisyphusError`."""
    from sisyphus.ralph.past import rotation

    path = log_path(ours)
    if not rotation.ends_with_line(path):
        rotation.append(path, b"")
    append_line(path, line)
    if os.path.getsize(path) > LOG_BYTES:
        _rotate(ours)


def _rotate(ours: str) -> None:
    from sisyphus.ralph.past import rotation
    from sisyphus.ralph.past.living import living

    staying = {loop.loop_id for loop, _ in living(ours)}
    rotation.rotate(log_path(ours), archive_path(ours), staying, LOG_BYTES // 2)


def _cut(text: str) -> str:
    return sound(text[:TEXT_CHARACTERS])
