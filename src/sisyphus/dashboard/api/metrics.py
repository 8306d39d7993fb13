from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import PlainTextResponse

from sisyphus import __version__
from sisyphus.dashboard.given import DeskOf
from sisyphus.dashboard.views import metrics as view

TYPE = "text/plain; version=0.0.4; charset=utf-8"

router = APIRouter(tags=["metrics"])


@router.get("/metrics", summary="Numbers for Prometheus", response_class=PlainTextResponse)
def metrics(desk: DeskOf) -> PlainTextResponse:
    """Loops, sessions, hooks and plans in numbers, in the text format of Prometheus."""
    desk.count()
    text = view.metrics(desk.tally, desk.sessions(), desk.known(), desk.boulders(), __version__)
    return PlainTextResponse(text, media_type=TYPE)
