"""Is the boulder complete? For others who wait for that. Reads only."""

from __future__ import annotations

from sisyphus.boulder.discover import at_its_place, find_plans, is_unchanged, stamp_of
from sisyphus.boulder.record import is_path
from sisyphus.boulder.store import read_plans

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus.boulder.look import Look
    from sisyphus.boulder.store import Plans
    from sisyphus.workspace import Workspace

_NO_PLAN = "the project has no plan; write one to .claude/PLAN.md, with tasks like `- [ ] do it`"


class Gate:
    """Whether the plan at `path` ("" = there is none) is complete, and `why` (not), in words."""

    __slots__ = ("ok", "path", "why")

    def __init__(self, ok: bool, why: str, path: str) -> None:
        self.ok = ok
        self.why = why
        self.path = path


def plan_gate(space: Workspace, session: str, noted: str) -> Gate:
    """Looks at the plan that `session` works on.

    A plan that is complete has no record any more, and the boulder may have gone on to the next
    one: so `noted`, the plan it was at an earlier look ("" = unknown), comes first if it is
    complete. After it and the record come the project's plan files, the newest first.
    """
    space = at_its_place(space)
    plans = read_plans(space.home, space.root)
    look = _complete(noted, space) or _first(plans.of_session(session), noted, space)
    look = look or _newest(plans, space)
    if look is None:
        return Gate(ok=False, why=_NO_PLAN, path="")
    return Gate(look.state == "complete", _words(look), look.path)


def done_tasks(space: Workspace, session: str, noted: str) -> tuple[str, int] | None:
    """The plan that `session` works on, else `noted`, and how many of its tasks are done; None
    where that cannot be told. The plan is read only where its record is out of date."""
    space = at_its_place(space)
    plans = read_plans(space.home, space.root)
    path = plans.of_session(session)
    if path and is_unchanged(stamp_of(path) or [0], plans.seen.get(path)):
        return path, plans.records[path]["progress"]["completed"]
    look = _first(path, noted, space)
    if look is None or look.state in ("missing", "unreadable"):
        return None
    return look.path, look.plan.counts.completed


def _complete(path: str, space: Workspace) -> Look | None:
    look = _first(path, "", space)
    return look if look and look.state == "complete" else None


def _first(path: str, other: str, space: Workspace) -> Look | None:
    named = path or other
    if not is_path(named):
        return None
    from sisyphus.boulder.look import Look

    return Look(named, space.root)


def _newest(plans: Plans, space: Workspace) -> Look | None:
    """Of the plan files that were not dismissed the newest with tasks, else the newest."""
    from sisyphus.boulder.look import affordable

    looks = affordable(find_plans(space), space.root)
    left = [look for look in looks if plans.dismissed.get(look.path) != look.crc]
    return next((look for look in left if look.plan.has_tasks), left[0] if left else None)


def _words(look: Look) -> str:
    from sisyphus.text import line

    place, counts = line(look.place), look.plan.counts
    if look.state == "missing":
        return f"the plan {place} is gone"
    if look.state == "unreadable":
        return f"the plan cannot be read: {line(look.problem)}"
    if look.state == "no_tasks":
        return f"{place} has no tasks; give it some, like `- [ ] do it`"
    done = f"{counts.completed} of {counts.total} tasks of {place} are done"
    if task := look.plan.next:
        return f"{done}; next: {line(task.text) or 'a task without words'} (line {task.line})"
    return f"{done}; {counts.blocked} blocked" if counts.blocked else done
