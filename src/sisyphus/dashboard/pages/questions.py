"""Asks before something is done to loops, and does it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, NamedTuple
from urllib.parse import urlencode

from fastapi import APIRouter, Query
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from sisyphus.dashboard import loop_actions
from sisyphus.dashboard.given import DeskOf
from sisyphus.dashboard.pages.done import DELETE_ALL
from sisyphus.dashboard.pages.show import show
from sisyphus.dashboard.rendering import segment
from sisyphus.dashboard.views import loop as view
from sisyphus.ralph import stale
from sisyphus.text import one_line

if TYPE_CHECKING:
    from sisyphus.dashboard.desk import Desk
    from sisyphus.dashboard.loop_actions import Meant

router = APIRouter(include_in_schema=False)

LIST = "/loops?state=archived"

Before = Annotated[str, Query(max_length=40)]
Loops = Annotated[int, Query(ge=0, le=10**9)]


class _Question(NamedTuple):
    verb: str
    text: str
    is_final: bool = False


_QUESTIONS = {
    view.CANCEL: _Question("Cancel the loop", "It ends now; its session may stop.", True),
    view.PAUSE: _Question("Pause the loop", "Its session may stop; the loop keeps its place."),
    view.RESUME: _Question(
        "Resume the loop",
        "It goes on where it was, and its circuit breaker is closed.",
    ),
    view.ARCHIVE: _Question(
        "Archive the loop", "Nobody saw how it ended: it is put with those that are over."
    ),
    view.DELETE: _Question(
        "Delete the loop",
        "Its lines of the history, its transcripts and its checklist are gone for good.",
        True,
    ),
}


@router.get("/archived-loops/delete")
def ask_of_all(request: Request, desk: DeskOf) -> Response:
    agreed = loop_actions.to_agree(desk)
    count = agreed.loops
    return show(
        request,
        "ask.html",
        title="Delete all archived loops",
        text=f"{count:,} loop{'s' * (count != 1)} that ended or were lost: their lines of the "
        "history, their transcripts and their checklists are gone for good.",
        note="Whatever the list shows. Active and paused loops stay, and what ends from now on.",
        action=f"/archived-loops/delete?{urlencode(agreed._asdict())}",
        verb=f"Delete {count:,} loop{'s' * (count != 1)}",
        back=LIST,
        is_final=True,
    )


@router.post("/archived-loops/delete")
def delete_all(desk: DeskOf, before: Before, loops: Loops) -> Response:
    loop_actions.delete_archived(desk, loop_actions.Agreed(before, loops))
    return RedirectResponse(f"{LIST}&done={DELETE_ALL}", 303)


@router.get("/loops/{loop_id}/{action}")
def ask(request: Request, desk: DeskOf, loop_id: str, action: str) -> Response:
    found = loop_actions.meant(desk, loop_id, action)
    question, here = _QUESTIONS[action], f"/loops/{segment(loop_id)}"
    return show(
        request,
        "ask.html",
        title=f"{question.verb} {loop_id}?",
        text=" ".join(
            filter(None, [question.text, _too(desk, found, action), _then(found, action)])
        ),
        note=one_line(found.record.task, 160),
        action=f"{here}/{action}",
        verb=question.verb,
        back=here,
        is_final=question.is_final,
    )


@router.post("/loops/{loop_id}/{action}")
def do(desk: DeskOf, loop_id: str, action: str) -> Response:
    loop_actions.do(desk, loop_id, action)
    gone = action == view.DELETE
    place = f"{LIST}&" if gone else f"/loops/{segment(loop_id)}?"
    return RedirectResponse(f"{place}done={action}", 303)


def _then(found: Meant, action: str) -> str:
    """What else it takes until it moves."""
    if action != view.RESUME or not found.live:
        return ""
    if found.live["health"] == stale.ALIVE:
        return "If its session is idle, give it a prompt there: that makes it move."
    return "Its client has gone: the loop's page then has the command that takes up its session."


def _too(desk: Desk, found: Meant, action: str) -> str:
    """What else ends."""
    others = loop_actions.ending_too(desk, found.live) if found.live else []
    if action != view.CANCEL or not others:
        return ""
    named = ", ".join(f"{row['loop_id']} ({row['description']})" for row in others)
    return f"These loops of the session end with it: {one_line(named, 600)}."
