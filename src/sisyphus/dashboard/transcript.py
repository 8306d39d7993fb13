"""The page of a loop's transcript: what its agent said and did."""

from __future__ import annotations

from sisyphus.dashboard import loops as loop_pages
from sisyphus.dashboard import paging
from sisyphus.dashboard.page import Desk, NotThereError, Params
from sisyphus.ground.record import Record
from sisyphus.ground.text import one_line
from sisyphus.loops import loops, messages, transcripts
from sisyphus.loops.transcripts import Stop

SHOWN_STOPS = 200
SHOWN_CHARACTERS = 150_000
"""The most that a page shows: rendering so much Markdown takes half a second."""


class Transcript(Record, frozen=True):
    """A part of the transcript of a loop, hold or run.

    iteration: the one that it is about; 0 = all. stops: oldest first. total: how many there are.
    first: the place of the first one shown, from 0. is_last: no later ones exist.
    """

    id: str
    kind: str
    task: str
    iteration: int
    stops: list[Stop]
    total: int
    first: int
    is_last: bool


def query(desk: Desk, params: Params) -> Transcript:
    """Returns the last Stops, those before the place `before`, or those of one iteration."""
    loop = loops.find(desk.store, params["id"])
    if loop is None:
        raise NotThereError(messages.unknown_loop(params["id"]))
    iteration = paging.number(params, "iteration")
    texts = _of_iteration(loop.id, iteration) if iteration else _all(loop.id)
    end = min(paging.number(params, "before") or len(texts), len(texts))
    first = _first_shown(texts, end)
    stops = [transcripts.parse(text) for text in texts[first:end]]
    task = one_line(loop.task, loop_pages.TASK_CHARACTERS)
    return Transcript(
        loop.id, loop.kind, task, iteration, stops, len(texts), first, end == len(texts)
    )


def _all(loop: str) -> list[str]:
    return transcripts.split(transcripts.read(loop))


def _of_iteration(loop: str, number: int) -> list[str]:
    """Returns the Stops of an iteration. An old one has no file of its own any more."""
    own = transcripts.split(transcripts.read(loop, number))
    return own or [text for text in _all(loop) if transcripts.iteration_of(text) == number]


def _first_shown(texts: list[str], end: int) -> int:
    """Returns the place of the first Stop that fits on a page that ends before `end`."""
    first, size = end, 0
    while first and end - first < SHOWN_STOPS:
        size += len(texts[first - 1])
        if size > SHOWN_CHARACTERS and first < end:
            break
        first -= 1
    return first
