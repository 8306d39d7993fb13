"""What is taken from a state file that no run of this user wrote.

It may say what the task is and how far it has got. It names no command, no process, and no file
but such as lie in the project.
"""

from __future__ import annotations

import os

from sisyphus.paths import is_inside, is_safe_id

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus._types import Json
    from sisyphus.runner.keep.places import Places

NOT_TAKEN = ("options", "in_flight", "waiting", "signs", "note", "runner")


def harmless(places: Places, found: Json) -> Json:
    kept = {name: value for name, value in found.items() if name not in NOT_TAKEN}
    kept["context_checkpoint"] = _checkpoint(places, found.get("context_checkpoint"))
    return kept


def _checkpoint(places: Places, found: object) -> Json:
    """{} where its handoff lies elsewhere: the client is told to read it."""
    if not isinstance(found, dict) or not _is_here(places, found.get("handoff_file")):
        return {}
    files = found.get("files_in_progress")
    rows = files if isinstance(files, list) else []
    inside = [
        row
        for row in rows
        if isinstance(row, dict) and _lies_in(places.root, places.root, row.get("path"))
    ]
    session = found.get("session_id")
    safe = session if isinstance(session, str) and is_safe_id(session) else ""
    return {**found, "files_in_progress": inside, "session_id": safe}


def _is_here(places: Places, path: object) -> bool:
    """In the project, or where ours lie that could not be put there."""
    return any(_lies_in(folder, places.root, path) for folder in (places.root, places.handoffs))


def _lies_in(folder: str, root: str, path: object) -> bool:
    if not isinstance(path, str) or not path or "\0" in path:
        return False
    return is_inside(os.path.join(root, path), folder)
