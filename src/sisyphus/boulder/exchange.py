"""What others wrote about a project's plans, and what is said of that: into the record that
everybody may read, and into the file of the plan in use."""

from __future__ import annotations

from sisyphus.boulder.in_use import read_global
from sisyphus.boulder.record import joined, timestamp
from sisyphus.boulder.store import add_history

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus._types import Json
    from sisyphus.boulder.follow import Follower
    from sisyphus.boulder.look import Look


def adopt(follower: Follower) -> None:
    """A global file that another tool wrote about this project becomes a record here."""
    found = read_global(follower.space.home)
    if found is None or found["project_root"] != follower.book.root:
        return
    path = found["active_plan"]
    known = follower.book.records.get(path)
    follower.book.records[path] = joined(found, known) if known else found
    if not known:
        follower.book.current = path


def take_in(follower: Follower) -> None:
    """What somebody else wrote into the record; a plan that it names begins here."""
    path = follower.keeper.named if follower.keeper.has_news else ""
    for known in {path, follower.book.current, follower.book.own(follower.session)}:
        follower.recheck(known)
    if path and path not in follower.book.records:
        _take_up(follower, follower.look(path))
    take_in_words(follower)


def take_in_words(follower: Follower) -> None:
    if told := follower.keeper.take_in():
        follower.milestones.mark(follower.look(told))


def overrule(follower: Follower) -> None:
    """A record about a plan that is over, or that a person leaves, makes room for ours; it is
    kept in the history."""
    if not follower.keeper.is_about_another:
        return
    found = follower.keeper.file.found
    entry: Json = {"outcome": "replaced", "at": timestamp(follower.space.now), "record": found}
    entry["active_plan"] = found["activePlan"]
    add_history(follower.space.home, follower.book.root, entry)
    follower.keeper.accept()


def complain(follower: Follower) -> None:
    """Of a record that cannot be used the user is told once as it is."""
    shown, now = follower.book.shown, follower.keeper.file.stamp
    if follower.keeper.complaint and shown.get("complained") != now:
        follower.outcome.messages.append(follower.keeper.complaint)
        shown["complained"] = now


def _take_up(follower: Follower, look: Look) -> None:
    if follower.is_worth_it(look):
        follower.make_current(look)
        follower.book.chosen = look.path
    elif look.state == "complete" or look.path in follower.book.dismissed:
        overrule(follower)
