from __future__ import annotations

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from sisyphus.dashboard import known_project
from sisyphus.dashboard.given import DeskOf
from sisyphus.dashboard.pages.address import Address
from sisyphus.dashboard.pages.done import to_list
from sisyphus.dashboard.pages.show import show
from sisyphus.dashboard.views import loops

router = APIRouter(include_in_schema=False)

CARDS = "cards"
QUERY_CHARACTERS = 500

_SORTED_BY = {
    loops.NEWEST: "Newest first",
    loops.OLDEST: "Oldest first",
    loops.ENDED: "Ended last first",
    loops.LONGEST: "Longest first",
    loops.ITERATIONS: "Most iterations first",
    loops.PROJECT: "By project",
}
_TABS = {loops.ACTIVE: "Active", loops.ARCHIVED: "Archived", loops.ALL: "All"}


@router.get("/loops")
def page(  # one a field of the form
    request: Request,
    desk: DeskOf,
    state: str = "",
    q: str = "",
    project: str = "",
    outcome: str = "",
    sort: str = "",
    view: str = "",
    page: int = 1,
    done: str = "",
) -> Response:
    state = state if state in loops.STATES else loops.ACTIVE
    sort = sort if sort in loops.SORTS else loops.NEWEST
    q = q[:QUERY_CHARACTERS]
    asked = {"q": q, "project": project, "outcome": outcome}
    found = loops.chosen(
        desk, state=state, q=q, project=project, outcome=outcome, sort=sort, page=page
    )
    known_project.check(desk, project, {one.id for one in found.projects})
    kept = {
        "state": state if state != loops.ACTIVE else "",
        **asked,
        "sort": sort if sort != loops.NEWEST else "",
        "view": CARDS if view == CARDS else "",
    }
    return show(
        request,
        "loops.html",
        title="Loops",
        found=found,
        told=to_list(done),
        asked=asked,
        state=state,
        sort=sort,
        is_cards=view == CARDS,
        tabs=_TABS,
        sorts=_SORTED_BY,
        address=Address("/loops", kept),
    )
