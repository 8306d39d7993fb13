from __future__ import annotations

from typing import TYPE_CHECKING

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from sisyphus.dashboard.charts.lines import Chart
from sisyphus.dashboard.given import DeskOf
from sisyphus.dashboard.pages.address import Address
from sisyphus.dashboard.pages.done import to_loop
from sisyphus.dashboard.pages.loops import QUERY_CHARACTERS
from sisyphus.dashboard.pages.show import show
from sisyphus.dashboard.rendering import segment
from sisyphus.dashboard.views import export, fresh_run, transcripts
from sisyphus.dashboard.views import loop as view

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sisyphus._types import Json

router = APIRouter(include_in_schema=False)

STOPS = 50
"""Of a page."""

_DRAWN, _FEWEST = 500, 3
_WHOLE, _THOUSAND = 100, 1_000


@router.get("/loops/{loop_id}")
def page(request: Request, desk: DeskOf, loop_id: str, page: int = 1, done: str = "") -> Response:
    if not view.is_known(desk, loop_id) and (run := fresh_run.find(desk, loop_id)):
        return show(request, "fresh_run.html", title=f"Run {loop_id}", of=run)
    found = view.loop(desk, loop_id)
    pages = max(-(-len(found["stops"]) // STOPS), 1)
    page = min(max(page, 1), pages)
    stops = found["stops"][::-1][(page - 1) * STOPS : page * STOPS]
    return show(
        request,
        "loop.html",
        title=f"Loop {loop_id}",
        of=found,
        told=to_loop(done, found),
        stops=stops,
        page=page,
        pages=pages,
        address=Address(f"/loops/{loop_id}", {}),
        texts=transcripts.with_text(desk.ours, loop_id, (one["iteration"] for one in stops)),
        context=_chart(found["stops"], "context", high=_WHOLE, form="{:.0f} %"),
        tokens=_chart(found["stops"], "tokens", _THOUSAND, form="{:,.1f} k"),
    )


@router.get("/loops/{loop_id}/transcript")
def transcript(  # one a parameter
    request: Request, desk: DeskOf, loop_id: str, iteration: int = 0, q: str = "", page: int = 1
) -> Response:
    """`iteration` 0 = all of them in one text."""
    record, q = view.find(desk, loop_id), q[:QUERY_CHARACTERS]
    rows = transcripts.iterations(desk.ours, loop_id)
    if iteration:
        said = transcripts.text(desk.ours, loop_id, iteration)
    else:
        said = transcripts.full(desk.ours, loop_id)
    shown = transcripts.page(said, page, q)
    return show(
        request,
        "transcript.html",
        title=f"Transcript of loop {loop_id}",
        record=record,
        rows=[row for row in rows if row["size"]],
        iteration=iteration,
        said=said,
        shown=shown,
        q=q,
        address=Address(f"/loops/{loop_id}/transcript", {"iteration": iteration, "q": q}),
    )


@router.get("/loops/{loop_id}/export.md")
def export_(desk: DeskOf, loop_id: str) -> Response:
    found = view.loop(desk, loop_id)
    text = export.markdown(found, transcripts.texts(desk.ours, loop_id))
    named = f'attachment; filename="loop-{segment(loop_id)}.md"'
    return PlainTextResponse(
        text, media_type="text/markdown", headers={"content-disposition": named}
    )


def _chart(
    stops: Sequence[Json], name: str, unit: int = 1, *, high: float = 0, form: str = "{:,g}"
) -> Chart | None:
    """By iteration: many end within a second. None where there is too little to see anything."""
    drawn = [one for one in stops[-_DRAWN:] if one["iteration"] and one[name] is not None]
    points = [(one["iteration"], one[name] / unit) for one in drawn]
    if len(points) < _FEWEST or not any(value for _, value in points):
        return None
    return Chart([points], high=high, form=form, by="iteration")
