"""What an event means for the plans of a project. A glance without lock or parser comes first."""

from __future__ import annotations

import os

from sisyphus.boulder.discover import (
    file_stamp,
    find_plans,
    has_plans,
    is_unchanged,
    locate,
    stamp_of,
)
from sisyphus.boulder.in_use import keep_other_project, read_global, update_global
from sisyphus.boulder.store import read_plans, record_path
from sisyphus.paths import main_checkout

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from sisyphus.boulder.follow import Follower
    from sisyphus.boulder.store import Plans
    from sisyphus.clients.base import Outcome, ToolCall
    from sisyphus.workspace import Workspace


def following(
    space: Workspace, root: str, session: str, act: Callable[[Follower], None]
) -> Outcome:
    """Lets `act` work on the plans of the project at `root`, under their lock."""
    from sisyphus.boulder.book import Book
    from sisyphus.boulder.follow import Follower

    keep_other_project(space.home, root)
    with Book(space.home, root) as book:
        follower = Follower(space, book, session)
        act(follower)
        follower.close()
    return follower.outcome


def begin_session(space: Workspace, session: str, source: str) -> Outcome | None:
    """Resumes the project's plan, begins with an open one that has no record, or asks."""
    if not (has_plans(space) or _is_global_here(space)):
        return None
    before = _session_before(space, session) if source == "clear" else ""

    def begin(follower: Follower) -> None:
        from sisyphus.boulder.opening import Opening

        Opening(follower, source, before).begin()

    return following(space, space.root, session, begin)


def continue_without_state(space: Workspace, session: str) -> Outcome | None:
    """The continuation alone, where nothing can be written; nobody is asked which one."""
    from sisyphus.boulder.look import affordable
    from sisyphus.boulder.messages import continuation, piece
    from sisyphus.clients.base import Outcome

    plans = read_plans(space.home, space.root)
    current = plans.of_session(session)
    stamp = stamp_of(current)
    first = {current: stamp} if stamp else {}
    looks = [
        look
        for look in affordable({**first, **find_plans(space)}, space.root)
        if look.state == "open" and plans.dismissed.get(look.path) != look.crc
    ]
    if not looks or (len(looks) > 1 and looks[0].path != current):
        return None
    text = continuation(looks[0], plans.notes_of(looks[0].path))
    return Outcome(texts=[piece(looks[0].path, text)])


def notice(space: Workspace, session: str) -> Outcome | None:
    """Catches up with what was changed by other means than the client's tools."""
    plans = read_plans(space.home, space.root)
    is_new = _changed(plans) or _is_record_changed(space, plans)
    if not is_new and (plans.current or not _has_news(space, plans)):
        return None

    def catch_up(follower: Follower) -> None:
        from sisyphus.boulder import exchange

        exchange.complain(follower)
        for path in _changed(follower.book):
            follower.follow(follower.look(path))
        if not follower.book.current:
            from sisyphus.boulder.opening import Opening

            Opening(follower, "").take_next()

    return following(space, space.root, session, catch_up)


def edited(space: Workspace, session: str, path: str) -> Outcome | None:
    """A session wrote `path`: a plan begins or moves on; any other file is nothing to us."""
    found = locate(space, path) or _recorded(space, path)
    if found is None:
        return None
    root, plan = found
    return following(space, root, session, lambda follower: follower.edited(follower.look(plan)))


def todos_changed(space: Workspace, session: str, call: ToolCall) -> Outcome | None:
    """Mirrors the client's own todo list into the plan that the session is at."""
    if not read_plans(space.home, space.root).own(session):
        return None

    def mirror(follower: Follower) -> None:
        from sisyphus.boulder.kord import todos
        from sisyphus.clients.tools import todo_change

        if path := follower.book.own(session):
            notes = follower.book.notes_of(path)
            change = todo_change(call.tool, call.input, call.answer)
            todos.take(notes.todos, notes.owners, change, session)

    return following(space, space.root, session, mirror)


def take_stock(space: Workspace, session: str, event: str) -> Outcome | None:
    """A checkpoint of where the plan stands that the session is at."""
    if not read_plans(space.home, space.root).own(session):
        return None

    def stand(follower: Follower) -> None:
        path = follower.book.own(session)
        if path and follower.look(path).state == "open":  # else there is news for a later hook
            follower.follow(follower.look(path))
            follower.milestones.stand(follower.look(path), event)

    return following(space, space.root, session, stand)


def end_session(space: Workspace, session: str) -> None:
    """Notes the end of a session in the records of the plans it worked on, be it in a worktree
    that has plans of its own by now."""
    from sisyphus.boulder import record
    from sisyphus.boulder.book import Book

    found = read_global(space.home)
    elsewhere = {found["project_root"]} if found and session in found["session_ids"] else set()
    for root in {space.root, main_checkout(space.root) or space.root} | elsewhere:
        plans = read_plans(space.home, root)
        if not any(session in known["session_ids"] for known in plans.records.values()):
            continue
        with Book(space.home, root) as book:
            for known in book.records.values():
                if record.end_session(known, session):
                    update_global(space.home, known)


def _session_before(space: Workspace, session: str) -> str:
    from sisyphus.session.client_process import session_before

    return session_before(space.ours, session)


def _changed(plans: Plans) -> list[str]:
    """Plans with a record that changed since they were seen, or went or came back unnoticed."""
    return [path for path in plans.records if _is_changed(plans, path)]


def _is_changed(plans: Plans, path: str) -> bool:
    stamp = stamp_of(path)
    is_noted = "missing_since" in plans.records[path]["metadata"]
    if stamp is None:
        return not is_noted
    return is_noted or not is_unchanged(stamp, plans.seen.get(path))


def _is_record_changed(space: Workspace, plans: Plans) -> bool:
    """Whether the record that everybody may read is not as we left it."""
    now = file_stamp(record_path(space.home, plans.root))
    return now != plans.shown.get("stamp", []) and bool(now or plans.current)


def _has_news(space: Workspace, plans: Plans) -> bool:
    """Whether there may be a plan to go on with, where none is current."""
    return any(
        not is_unchanged(stamp, plans.seen.get(path))
        or (path in plans.records and not plans.undecided)
        for path, stamp in find_plans(space).items()
    )


def _recorded(space: Workspace, path: str) -> tuple[str, str] | None:
    """A plan file in an unusual place that a person named."""
    records = read_plans(space.home, space.root).records
    real = os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))
    return next(((space.root, spelled) for spelled in (path, real) if spelled in records), None)


def _is_global_here(space: Workspace) -> bool:
    found = read_global(space.home)
    return found is not None and found["project_root"] == space.root
