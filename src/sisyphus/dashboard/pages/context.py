from __future__ import annotations

from typing import TYPE_CHECKING

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from sisyphus.dashboard.charts.lines import Chart
from sisyphus.dashboard.given import DeskOf
from sisyphus.dashboard.pages.show import show
from sisyphus.dashboard.views import handoffs, usage

if TYPE_CHECKING:
    from sisyphus._types import Json

router = APIRouter(include_in_schema=False)

_WITH_TEXT = 10
_WHOLE = 100


@router.get("/context")
def page(request: Request, desk: DeskOf) -> Response:
    found, known = usage.sessions(desk), handoffs.handoffs(desk)
    return show(
        request,
        "context.html",
        title="Context",
        **found,
        alive=sum(row["is_alive"] for row in found["sessions"]),
        fullest=max((row["percent"] or 0 for row in found["sessions"]), default=0),
        handoffs=known,
        waiting=sum(row["state"] == handoffs.WAITING for row in known),
    )


@router.get("/context/{session}")
def of_session(request: Request, desk: DeskOf, session: str) -> Response:
    found = usage.of_session(desk, session)
    return show(
        request,
        "context_session.html",
        title=f"Context of {session[:8]}",
        of=found,
        chart=_chart(found) if found["has_transcript"] else None,
        loops=usage.loops_of(desk, session),
        handoffs=handoffs.handoffs(desk, session, texts=_WITH_TEXT),
    )


@router.get("/handoffs/{project}/{named}")
def handoff(request: Request, desk: DeskOf, project: str, named: str) -> Response:
    found = handoffs.handoff(desk, project, named)
    return show(request, "handoff.html", title="Handoff", one=found)


def _chart(found: Json) -> Chart:
    """What has no time cannot be drawn."""
    points = [(one["at"], one["percent"]) for one in found["points"] if one["at"]]
    levels = [(at, f"{name.upper()} {at:g} %") for name, at in found["thresholds"].items()]
    cuts = [(one["at"], _cut(one)) for one in found["compactions"] if one["at"]]
    return Chart([points], levels=levels, marks=cuts, high=_WHOLE, form="{:.0f} %")


def _cut(one: Json) -> str:
    return f"Compacted at {one['percent']:.0f} %" if one["percent"] else "Compacted"
