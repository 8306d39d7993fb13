"""What an event means for the plans of a project. A glance without lock or parser comes first."""

from __future__ import annotations

import os

from sisyphus.boulder.discover import find_plans, is_unchanged, locate, stamp_of
from sisyphus.boulder.in_use import keep_other_project, read_global, update_global
from sisyphus.boulder.store import Book, read_plans

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus.boulder.store import Plans
    from sisyphus.contract import Outcome
    from sisyphus.workspace import Workspace


def begin_session(space: Workspace, session: str, *, greet: bool) -> Outcome | None:
    """Resumes the project's plan, or begins with an open one that has no record."""
    has_plans = read_plans(space.home, space.root).records or find_plans(space)
    if not has_plans and not _is_global_here(space):
        return None
    from sisyphus.boulder.follow import Follower

    keep_other_project(space.home, space.root)
    with Book(space.home, space.root) as book:
        follower = Follower(space, book, session)
        if look := follower.plan_to_resume():
            follower.resume(look, greet=greet)
    return follower.outcome


def continue_without_state(space: Workspace) -> Outcome | None:
    """The continuation alone, where nothing can be written."""
    from sisyphus.boulder.look import affordable
    from sisyphus.boulder.messages import continuation, piece
    from sisyphus.contract import Outcome

    plans = read_plans(space.home, space.root)
    stamp = stamp_of(plans.current)
    current = {plans.current: stamp} if stamp else {}
    for look in affordable({**current, **find_plans(space)}, space.root):
        if look.state == "open" and plans.dismissed.get(look.path) != look.crc:
            return Outcome(pieces=[piece(look.path, continuation(look))])
    return None


def notice(space: Workspace, session: str) -> Outcome | None:
    """Catches up with plan files that were changed by other means than the client's tools."""
    plans = read_plans(space.home, space.root)
    changed = _changed(plans)
    if not changed and (plans.current or not _has_news(space, plans)):
        return None
    from sisyphus.boulder.follow import Follower
    from sisyphus.boulder.look import Look

    keep_other_project(space.home, space.root)
    with Book(space.home, space.root) as book:
        follower = Follower(space, book, session)
        for path in _changed(book):
            follower.follow(Look(path, space.root))
        if not book.current:
            follower.take_next()
    return follower.outcome


def edited(space: Workspace, session: str, path: str) -> Outcome | None:
    """A session wrote `path`: a plan begins or moves on; any other file is nothing to us."""
    found = locate(space, path) or _recorded(space, path)
    if found is None:
        return None
    from sisyphus.boulder.follow import Follower
    from sisyphus.boulder.look import Look

    root, plan = found
    keep_other_project(space.home, root)
    with Book(space.home, root) as book:
        follower = Follower(space, book, session)
        follower.edited(Look(plan, root))
    return follower.outcome


def end_session(space: Workspace, session: str) -> None:
    """Notes the end of a session in the records of the plans it worked on."""
    from sisyphus.boulder import record

    found = read_global(space.home)
    elsewhere = {found["project_root"]} if found and session in found["session_ids"] else set()
    for root in {space.root} | elsewhere:
        plans = read_plans(space.home, root)
        if not any(session in known["session_ids"] for known in plans.records.values()):
            continue
        with Book(space.home, root) as book:
            for known in book.records.values():
                if record.end_session(known, session):
                    update_global(space.home, known)


def _changed(plans: Plans) -> list[str]:
    """Plans with a record that changed since they were seen, or went missing unnoticed."""
    return [path for path in plans.records if _is_changed(plans, path)]


def _is_changed(plans: Plans, path: str) -> bool:
    stamp = stamp_of(path)
    if stamp is None:
        return "missing_since" not in plans.records[path]["metadata"]
    return not is_unchanged(stamp, plans.seen.get(path))


def _has_news(space: Workspace, plans: Plans) -> bool:
    found = find_plans(space).items()
    return any(
        path in plans.records or not is_unchanged(s, plans.seen.get(path)) for path, s in found
    )


def _recorded(space: Workspace, path: str) -> tuple[str, str] | None:
    """A plan file in an unusual place that a person named."""
    records = read_plans(space.home, space.root).records
    real = os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))
    return next(((space.root, spelled) for spelled in (path, real) if spelled in records), None)


def _is_global_here(space: Workspace) -> bool:
    found = read_global(space.home)
    return found is not None and found["project_root"] == space.root
