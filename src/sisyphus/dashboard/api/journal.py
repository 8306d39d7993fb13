from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from sisyphus.dashboard.api.common import failing
from sisyphus.dashboard.api.models.journal import Journal
from sisyphus.dashboard.given import DeskOf
from sisyphus.dashboard.views import journal as view

router = APIRouter(prefix="/api", tags=["journal"])

OfSession = Annotated[
    str, Query(max_length=200, description="An id or how it begins; none: the latest sessions.")
]
Event = Annotated[
    str,
    Query(
        max_length=100,
        description="This event alone.",
        json_schema_extra={"enum": ["", *view.NAMES]},
    ),
]
Quiet = Annotated[bool, Query(description="Also hooks that had nothing to do.")]
Before = Annotated[int, Query(ge=0, le=2**53, description="`older` of the page before; 0: newest.")]
HowMany = Annotated[int, Query(ge=1, le=view.MOST, description="How many lines.")]


@router.get("/journal", summary="What hooks decided", responses=failing(_404="NOT_FOUND"))
def entries(  # one a parameter of the query
    desk: DeskOf,
    session: OfSession = "",
    event: Event = "",
    quiet: Quiet = False,
    before: Before = 0,
    count: HowMany = view.COUNT,
) -> Journal:
    """What hooks decided and why, of one session or of those whose journals were written last."""
    found = view.entries(desk.memory, view.Asked(session, event, quiet, before, count))
    return Journal.model_validate(found)
