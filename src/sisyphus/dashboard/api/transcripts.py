from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from fastapi import APIRouter, Query, Request
from starlette.responses import PlainTextResponse, Response

from sisyphus.dashboard.api.common import UNKNOWN, LoopId
from sisyphus.dashboard.api.models.texts import FullText, Iterations, TranscriptOverview
from sisyphus.dashboard.failures import not_found
from sisyphus.dashboard.given import DeskOf
from sisyphus.dashboard.views import transcripts as view
from sisyphus.dashboard.views.loop import find
from sisyphus.times import iso

if TYPE_CHECKING:
    from sisyphus._types import Json
    from sisyphus.dashboard.desk import Desk

router = APIRouter(prefix="/api/transcript", tags=["transcripts"])

COUNT, MOST = 20, 100
CHARACTERS, MOST_CHARACTERS = 200_000, 2_000_000

_TEXT = "text/plain"

From = Annotated[
    int, Query(alias="from", ge=0, le=2**31, description="The first iteration that is told.")
]
HowMany = Annotated[int, Query(ge=1, le=MOST, description="How many iterations.")]
Offset = Annotated[int, Query(ge=0, le=2**31, description="In characters.")]
Limit = Annotated[int, Query(ge=1, le=MOST_CHARACTERS, description="In characters.")]
Format = Annotated[
    Literal["json", "text"] | None,
    Query(description="`text`: as plain text; without it `Accept: text/plain` asks for that."),
]


@router.get("/{loop_id}", summary="Which transcripts there are", responses=UNKNOWN)
def overview(desk: DeskOf, loop_id: LoopId) -> TranscriptOverview:
    """How many iterations were noted, and how long the texts are."""
    find(desk, loop_id)
    rows, full = view.iterations(desk.ours, loop_id), view.full(desk.ours, loop_id)
    return TranscriptOverview(
        loop_id=loop_id,
        has_iterations=bool(rows),
        has_full=bool(full),
        iterations=len(rows),
        iterations_bytes=sum(row["size"] for row in rows),
        full_characters=len(full),
    )


@router.get("/{loop_id}/iterations", summary="Iterations with their texts", responses=UNKNOWN)
def iterations(
    desk: DeskOf, loop_id: LoopId, first: From = 0, count: HowMany = COUNT
) -> Iterations:
    """What was decided at the end of each iteration, what it took, and what was said in it."""
    find(desk, loop_id)
    every = view.iterations(desk.ours, loop_id)
    numbered = (row for row in every if row["iteration"] >= first)
    found = sorted(numbered, key=lambda row: int(row["iteration"]))
    rows = [_with_text(desk, loop_id, row) for row in found[:count]]
    after = found[count]["iteration"] if len(found) > count else None
    return Iterations.model_validate(
        {"loop_id": loop_id, "iterations": rows, "total": len(every), "next_from": after}
    )


@router.get(
    "/{loop_id}/full",
    summary="The whole transcript",
    response_model=FullText,
    responses={**UNKNOWN, 200: {"content": {_TEXT: {"schema": {"type": "string"}}}}},
)
def full(  # one a parameter of the query
    request: Request,
    desk: DeskOf,
    loop_id: LoopId,
    offset: Offset = 0,
    limit: Limit = CHARACTERS,
    form: Annotated[Format, Query(alias="format")] = None,
) -> Response | FullText:
    """All iterations as one text, each below a heading: so many characters of it. It is at most
    20 MB long."""
    find(desk, loop_id)
    said = view.full(desk.ours, loop_id)
    if not said:
        raise not_found(f"nothing was kept of what was said in loop {loop_id}.")
    text = said[offset : offset + limit]
    if form == "text" or (form is None and _wants_text(request)):
        return PlainTextResponse(text)
    after = offset + limit if offset + limit < len(said) else None
    return FullText(loop_id=loop_id, text=text, offset=offset, next_offset=after, total=len(said))


def _wants_text(request: Request) -> bool:
    return request.headers.get("accept", "").strip().casefold().startswith(_TEXT)


def _with_text(desk: Desk, loop_id: str, row: Json) -> Json:
    text = view.text(desk.ours, loop_id, row["iteration"])
    return {**row, "timestamp": iso(row["at"]) if row["at"] else None, "output": text}
