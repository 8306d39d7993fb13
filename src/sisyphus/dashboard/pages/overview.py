from __future__ import annotations

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from sisyphus.dashboard.charts.bars import Bars, Kind
from sisyphus.dashboard.given import DeskOf
from sisyphus.dashboard.pages.show import show
from sisyphus.dashboard.views import overview as view

router = APIRouter(include_in_schema=False)

_KINDS = (
    Kind("good", "ended as promised"),
    Kind("warn", "ended at a limit or by a fault"),
    Kind("idle", "cancelled or given up"),
)


@router.get("/")
def page(request: Request, desk: DeskOf) -> Response:
    found = view.overview(desk)
    chart = Bars(found["days"], _KINDS)
    waiting = found["attention"]["total"]
    title = f"({waiting:,}) Overview" if waiting else "Overview"
    return show(request, "overview.html", title=title, **found, chart=chart, now=desk.now())
