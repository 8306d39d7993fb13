"""What people do with loops: plain functions for the command line, from any folder."""

from __future__ import annotations

import os

from sisyphus.errors import SisyphusError, UnreadableError
from sisyphus.paths import is_safe_id
from sisyphus.ralph import statefile, store
from sisyphus.reading import read_bytes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus._types import Json
    from sisyphus.ralph.loop import Loop


def list_loops(ours: str) -> list[Json]:
    """Every loop that has not ended, of all sessions: its state, its prompt, its file."""
    rows = []
    for name in _names(ours):
        path = os.path.join(store.folder(ours), name)
        try:
            loop = statefile.parse(read_bytes(path, store.LOOP_BYTES).decode())
        except (UnreadableError, ValueError):
            continue  # the next Stop of its session sets it aside and says so
        if is_safe_id(loop.session_id) and name.startswith(f"ralph-loop.{loop.session_id}."):
            rows.append(_row(loop, path))
    return rows


def cancel(ours: str, session: str = "") -> list[Json]:
    """Ends a session's loops, those that wait for a nested one too; returns them.

    Without `session` the only session that has any is meant. Takes effect at its next Stop.
    """
    rows = list_loops(ours)
    sessions = sorted({row["session_id"] for row in rows if session in ("", row["session_id"])})
    if not sessions:
        where = f"session {session}" if session else "any session"
        raise SisyphusError(f"no loop is active in {where}. `sisyphus ralph list` shows them all.")
    if len(sessions) > 1:
        raise SisyphusError(
            f"several sessions have a loop; name one with --session-id: {', '.join(sessions)}"
        )
    with store.LoopStore(ours, sessions[0]) as held:
        held.save([])
    return [row for row in rows if row["session_id"] == sessions[0]]


def _names(ours: str) -> list[str]:
    try:
        names = os.listdir(store.folder(ours))
    except OSError:
        return []
    ends = (".local.md", ".outer.md")
    return sorted(n for n in names if n.startswith("ralph-loop.") and n.endswith(ends))


def _row(loop: Loop, path: str) -> Json:
    return {
        "session_id": loop.session_id,
        "loop_id": loop.loop_id,
        "project": loop.project,
        "description": loop.description,
        "status": loop.status,
        "iteration": loop.iteration,
        "max_iterations": loop.max_iterations,
        "completion_promise": loop.completion_promise,
        "started_at": loop.started_at,
        "prompt": loop.prompt,
        "state_file_path": path,
    }
