"""Loops, under the name that programs know them by."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Query

from sisyphus.dashboard import known_project
from sisyphus.dashboard.api import acting, shapes
from sisyphus.dashboard.api.common import UNKNOWN, LoopId, failing
from sisyphus.dashboard.api.models.loops import Deleted, Done, SessionDetail, Sessions
from sisyphus.dashboard.given import DeskOf
from sisyphus.dashboard.views import loop as view
from sisyphus.dashboard.views import loops

router = APIRouter(prefix="/api/sessions", tags=["sessions"])

LIMIT = 100

State = Annotated[
    Literal["all", "active", "archived"],
    Query(description="`active`: have not ended; `archived`: have ended or are lost."),
]
Project = Annotated[str, Query(max_length=200, description="A `project_id`.")]
Outcome = Annotated[
    str, Query(max_length=200, description="An outcome, or `lost`, `active`, `paused`.")
]
Words = Annotated[
    str,
    Query(max_length=500, description="Words that all stand in its id, task, promise or project."),
]
Sort = Annotated[
    Literal["newest", "oldest", "ended", "longest", "iterations", "project"],
    Query(description="The order."),
]
Limit = Annotated[int, Query(ge=1, le=loops.MOST, description="How many are told at once.")]
Page = Annotated[int, Query(ge=1, le=2**31, description="Behind the last one there are no loops.")]


@router.get("", summary="List loops", responses=failing(_404="NOT_FOUND"))
def sessions(  # one a parameter of the query
    desk: DeskOf,
    state: State = "all",
    project: Project = "",
    outcome: Outcome = "",
    q: Words = "",
    sort: Sort = "newest",
    limit: Limit = LIMIT,
    page: Page = 1,
) -> Sessions:
    """Every loop that is known, a page at a time."""
    found = loops.chosen(
        desk, state=state, project=project, outcome=outcome, q=q, sort=sort, page=page, count=limit
    )
    known_project.check(desk, project, {one.id for one in found.projects})
    return Sessions.model_validate(
        {
            "sessions": [shapes.session(row) for row in found.rows if page <= found.pages],
            "total": found.total,
            "active_count": found.counts[loops.ACTIVE],
            "page": page,
            "pages": found.pages,
        }
    )


@router.get("/{loop_id}", summary="One loop", responses=UNKNOWN)
def session(desk: DeskOf, loop_id: LoopId) -> SessionDetail:
    """The newest loop of this id and, while it has not ended, how it stands."""
    found = view.loop(desk, loop_id)
    return SessionDetail.model_validate({**shapes.session(found), "current": found["live"]})


@router.post("/{loop_id}/cancel", summary="Cancel a loop", responses=acting.codes(view.CANCEL))
def cancel(desk: DeskOf, loop_id: LoopId) -> Done:
    """Ends the loops of its session, those that wait for it or in it too; it takes effect when the
    agent next wants to stop."""
    return acting.act(desk, loop_id, view.CANCEL, "cancelled")


@router.post("/{loop_id}/pause", summary="Pause a loop", responses=acting.codes(view.PAUSE))
def pause(desk: DeskOf, loop_id: LoopId) -> Done:
    """Lets its session stop; the loop keeps its place."""
    return acting.act(desk, loop_id, view.PAUSE, "paused")


@router.post("/{loop_id}/resume", summary="Resume a loop", responses=acting.codes(view.RESUME))
def resume(desk: DeskOf, loop_id: LoopId) -> Done:
    """Goes on with a paused loop, whoever paused it. An idle session needs a prompt to move."""
    return acting.act(desk, loop_id, view.RESUME, "resumed")


@router.post("/{loop_id}/archive", summary="Archive a loop", responses=acting.codes(view.ARCHIVE))
def archive(desk: DeskOf, loop_id: LoopId) -> Done:
    """Gives an end, `archived`, to a loop that is lost: nobody saw its end."""
    return acting.act(desk, loop_id, view.ARCHIVE, "archived")


@router.delete("/{loop_id}", summary="Delete a loop", responses=acting.codes(view.DELETE))
def delete(desk: DeskOf, loop_id: LoopId) -> Done:
    """Deletes what the history says of a loop that is not active, its transcripts and its
    checklist, for good."""
    return acting.act(desk, loop_id, view.DELETE, "deleted")


@router.delete("", summary="Delete all archived loops", responses=acting.FAILED)
def delete_archived(desk: DeskOf) -> Deleted:
    """Deletes every loop that is not active, for good."""
    count = acting.delete_archived(desk)
    text = f"{count:,} loop{'' if count == 1 else 's'} deleted."
    return Deleted(success=True, message=text, deleted_count=count)
