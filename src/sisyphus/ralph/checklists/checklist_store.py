"""Checklists on disk, one a loop: `ralph/checklists/LOOP-checklist.json`. They outlive the loop."""

from __future__ import annotations

import os

from sisyphus.paths import is_safe_id
from sisyphus.state.files import read_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from sisyphus._types import Json


def checklist_path(ours: str, loop_id: str) -> str:
    return os.path.join(ours, "ralph", "checklists", f"{loop_id}-checklist.json")


def read(ours: str, loop_id: str) -> Json | None:
    """What the file holds, without the lock; None where there is none, or none that is readable."""
    return read_json(checklist_path(ours, loop_id)) if is_safe_id(loop_id) else None


def update(ours: str, loop: Json, at: str, change: Callable[[Json], Json]) -> Json:
    """Changes the checklist of `loop` (a row of `actions.list_loops`), at the time `at`; returns
    what it is then. Raises what `change` and `update_json` raise."""
    from sisyphus.state.files import update_json

    def with_times(found: Json) -> Json | None:
        changed = change(found)
        if changed == found:
            return None
        return {**_head(loop), "created_at": at, "updated_at": at, **changed} | {"updated_at": at}

    return update_json(checklist_path(ours, loop["loop_id"]), with_times, indent=2)


def empty(loop: Json) -> Json:
    """A checklist that was never written."""
    return {**_head(loop), "completion_criteria": []}


def _head(loop: Json) -> Json:
    return {
        "version": 1,
        "loop_id": loop["loop_id"],
        "session_id": loop["session_id"],
        "project": loop["project"],
        "project_name": os.path.basename(loop["project"]),
    }
