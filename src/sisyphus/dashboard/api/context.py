from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path

from sisyphus.dashboard.api.common import failing
from sisyphus.dashboard.api.values import Object
from sisyphus.dashboard.given import DeskOf
from sisyphus.dashboard.views import handoffs, usage

router = APIRouter(prefix="/api", tags=["context"])

SessionId = Annotated[str, Path(max_length=128, description="A `session_id` of the list.")]
ProjectId = Annotated[str, Path(max_length=200, description="The `project_id` of a handoff.")]
HandoffId = Annotated[str, Path(max_length=128, description="The `id` of a handoff.")]
_UNKNOWN = failing(_404="NOT_FOUND")


@router.get("/context", summary="How full contexts are")
def contexts(desk: DeskOf) -> Object:
    """The latest sessions whose transcript is still there (`sessions`, the one seen last first;
    `total`, `with_transcript`), and the `handoffs` of all projects, the newest first. Times are
    epoch seconds; null is what is not known."""
    return {**usage.sessions(desk), "handoffs": handoffs.handoffs(desk)}


@router.get("/context/{session_id}", summary="One context over time", responses=_UNKNOWN)
def context_of(desk: DeskOf, session_id: SessionId) -> Object:
    """How full one session's context was (`points`, of which a chart needs no more;
    `compactions`), its `thresholds` in percent, what is advisable, and its `handoffs`."""
    found = usage.of_session(desk, session_id)
    return {**found, "handoffs": handoffs.handoffs(desk, session_id)}


@router.get("/handoffs/{project_id}/{handoff_id}", summary="One handoff", responses=_UNKNOWN)
def handoff(desk: DeskOf, project_id: ProjectId, handoff_id: HandoffId) -> Object:
    """With its `text`; where its file cannot be read, `problem` says why."""
    return handoffs.handoff(desk, project_id, handoff_id)
