"""What people do with the boulder: plain functions for the command line and slash commands.

They raise `SisyphusError` with what is wrong and what to do. `session` is the one that asks, ""
where it is a person in a terminal: a session speaks of the plan that it is at, a person of the
project's current one.
"""

from __future__ import annotations

import os

from sisyphus.boulder import enforcing, exchange, report
from sisyphus.boulder.choose import choose
from sisyphus.boulder.discover import at_its_place
from sisyphus.boulder.in_use import clear_global, copy_to_global
from sisyphus.boulder.listing import open_plans
from sisyphus.boulder.look import Look
from sisyphus.boulder.meant import (
    followed,
    followed_look,
    look_of,
    record_meant,
    record_to_clear,
)
from sisyphus.boulder.record import timestamp, touch
from sisyphus.boulder.store import add_history, read_plans
from sisyphus.boulder.watch import following
from sisyphus.errors import SisyphusError
from sisyphus.paths import main_checkout, project_root
from sisyphus.text import line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus._types import Json, PlanStatus
    from sisyphus.boulder.follow import Follower
    from sisyphus.workspace import Workspace


def status(space: Workspace, session: str = "", *, elsewhere: bool = True) -> PlanStatus:
    """The plan of this project, else (`elsewhere`) the one in use; changes nothing. Where it is
    not one of this project, `open_plans` are those that are open here."""
    space = at_its_place(space)
    record = record_meant(space, session, elsewhere=elsewhere)
    here = record is not None and record["project_root"] == space.root
    found = report.of_look(report.readable(look_of(record)), record, space) if record else None
    return {**(found or report.no_plan()), "open_plans": [] if here else open_plans(space)}


def status_of_file(path: str) -> PlanStatus:
    """What any plan file says, followed or not; changes nothing."""
    full = os.path.abspath(path)
    look = Look(full, project_root(os.path.dirname(full)))
    if look.problem:
        raise SisyphusError(f"{line(look.problem)}.")
    return report.of_look(look)


def to_clear(
    space: Workspace, session: str = "", name: str = "", *, elsewhere: bool = True
) -> PlanStatus:
    """What `clear` would forget, as it is; its file need not be readable."""
    space = at_its_place(space)
    record = record_to_clear(space, session, name, elsewhere=elsewhere)
    return report.of_look(look_of(record), record, space)


def clear(
    space: Workspace, session: str = "", name: str = "", *, elsewhere: bool = True
) -> PlanStatus:
    """Forgets the plan called `name`, else that of this project, else (`elsewhere`) the one in use;
    returns its last status.

    An open plan is dismissed: it comes back by `start`, or when its file changes.
    """
    space = at_its_place(space)
    record = record_to_clear(space, session, name, elsewhere=elsewhere)
    path, root = record["active_plan"], record["project_root"]
    look = look_of(record)
    last = report.of_look(look, record, space)

    def dismiss(follower: Follower) -> None:
        book = follower.book
        memory = {"checkpoint": book.notes_of(path).checkpoint, "todos": book.notes_of(path).todos}
        ended = {"outcome": "cleared", "ended_at": timestamp(space.now)}
        add_history(space.home, root, {**book.records.get(path, record), **memory, **ended})
        clear_global(space.home, path)
        if path in book.records:
            book.forget(path)
        if look.stamp:
            book.seen[path] = look.stamp
            book.dismissed[path] = look.crc

    following(space, root, session, dismiss)
    return last


def start(
    space: Workspace,
    name: str = "",
    session: str = "",
    *,
    in_repo: bool = False,
    by_user: bool = False,
) -> PlanStatus:
    """Follows the plan called `name`, else this project's only open one, and puts it in use.

    A person's choice holds for the sessions that begin from now on, a session's for itself alone.
    `in_repo`: the project's record lies in the project from now on, for everybody who works on it.
    `by_user`: it is the user's own word that the session may leave an enforced plan for this one.
    """
    space = at_its_place(space)
    look = choose(space, name, session)

    def begin(follower: Follower) -> None:
        if in_repo:
            follower.keeper.move_into_project()
        chosen = follower.book.chosen
        exchange.overrule(follower)
        follower.begin(look)
        follower.book.chosen = follower.moved.get(chosen, chosen) if session else look.path
        if by_user:
            enforcing.give(follower.book, session, look.path)
        copy_to_global(space.home, follower.book.records[look.path], lambda _: True)

    following(space, space.root, session, begin)
    if by_user and (main := main_checkout(space.root)):
        enforcing.give_elsewhere(space, main, session)
    return status(space, session)


switch = start
"""Another word for it: without a name it puts the plan of this project in use again."""

enforce = enforcing.enforce


def checkpoint(
    space: Workspace,
    message: str = "",
    *,
    wave: int | None = None,
    story: str = "",
    session: str = "",
) -> PlanStatus:
    """Notes how far the work is; without a `message`, in our words. `wave` and `story` name where
    the work goes on, until that is complete."""
    space = at_its_place(space)

    def note(follower: Follower) -> None:
        look = followed_look(follower, session)
        named = report.parts_named(look.plan, wave, story)
        if named is not None:
            notes = follower.book.notes_of(look.path)
            notes.wave, notes.story = named
        text = message.strip() or follower.milestones.where(look)
        follower.milestones.set(look, text, "user")
        touch(follower.book.records[look.path], space.now)

    following(space, space.root, session, note)
    return status(space, session)


def todos(space: Workspace, session: str = "") -> list[Json]:
    """The todos of the plan, finished ones too."""
    space = at_its_place(space)
    plans = read_plans(space.home, space.root)
    return plans.notes_of(followed(plans, session)).todos
