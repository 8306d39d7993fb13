from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query

from sisyphus.dashboard import known_project
from sisyphus.dashboard.api.common import failing
from sisyphus.dashboard.api.models.plans import Boulders
from sisyphus.dashboard.api.values import Object
from sisyphus.dashboard.given import DeskOf
from sisyphus.dashboard.views import boulders as view

router = APIRouter(prefix="/api/boulders", tags=["boulders"])

Project = Annotated[str, Query(max_length=200, description="A `project_id`; none: all.")]
State = Annotated[
    str, Query(max_length=40, description="One of `states`, such as `active`; none: any.")
]
BoulderId = Annotated[str, Path(max_length=128, description="An `id` of the list.")]


@router.get("", summary="List plans", responses=failing(_404="NOT_FOUND"))
def boulders(desk: DeskOf, project: Project = "", state: State = "") -> Boulders:
    """Every plan that is followed in any project, the one touched last first, and the latest of
    those that no longer are."""
    found = view.boulders(desk, project, state)
    known_project.check(desk, project, found["projects"])
    rows = [*found["open"], *found["complete"], *found["others"]]
    return Boulders.model_validate({**found, "boulders": rows, "total": len(rows)})


@router.get("/{boulder_id}", summary="One plan", responses=failing(_404="NOT_FOUND"))
def boulder(desk: DeskOf, boulder_id: BoulderId) -> Object:
    """What `boulder status --json` answers, with its row of the list, its tasks by wave and story
    (`sections`), the lines of its history (`checkpoints`, `events`), the `sessions` that worked on
    it and the loops that hold them to it (`holds`)."""
    return view.boulder(desk, boulder_id)
