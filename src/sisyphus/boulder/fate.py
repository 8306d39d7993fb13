"""What becomes of a plan: it is complete, moved or gone, or another one lies in its place."""

from __future__ import annotations

from sisyphus.boulder import messages, parking
from sisyphus.boulder.in_use import clear_global, copy_to_global, move_global, read_global
from sisyphus.boulder.record import note_progress, timestamp
from sisyphus.boulder.store import add_history
from sisyphus.paths import display

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus._types import Json
    from sisyphus.boulder.follow import Follower
    from sisyphus.boulder.look import Look


def finish(follower: Follower, look: Look) -> None:
    from sisyphus.boulder.kord import checkpoints

    record, notes = follower.book.records[look.path], follower.book.notes_of(look.path)
    note_progress(record, look.plan, look.name, follower.space.now)
    follower.milestones.see(look)
    follower.last = checkpoints.new_checkpoint(
        f"{look.name}: all {look.plan.counts.total} tasks done", follower.space.now
    )
    words = {"todos": notes.todos, "checkpoint": follower.last}
    ended = {"outcome": "completed", "ended_at": timestamp(follower.space.now)}
    add_history(follower.space.home, follower.book.root, {**record, **words, **ended})
    clear_global(follower.space.home, look.path)
    follower.book.forget(look.path)
    follower.outcome.messages.append(messages.completed(look))
    follower.outcome.notes.append(f"boulder complete: {look.place}")


def change(follower: Follower, look: Look) -> bool:
    """Another plan lies where one lay that is followed: it has a record of its own, if there
    is something to do."""
    record, path = follower.book.records[look.path], look.path
    is_in_use = (read_global(follower.space.home) or {}).get("active_plan") == path
    parking.park(follower.book, path)
    entry = {"outcome": "parked", "at": timestamp(follower.space.now), "active_plan": path}
    entry |= {"plan_name": record["plan_name"], "progress": record["progress"]}
    add_history(follower.space.home, follower.book.root, entry)
    follower.outcome.messages.append(messages.changed(look, record))
    follower.outcome.notes.append(f"boulder: another plan is at {look.place}")
    clear_global(follower.space.home, path)
    if look.state != "open":
        follower.book.forget(path)
        return False
    follower.book.drop_record(path)
    follower.make_record(look, follower.space.now)
    if is_in_use:
        copy_to_global(follower.space.home, follower.book.records[path], lambda _: False)
    return True


def moved(follower: Follower, look: Look) -> Look | None:
    """The plan at another path, where its file was renamed."""
    notes = follower.book.notes_of(look.path)
    if not notes.crc:
        return None
    path = follower.search.find(notes.crc, notes.size, follower.book.records)
    path = path or parking.find_same(follower.space, follower.book, look.path)
    if not path:
        return None
    found = follower.look(path)
    rename(follower, look.path, found)
    return found


def rename(follower: Follower, before: str, look: Look) -> None:
    """The plan that was at `before` is where `look` sees it."""
    follower.book.rename(before, look.path)
    follower.moved[before] = look.path
    move_global(follower.space.home, before, follower.book.records[look.path])
    place = display(before, follower.book.root)
    entry = {"outcome": "moved", "at": timestamp(follower.space.now), "from": before}
    add_history(follower.space.home, follower.book.root, {**entry, **_named(look)})
    follower.outcome.messages.append(messages.moved_file(look, place))
    follower.outcome.notes.append(f"boulder plan was moved: {place} -> {look.place}")


def warn(follower: Follower, look: Look, *, again: bool) -> None:
    """The plan file is gone: said when it is noticed, and at each session start."""
    metadata = follower.book.records[look.path]["metadata"]
    is_news = "missing_since" not in metadata
    if is_news:
        metadata["missing_since"] = timestamp(follower.space.now)
        follower.outcome.notes.append(f"boulder plan is gone: {look.place}")
    if (is_news or again) and look.path == follower.book.of_session(follower.session):
        text = messages.missing(follower.book.records[look.path]["plan_name"], look.place)
        follower.outcome.messages.append(text)
        follower.tell(look, text)


def _named(look: Look) -> Json:
    return {"active_plan": look.path, "plan_name": look.name}
