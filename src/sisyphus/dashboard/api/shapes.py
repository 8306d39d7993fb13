"""What views tell of loops, under the names of the API. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sisyphus.dashboard.api.models.loops import Done
from sisyphus.ralph.past import records

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sisyphus._types import Json

_OF_ACTIVE = ("health", "paused_by", "paused_since", "waiting", "last_stop_at")
_MERGED = {records.PAUSED: "active", records.LOST: "orphaned"}


def session(row: Json) -> Json:
    """`row`: of `views.loops.rows`."""
    progress, live = row["checklist"], row["live"] or {}
    return {
        **row,
        **{name: live.get(name) for name in _OF_ACTIVE},
        "merged_status": _MERGED.get(row["result"], row["result"]),
        "has_checklist": progress is not None,
        "checklist_progress": criteria(progress),
    }


def criteria(progress: Json | None) -> str | None:
    return f"{progress['done']}/{progress['total']} criteria" if progress else None


def done(loop_id: str, what: str, rows: Sequence[Json]) -> Done:
    """`rows`: the loops that it was done to."""
    ids = [str(row["loop_id"]) for row in rows]
    others = [other for other in ids if other != loop_id]
    also = f", and with it {', '.join(others)}" if others else ""
    text = f"Loop {loop_id} {what}{also}."
    return Done(success=True, message=text, loop_id=loop_id, loop_ids=ids)
