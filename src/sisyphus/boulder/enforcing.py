"""Plans begin and cease to be enforced, and sessions are released from them."""

from __future__ import annotations

from sisyphus.boulder import enforcement as ef
from sisyphus.boulder import report
from sisyphus.boulder.book import Book
from sisyphus.boulder.discover import at_its_place
from sisyphus.boulder.in_use import update_global
from sisyphus.boulder.meant import followed, look_of, there
from sisyphus.boulder.store import read_plans
from sisyphus.boulder.watch import following
from sisyphus.errors import SisyphusError
from sisyphus.text import line
from sisyphus.times import iso

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from sisyphus._types import Json, PlanStatus
    from sisyphus.boulder.enforcement import Enforced
    from sisyphus.boulder.store import Plans
    from sisyphus.workspace import Workspace

REMEMBERED_SESSIONS = 200
"""Of those that one plan released."""


def enforce(
    space: Workspace,
    *,
    on: bool,
    limits: Mapping[str, int] | None = None,
    session: str = "",
    by_model: bool = False,
) -> PlanStatus:
    """Whether the sessions that work on the plan are held at Stop while it has open tasks.

    `by_model`: the model may have said so, which renews nothing that the user said before. Raises
    `SisyphusError`.
    """
    place = at_its_place(space)
    following(place, place.root, session, lambda _: None)  # what lies there by now is meant
    return _on(space, limits or {}, session, by_model=by_model) if on else _off(space, session)


def _on(space: Workspace, limits: Mapping[str, int], session: str, *, by_model: bool) -> PlanStatus:
    for feature in ("boulder", "ralph"):
        if not space.settings.get(f"{feature}.enabled"):
            raise SisyphusError(
                f"nobody would be held, for {feature} is switched off. Set {feature}.enabled = "
                "true first."
            )
    space = at_its_place(space)
    with Book(space.home, space.root) as book:
        record = book.records[followed(book, session)]
        if there(look_of(record)).state == "complete":
            raise SisyphusError(f"{line(record['plan_name'])} is complete: there is nothing to do.")
        if by_model and ef.enforced(record):
            raise SisyphusError(
                f"{line(record['plan_name'])} is enforced already. The user alone changes that: "
                "with /sisyphus:boulder-enforce, or from another terminal."
            )
        _begin(record, book, {"since": iso(space.now), **limits})
        update_global(space.home, record)
    return report.of_look(look_of(record), record, space)


def _off(space: Workspace, session: str) -> PlanStatus:
    space = at_its_place(space)
    with Book(space.home, space.root) as book:
        record = book.records[_enforced(book, session)]
        del record["metadata"][ef.KEY]
        update_global(space.home, record)
    return report.of_look(look_of(record), record, space)


def held_sessions(space: Workspace, session: str) -> list[str]:
    """The sessions that `enforce` with `on=False` would let go."""
    space = at_its_place(space)
    plans = read_plans(space.home, space.root)
    record = plans.records[_enforced(plans, session)]
    return ef.held_sessions(record["session_ids"], record["metadata"][ef.KEY])


def limits(given: Mapping[str, int | None], *, by_model: bool) -> tuple[dict[str, int], list[str]]:
    """The limits that count, and what is not done as asked: the model does not go beyond those
    of a loop."""
    found = {name: number for name, number in given.items() if number is not None}
    notes = []
    most = {"max_iterations": ef.MAX_ITERATIONS, "max_minutes": ef.MAX_MINUTES}
    for name in [name for name in most if by_model and found.get(name, 0) > most[name]]:
        option = "--" + name.replace("_", "-")
        notes.append(f"the model asked for {option} {found[name]}; it gets {most[name]}")
        found[name] = most[name]
    return found, notes


def give(plans: Plans, session: str, path: str) -> None:
    """The user gives the session the plan at `path`: it may leave the others."""
    for known, record in plans.records.items():
        if found := ef.enforced(record):
            others = [one for one in found.released if one != session]
            _release(record, others if known == path else [*others, session])


def give_elsewhere(space: Workspace, root: str, session: str) -> None:
    """The same for the plans of another project: of the checkout that a worktree belongs to."""
    if any(map(ef.enforced, read_plans(space.home, root).records.values())):
        with Book(space.home, root) as book:
            give(book, session, "")
            book.sessions.pop(session, None)


def take_back(space: Workspace, found: Enforced, session: str) -> None:
    """A session that was released works on the plan again."""
    with Book(space.home, found.root) as book:
        record = book.records.get(found.path)
        now = ef.enforced(record) if record else None
        if record and now:
            _release(record, [one for one in now.released if one != session])
            update_global(space.home, record)


def _enforced(plans: Plans, session: str) -> str:
    """The plan that the session is held to, else the one it is at. Raises `SisyphusError`."""
    if session and (found := ef.asked(plans, session)):
        return found.path
    every = [path for path, record in plans.records.items() if ef.enforced(record)]
    path = every[0] if len(every) == 1 and not session else followed(plans, session)
    if path not in every:
        name = line(plans.records[path]["plan_name"])
        raise SisyphusError(f"{name} is not enforced. `sisyphus boulder enforce on` begins.")
    return path


def _begin(record: Json, plans: Plans, asked: Json) -> None:
    """Who worked on the plan once, and is at another one by now, is free, unless it was held."""
    before, path = ef.enforced(record), record["active_plan"]
    elsewhere = [one for one in record["session_ids"] if plans.own(one) != path]
    free = [one for one in elsewhere if not before or one in before.released]
    record["metadata"] = {**record["metadata"], ef.KEY: asked}
    _release(record, free)


def _release(record: Json, sessions: list[str]) -> None:
    raw = {name: value for name, value in record["metadata"][ef.KEY].items() if name != ef.RELEASED}
    released = {ef.RELEASED: sessions[-REMEMBERED_SESSIONS:]} if sessions else {}
    record["metadata"] = {**record["metadata"], ef.KEY: {**raw, **released}}
