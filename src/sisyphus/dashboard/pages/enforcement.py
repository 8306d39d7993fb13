from __future__ import annotations

from typing import TYPE_CHECKING

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from sisyphus.dashboard.charts.bars import Bars, Kind
from sisyphus.dashboard.given import DeskOf
from sisyphus.dashboard.pages.show import show
from sisyphus.dashboard.views import enforcement as view

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sisyphus._types import Json

router = APIRouter(include_in_schema=False)

_OF_DAYS = (
    Kind("good", "followed by work"),
    Kind("bad", "not followed by work"),
    Kind("idle", "held back"),
)
_OF_BACKOFF = (
    Kind("calm", "seconds until the next one may come"),
    Kind("accent", "seconds, where a session is now"),
    Kind("idle", "seconds of rest"),
)


@router.get("/enforcement")
def page(request: Request, desk: DeskOf, project: str = "") -> Response:
    found = view.enforcement(desk, project)
    return show(
        request,
        "enforcement.html",
        title="Enforcement",
        **found,
        project=project,
        chart=Bars(found["days"], _OF_DAYS),
        waits=_waits(found["backoff"]),
    )


def _waits(steps: Sequence[Json]) -> Bars:
    return Bars(
        [(f"{one['failures']}", {_kind(one): one["seconds"]}) for one in steps], _OF_BACKOFF
    )


def _kind(step: Json) -> str:
    if step["sessions"]:
        return "accent"
    return "idle" if step["rests"] else "calm"
