from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from sisyphus.dashboard.api.common import failing
from sisyphus.dashboard.api.values import Object
from sisyphus.dashboard.given import DeskOf
from sisyphus.dashboard.views import enforcement as view

router = APIRouter(prefix="/api", tags=["enforcement"])

Project = Annotated[str, Query(max_length=200, description="A `project_id`; none: all.")]


@router.get("/enforcement", summary="Continuous enforcement", responses=failing(_404="NOT_FOUND"))
def enforcement(desk: DeskOf, project: Project = "") -> Object:
    """How continuous enforcement stands in each project that was ever enforced, or in one (its id),
    and what its log comes to. Times are epoch seconds, but for those of `state`, which are
    milliseconds, and those in ISO 8601; null is what is not known."""
    return view.enforcement(desk, project)
