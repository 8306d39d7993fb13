"""What became of each Stop of an enforced session: `projects/ID/enforcements.jsonl`, for people."""

from __future__ import annotations

import os

from sisyphus.state import jsonl
from sisyphus.state.files import append_line
from sisyphus.times import iso

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus._types import Json
    from sisyphus.workspace import Workspace

ENFORCED, HELD_BACK = "enforced", "held back"
STOPPED, LIFTED, RESTS, ON, OFF = "stopped", "lifted", "rests", "on", "off"

ROTATE_BYTES = 1_000_000


def log_path(space: Workspace) -> str:
    return space.project_file("enforcements.jsonl")


def row(now: float, session: str, what: str, why: str = "", **more: int | str) -> Json:
    """`more`: the `layer` that had a part in it, and the `claim` of the model."""
    told = {name: value for name, value in more.items() if value}
    return {"at": iso(now), "session_id": session, "what": what, "why": why, **told}


def append(space: Workspace, rows: list[Json]) -> None:
    """The caller holds the lock of the record, so that nobody rotates at the same time."""
    path = log_path(space)
    for one in rows:
        append_line(path, one)
    if rows and os.path.getsize(path) > ROTATE_BYTES:
        os.replace(path, path + ".1")


def read(space: Workspace, last: int) -> list[Json]:
    """The last rows, oldest first."""
    path = log_path(space)
    found = list(jsonl.read(path))
    if len(found) < last:
        found = [*jsonl.read(path + ".1"), *found]
    return found[-last:] if last > 0 else []
