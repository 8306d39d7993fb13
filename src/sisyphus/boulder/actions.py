"""What people do with the boulder: plain functions for the command line and slash commands.

They raise `SisyphusError` with what is wrong and what to do.
"""

from __future__ import annotations

import os

from sisyphus.boulder import report
from sisyphus.boulder.choose import choose
from sisyphus.boulder.follow import Follower
from sisyphus.boulder.in_use import (
    clear_global,
    copy_to_global,
    keep_other_project,
    read_global,
)
from sisyphus.boulder.look import Look
from sisyphus.boulder.record import timestamp
from sisyphus.boulder.store import Book, add_history, read_plans
from sisyphus.errors import SisyphusError
from sisyphus.paths import project_root

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus._types import Json, PlanStatus
    from sisyphus.workspace import Workspace


def status(space: Workspace, *, elsewhere: bool = True) -> PlanStatus:
    """The plan of this project, else (`elsewhere`) the one in use; changes nothing."""
    record = _record(space, elsewhere=elsewhere)
    if record is None:
        return report.no_plan()
    look = Look(record["active_plan"], record["project_root"])
    return report.of_look(report.readable(look), record, space)


def status_of_file(path: str) -> PlanStatus:
    """What any plan file says, followed or not; changes nothing."""
    full = os.path.abspath(path)
    return report.of_look(report.readable(Look(full, project_root(os.path.dirname(full)))))


def clear(space: Workspace, *, elsewhere: bool = True) -> PlanStatus:
    """Forgets the plan of this project, else (`elsewhere`) the one in use; returns its last status.

    An open plan is dismissed: it comes back by `start`, or when its file changes.
    """
    record = _record(space, elsewhere=elsewhere)
    if record is None:
        raise SisyphusError(
            f"no plan is followed in {space.root}, so there is nothing to clear. "
            "`sisyphus boulder start` begins with one."
        )
    path, root = record["active_plan"], record["project_root"]
    look = Look(path, root)
    last = report.of_look(look, record, space)
    with Book(space.home, root) as book:
        if path in book.records:
            book.forget(path)
        if look.stamp:
            book.seen[path] = look.stamp
            book.dismissed[path] = look.crc
        add_history(space.home, record, "cleared", timestamp(space.now))
        clear_global(space.home, path)
    return last


def start(space: Workspace, name: str = "", session: str = "") -> PlanStatus:
    """Follows the plan called `name`, else this project's only open one, and puts it in use."""
    look = choose(space, name)
    keep_other_project(space.home, space.root)
    with Book(space.home, space.root) as book:
        Follower(space, book, session).begin(look)
        copy_to_global(space.home, book.records[look.path], lambda _: True)
    return status(space)


switch = start
"""Another word for it: without a name it puts the plan of this project in use again."""


def _record(space: Workspace, *, elsewhere: bool) -> Json | None:
    plans = read_plans(space.home, space.root)
    if plans.current:
        return plans.records[plans.current]
    found = read_global(space.home)
    return found if found and (elsewhere or found["project_root"] == space.root) else None
