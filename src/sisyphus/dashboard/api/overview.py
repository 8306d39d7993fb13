from __future__ import annotations

from fastapi import APIRouter

from sisyphus.dashboard.api import shapes
from sisyphus.dashboard.api.models.overview import Overview
from sisyphus.dashboard.given import DeskOf
from sisyphus.dashboard.views import loops
from sisyphus.dashboard.views import overview as view

router = APIRouter(prefix="/api", tags=["overview"])


@router.get("/overview", summary="How everything stands")
def overview(desk: DeskOf) -> Overview:
    """Loops, plans and sessions in a few numbers."""
    found = view.overview(desk)
    return Overview.model_validate({
        **found,
        "active": [shapes.session(row) for row in found["active"]],
        "ended": [shapes.session(row) for row in loops.rows(desk, found["ended"])],
        "days": [{"day": day, **counts} for day, counts in found["days"]],
    })  # fmt: skip
