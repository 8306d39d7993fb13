"""The plans of a project that a session may go on with."""

from __future__ import annotations

from sisyphus.boulder.discover import MAX_ENTRIES, find_plans, is_unchanged, stamp_of
from sisyphus.boulder.look import affordable
from sisyphus.boulder.record import is_old, is_stale

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus.boulder.discover import Stamp
    from sisyphus.boulder.follow import Follower
    from sisyphus.boulder.look import Look
    from sisyphus.workspace import Workspace


class OpenPlan:
    """A plan with something left to do, as far as it is known without reading it again."""

    __slots__ = ("changed_at", "completed", "is_stale", "name", "path", "total")

    def __init__(self, path: str, name: str, completed: int, total: int, changed_at: float) -> None:
        self.path = path
        self.name = name
        self.completed = completed
        self.total = total
        self.changed_at = changed_at  # of the file, in epoch seconds
        self.is_stale = False


def open_plans(follower: Follower) -> list[OpenPlan]:
    """The open plans of the project, dismissed ones aside, newest first.

    What one hook has no time to read is left to the next one, which knows what was seen.
    """
    paths, now = list(follower.book.records), follower.space.now
    followed = [plan for path in paths if (plan := _followed(path, follower))]
    looks = _worth_it(follower)
    if len(followed) + len(looks) > 1:
        for look in looks:
            follower.make_record(look, min(look.changed_at, now))
    new = [_unknown(look, follower.space) for look in looks]
    return sorted([*followed, *new], key=lambda plan: plan.changed_at, reverse=True)


def stale_days(space: Workspace) -> int:
    return int(space.settings.get("boulder.stale_days"))


def _followed(path: str, follower: Follower) -> OpenPlan | None:
    """A plan with a record, read only where its file has changed."""
    book, space = follower.book, follower.space
    stamp, record = stamp_of(path), book.records[path]
    if stamp is None:
        return None
    if not is_unchanged(stamp, book.seen.get(path)):
        if not follower.follow(follower.look(path)):
            return None
        record = book.records[path]
    counts = record["progress"]
    if counts["completed"] >= counts["total"]:
        return None
    changed_at = stamp[0] / 1e9 or space.now
    plan = OpenPlan(path, record["plan_name"], counts["completed"], counts["total"], changed_at)
    plan.is_stale = is_stale(record, changed_at, space.now, stale_days(space))
    return plan


def _unknown(look: Look, space: Workspace) -> OpenPlan:
    counts = look.plan.counts
    plan = OpenPlan(look.path, look.name, counts.completed, counts.total, look.changed_at)
    plan.is_stale = is_old(look.changed_at, space.now, stale_days(space))
    return plan


def _worth_it(follower: Follower) -> list[Look]:
    """Plan files without a record that are open."""
    plans, looks, read = _to_read(follower), [], 0
    for look in affordable(plans, follower.book.root):
        read += 1
        if follower.is_worth_it(look):
            looks.append(look)
    if read < len(plans):
        note = f"boulder: plan files not read yet: {len(plans) - read}"
        follower.outcome.notes.append(note)
    return looks


def _to_read(follower: Follower) -> dict[str, Stamp]:
    """Plan files without a record that are not as they were seen last; newest first."""
    book, found = follower.book, find_plans(follower.space)
    if len(found) >= MAX_ENTRIES:
        note = f"boulder: of each folder of plans {MAX_ENTRIES:,} entries are looked at"
        follower.outcome.notes.append(note)
    return {
        path: stamp
        for path, stamp in found.items()
        if path not in book.records and not is_unchanged(stamp, book.seen.get(path))
    }
