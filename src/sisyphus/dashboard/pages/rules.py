from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Query
from starlette.requests import Request
from starlette.responses import Response

from sisyphus.dashboard import known_project
from sisyphus.dashboard.given import DeskOf
from sisyphus.dashboard.pages.show import show
from sisyphus.dashboard.views import rules as view
from sisyphus.paths import project_id

if TYPE_CHECKING:
    from sisyphus.dashboard.desk import Desk

router = APIRouter(include_in_schema=False)

Project = Annotated[str, Query(max_length=200)]


@router.get("/rules")
def page(request: Request, desk: DeskOf, project: Project = "") -> Response:
    known_project.check(desk, project)
    projects = desk.projects()
    named = project or _latest(desk, projects)
    if not named:
        return show(request, "no_rules.html", title="Rules")
    used = view.usage(desk.project(named), desk.memory)
    return show(request, "rules.html", title="Rules", projects=projects, named=named, used=used)


def _latest(desk: Desk, projects: dict[str, str]) -> str:
    """The project where something happened last; "" = none is known."""
    latest = sorted(desk.sessions(), key=lambda one: one.ended, reverse=True)
    ids = (project_id(one.project) for one in latest if one.project)
    return next((found for found in ids if found in projects), next(iter(projects), ""))
