"""The page of all handoffs, and the page of one with its document."""

from __future__ import annotations

import json
import os
from typing import Any

from sisyphus.dashboard import paging
from sisyphus.dashboard.page import Desk, NotThereError, Params
from sisyphus.dashboard.paging import Pages
from sisyphus.ground import files, paths, worktree
from sisyphus.ground.errors import UnreadableError
from sisyphus.ground.record import Record
from sisyphus.ground.store import Store
from sisyphus.handoff import messages
from sisyphus.hook.session import Session
from sisyphus.loops import loops

_SIZE = 50


class Resumed(Record, frozen=True):
    """A file with which the next session begins. lines: as `10-40`; "" = all."""

    path: str
    lines: str


class HandoffRow(Record, frozen=True):
    """A handoff.

    why: a sentence. level: of the context when it was written, as `L2 (Checkpoint)`. percent: of
    the context; 0 = unknown. next_step: "" = unknown. state: open, given or closed. session: that
    wrote it. taker: the session that got it; "" = none, or a run. loop: the id of the loop, hold or
    run that it is about; "" = none.
    """

    number: int
    project: str
    file: str
    at: float
    why: str
    level: str
    percent: int
    next_step: str
    files: list[Resumed]
    state: str
    session: str
    taker: str
    loop: str


class Project(Record, frozen=True):
    project: str
    handoffs: list[HandoffRow]


class Handoffs(Record, frozen=True):
    """A page of handoffs, the newest first, by project."""

    projects: list[Project]
    pages: Pages


class HandoffPage(Record, frozen=True):
    """A handoff and its document, which is Markdown. problem: why the document is not shown; "" =
    it is. resume: what the next session gets."""

    handoff: HandoffRow
    document: str
    problem: str
    resume: str


_SELECT = (
    "SELECT handoff.n, handoff.project, file, at, why, handoff.level, percent, summary, files, "
    "state, session, taker, loop FROM handoff"
)


def query(desk: Desk, params: Params) -> Handoffs:
    count = desk.store.one("SELECT count(*) FROM handoff")
    pages = paging.choose(params, count[0] if count else 0, _SIZE)
    rows = desk.store.all(
        f"{_SELECT} ORDER BY at DESC, handoff.n DESC LIMIT ? OFFSET ?",
        _SIZE, _SIZE * (pages.number - 1),
    )  # fmt: skip
    projects: dict[str, Project] = {}
    for row in (_row(desk.store, row) for row in rows):
        projects.setdefault(row.project, Project(row.project, [])).handoffs.append(row)
    return Handoffs(list(projects.values()), pages)


def query_one(desk: Desk, params: Params) -> HandoffPage:
    """params: `n`, the number of the handoff's row."""
    number = paging.number(params, "n")
    found = desk.store.one(f"{_SELECT} WHERE handoff.n = ?", number)
    resume = desk.store.one("SELECT resume FROM handoff WHERE n = ?", number)
    if found is None or resume is None:
        raise NotThereError(
            "No handoff has this number here. The page Handoffs lists all that there are."
        )
    row, document, problem = _row(desk.store, found), "", ""
    try:
        document = _read(row, desk.our_home)
    except UnreadableError as error:
        problem = str(error)
    return HandoffPage(row, document, problem, resume[0])


def _row(store: Store, row: tuple[Any, ...]) -> HandoffRow:
    (number, project, file, at, why, level, percent, summary, resumed, state, session, taker,
     loop) = row  # fmt: skip
    return HandoffRow(
        number, project, file, at, messages.occasion(percent, level, why),
        messages.level_name(level), percent, summary,
        [Resumed(path, lines) for path, lines in json.loads(resumed)], state,
        Session.load(store, session).id, Session.load(store, taker).id,
        loop if loops.find(store, loop) else "",
    )  # fmt: skip


def _read(row: HandoffRow, our_home: str) -> str:
    """Returns a document. Only what is where we write handoffs, and no link, is read. Raises
    `UnreadableError`."""
    folder, name = os.path.split(row.file)
    in_project = os.path.join(row.project, worktree.HANDOFFS)
    in_home = os.path.join(paths.project_folder(our_home, row.project), "handoffs")
    if folder not in (in_project, in_home) or (
        folder == in_project and os.path.realpath(folder) != folder
    ):
        raise UnreadableError("it is not in a folder in which handoffs are written")
    if not os.path.lexists(row.file):
        raise UnreadableError("it is gone: deleted or renamed")
    real = os.path.join(os.path.realpath(folder), name)
    if not files.is_single(real):
        raise UnreadableError("it is a link, or not a regular file")
    return files.read(real, inside=folder)
