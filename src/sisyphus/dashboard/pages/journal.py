from __future__ import annotations

from typing import TYPE_CHECKING

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from sisyphus import journal
from sisyphus.dashboard.api.journal import Before, Event, OfSession, Quiet
from sisyphus.dashboard.failures import FailedError
from sisyphus.dashboard.given import DeskOf
from sisyphus.dashboard.pages.address import Address
from sisyphus.dashboard.pages.show import show
from sisyphus.dashboard.views import journal as view
from sisyphus.times import local

if TYPE_CHECKING:
    from sisyphus._types import Json
    from sisyphus.dashboard.desk import Desk

router = APIRouter(include_in_schema=False)

_SECONDS = "%Y-%m-%d %H:%M:%S"


@router.get("/journal")
def page(  # one a parameter of the query
    request: Request,
    desk: DeskOf,
    session: OfSession = "",
    event: Event = "",
    quiet: Quiet = False,
    before: Before = 0,
) -> Response:
    asked = view.Asked(session, event, quiet, before)
    found, problem, status = _found(desk, asked)
    projects = {one.session: one.project for one in desk.sessions()}
    chosen = {"session": session, "event": event, "quiet": int(quiet)}
    address = Address("/journal", chosen)
    return show(
        request,
        "journal.html",
        title="Journal",
        status=status,
        asked=asked,
        problem=problem,
        rows=[_row(row, projects) for row in found["entries"]],
        session_id=found["session_id"],
        events=view.NAMES,
        older=address(before=found["older"]) if found["older"] else "",
        newest=address() if before else "",
        is_cut=found["is_cut"],
        costs=_costs(desk, found["session_id"]) if not problem else [],
    )


def _found(desk: Desk, asked: view.Asked) -> tuple[Json, str, int]:
    """What was asked for, or why it cannot be told: the filter is to be set right on the page."""
    try:
        return view.entries(desk.memory, asked), "", 200
    except FailedError as error:
        nothing: Json = {"session_id": None, "entries": [], "older": None, "is_cut": False}
        return nothing, str(error), error.status


def _row(row: Json, projects: dict[str, str]) -> Json:
    project = projects.get(row["session_id"], "")
    return {**row, "clock": local(row["at"], _SECONDS), "project": project}


def _costs(desk: Desk, session: str | None) -> list[Json]:
    """What the hooks of each event cost, of one session or of all."""
    if session is None:
        return desk.costs()
    return [cost.as_json() for cost in journal.costs(desk.memory, session=session)]
