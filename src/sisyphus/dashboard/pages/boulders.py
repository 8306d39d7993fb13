from __future__ import annotations

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from sisyphus.dashboard import known_project
from sisyphus.dashboard.given import DeskOf
from sisyphus.dashboard.pages.show import show
from sisyphus.dashboard.views import boulders as view

router = APIRouter(include_in_schema=False)


@router.get("/boulders")
def page(request: Request, desk: DeskOf, project: str = "", state: str = "") -> Response:
    found = view.boulders(desk, project, state)
    known_project.check(desk, project, found["projects"])
    return show(
        request, "boulders.html", title="Boulders", **found, project=project, state=state,
        is_filtered=bool(project or state),
    )  # fmt: skip


@router.get("/boulders/{named}")
def of_plan(request: Request, desk: DeskOf, named: str) -> Response:
    plan = view.boulder(desk, named)
    return show(request, "boulder.html", title=plan["plan_name"], plan=plan)
