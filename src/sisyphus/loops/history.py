"""`sessions.jsonl`: a line when a loop or a run starts and a line when it ends, for other programs.

Lines are made from rows that are not logged yet. If we are killed between writing a line and
marking its row, we write the line again: lines may repeat, none is lost.
"""

from __future__ import annotations

import os

from sisyphus.ground import files, paths, quick_json
from sisyphus.ground.store import Store
from sisyphus.ground.text import iso
from sisyphus.hook.session import Session
from sisyphus.loops import iterations, loops, messages, state_file
from sisyphus.loops.loop import ABANDONED, SUCCESS, Loop, Work

MAX_BYTES = 1_000_000
"""The largest file. A larger one is renamed to `.1`, and a new one starts."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection
    from typing import Any

_TASK_CHARACTERS = 2000

_STARTED, _ENDED, _LEFT = 1, 2, 3
"""What `loop.logged` says."""


def export(store: Store) -> None:
    """Appends the missing lines."""
    with store.write():
        for loop, logged in loops.to_log(store):
            owner = Session.load(store, loop.session).id
            if logged < _STARTED:
                _append(_start_line(loop, owner))
            level = _STARTED
            if loop.ended_at is not None or _left_at(loop) is not None:
                _append(_end_line(store, loop, owner))
                level = _LEFT if loop.ended_at is None else _ENDED
            loops.note_logged(store, loop, level)


def _left_at(loop: Work) -> float | None:
    return loop.left_at if isinstance(loop, Loop) else None


def _start_line(loop: Work, owner: str) -> dict[str, Any]:
    return {
        "loop_id": loop.id,
        "session_id": owner,
        "status": "active",
        "project": loop.project,
        "project_name": os.path.basename(loop.project),
        "state_file_path": loop.file if isinstance(loop, Loop) else "",
        "task": loop.prompt[:_TASK_CHARACTERS],
        "started_at": iso(loop.started_at),
        "max_iterations": loop.options.max_iterations,
        "completion_promise": loop.options.promise or None,
    }


def forget(store: Store, loop: Work) -> None:
    """Makes a loop that is taken up again, or a run that is resumed after its end, get a new start
    line."""
    loops.note_logged(store, loop, 0)


def _end_line(store: Store, loop: Work, owner: str) -> dict[str, Any]:
    """Returns the end line of a loop that has ended, or whose session is over."""
    ended_at = loop.ended_at or _left_at(loop) or 0.0
    return {
        "loop_id": loop.id,
        "session_id": owner,
        "status": state_file.COMPLETED,
        "outcome": loop.result or ABANDONED,
        "ended_at": iso(ended_at),
        "duration_seconds": round(loop.seconds(ended_at)),
        "iterations": iterations.made(store, loop),
        "error_reason": None if loop.result == SUCCESS else loop.why or messages.LEFT_BEHIND,
    }


def as_dict(store: Store, loop: Work, owner: str) -> dict[str, Any]:
    """Returns both lines in one, as `ralph log --json` shows a loop."""
    start = _start_line(loop, owner)
    return {**start, **(_end_line(store, loop, owner) if loop.ended_at is not None else {})}


def remove(ids: Collection[str]) -> None:
    """Takes out the lines of deleted loops. To be called in a transaction: who appends has one,
    too. Raises `OSError`."""
    for path in (_path(), f"{_path()}.1"):
        if not os.path.isfile(path):
            continue
        with open(path, "rb") as file:
            lines = file.read().splitlines(keepends=True)
        left = [line for line in lines if _loop_id(line) not in ids]
        if left != lines:
            files.replace(path, b"".join(left), 0o600)


def _loop_id(line: bytes) -> str:
    """Returns whose line it is; "" if another program has written it."""
    try:
        return str(quick_json.loads(line)["loop_id"])
    except (ValueError, KeyError, TypeError, RecursionError):
        return ""


def _path() -> str:
    return os.path.join(paths.our_home(), "logs", "sessions.jsonl")


def _append(line: dict[str, Any]) -> None:
    path = _path()
    files.make_folder(os.path.dirname(path))
    if os.path.exists(path) and os.path.getsize(path) > MAX_BYTES:
        os.replace(path, f"{path}.1")
    with files.open_private(path, os.O_APPEND) as file:
        file.write(quick_json.dumps(line).encode() + b"\n")
