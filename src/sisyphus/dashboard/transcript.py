"""The page of a loop's transcript: what its agent said and did."""

from __future__ import annotations

from sisyphus.dashboard import loops as loop_pages
from sisyphus.dashboard import paging
from sisyphus.dashboard.page import Desk, NotThereError, Params
from sisyphus.ground.record import Record, replace
from sisyphus.ground.text import one_line
from sisyphus.loops import loops, messages, transcripts
from sisyphus.loops.runs import Run
from sisyphus.loops.transcripts import Stop

SHOWN_STOPS = 200
SHOWN_CHARACTERS = 150_000
"""The most that a page shows: rendering so much Markdown takes half a second."""

_STEP = 40
"""The characters of text that the frame of one step costs as much as."""


class Transcript(Record, frozen=True):
    """A part of the transcript of a loop, hold or run.

    iteration: the one that it is about; 0 = all. stops: oldest first. total: how many there are.
    first: the place of the first one shown, from 0. is_last: no later ones exist. text: the end of
    the transcript as text, if there are only files of version 1.0.0; else "".
    """

    id: str
    kind: str
    task: str
    iteration: int
    stops: list[Stop]
    total: int
    first: int
    is_last: bool
    text: str


def query(desk: Desk, params: Params) -> Transcript:
    """Returns the last Stops, those before the place `before`, or those of one iteration."""
    loop = loops.find(desk.store, params["id"])
    if loop is None:
        raise NotThereError(messages.unknown_loop(params["id"]))
    iteration = paging.number(params, "iteration")
    stops = transcripts.read(loop.id)
    if iteration:
        stops = [each for each in stops if each.iteration == iteration]
    end = min(paging.number(params, "before") or len(stops), len(stops))
    first = _first_shown(stops, end)
    folder = loop.folder if isinstance(loop, Run) else loop.project
    shown = [_with_short_paths(each, folder) for each in stops[first:end]]
    text = "" if stops else transcripts.read_text(loop.id, iteration)[-SHOWN_CHARACTERS:]
    return Transcript(
        loop.id, loop.kind, one_line(loop.task, loop_pages.TASK_CHARACTERS), iteration,
        shown, len(stops), first, end == len(stops), text,
    )  # fmt: skip


def _with_short_paths(stop: Stop, folder: str) -> Stop:
    """Returns a Stop whose calls name files as people do. folder: where the agent works."""
    steps = [
        replace(each, text=messages.short_target(each.text, folder)) if each.tool else each
        for each in stop.steps
    ]
    return replace(stop, steps=steps)


def _first_shown(stops: list[Stop], end: int) -> int:
    """Returns the place of the first Stop that fits on a page that ends before `end`."""
    first, size = end, 0
    while first and end - first < SHOWN_STOPS:
        stop = stops[first - 1]
        steps = sum(len(step.tool) + len(step.text) + _STEP for step in stop.steps)
        size += len(stop.check) + steps
        if size > SHOWN_CHARACTERS and first < end:
            break
        first -= 1
    return first
