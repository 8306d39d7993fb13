"""Which plan a person means: a file, a name or a part of one, or the only plan that is open."""

from __future__ import annotations

import os

from sisyphus.boulder.discover import at_its_place, find_plans, newest_first, plans_in, stamp_of
from sisyphus.boulder.look import Look, affordable
from sisyphus.boulder.store import read_plans
from sisyphus.boulder.titles import NO_FIT, fit, order
from sisyphus.errors import SisyphusError
from sisyphus.text import line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from sisyphus._types import Json
    from sisyphus.boulder.discover import Stamp
    from sisyphus.workspace import Workspace

_LISTED = 10

_BYTES = 50_000_000
"""Read in a second or two."""


def choose(space: Workspace, name: str = "", session: str = "") -> Look:
    """An open plan; raises `SisyphusError` where the choice is not clear. Without a name it is the
    one that `session` is at, or the only one."""
    if not name:
        return _only(space, session)
    path = os.path.normpath(os.path.join(space.cwd, os.path.expanduser(name)))
    if name.endswith(".md") and "\0" not in path and stamp_of(path):
        return _to_work_on(_real(path), space)
    return _called(space, name)


def names_of_plans(space: Workspace) -> list[str]:
    """What may follow `boulder start`: the file stems of the project's plans, newest first."""
    space = at_its_place(space)
    paths = [*find_plans(space), *read_plans(space.home, space.root).records]
    stems = dict.fromkeys(os.path.splitext(os.path.basename(path))[0] for path in paths)
    return [stem for stem in stems if stem.isprintable()]


def unreadable_plans(space: Workspace) -> list[str]:
    """Of the project's plan files that cannot be read: path and reason, newest first, of as many
    as one hook would read."""
    space = at_its_place(space)
    return _problems(affordable(find_plans(space), space.root))


def _only(space: Workspace, session: str) -> Look:
    current = read_plans(space.home, space.root).of_session(session)
    own = [Look(current, space.root)] if current else []
    if _open(own):
        return own[0]
    looks = [*own, *(Look(path, space.root) for path in find_plans(space) if path != current)]
    found = _open(looks)
    if not found:
        raise SisyphusError(_nothing_open(space, looks))
    if len(found) > 1:
        raise SisyphusError(f"several plans are open; name one: {_names(found)}")
    return found[0]


def _nothing_open(space: Workspace, looks: list[Look]) -> str:
    root = line(space.root)
    if told := _problems(looks):
        return f"no open plan in {root} that can be read: {'; '.join(told)}. Mend the file."
    others = _names(_open(Look(path, space.root) for path in _of_plan_mode(space)))
    return (
        f"no open plan in {root}. Write one to .claude/PLAN.md, with tasks like "
        f"`- [ ] do it`{', or name one of the plan mode: ' if others else ''}{others}"
    )


def _called(space: Workspace, name: str) -> Look:
    records = read_plans(space.home, space.root).records
    stamps = {path: stamp for path in records if (stamp := stamp_of(path))}
    plans = newest_first({**find_plans(space), **stamps, **_of_plan_mode(space)})
    looks = _read(plans, name, space)
    matches = _best(name, looks)
    if not matches:
        raise SisyphusError(_unknown(name, looks, records))
    if len(matches) > 1:
        raise SisyphusError(f"'{line(name)}' fits several plans; name one: {_names(matches)}")
    return _to_work_on(matches[0].path, space)


def _unknown(name: str, looks: list[Look], records: dict[str, Json]) -> str:
    for path, record in records.items():
        stem = os.path.splitext(os.path.basename(path))[0]
        is_meant = name.casefold() in (record["plan_name"].casefold(), stem.casefold())
        if is_meant and stamp_of(path) is None:
            return f"the plan {line(path)} is gone. Restore the file, or name another plan."
    known = _names(_open(looks))
    there = f"Open plans: {known}" if known else "None is open here: write one as .claude/PLAN.md."
    return f"no plan is called '{line(name)}'. {there}"


def _read(plans: dict[str, Stamp], name: str, space: Workspace) -> list[Look]:
    """The plans; where they are too much to read, those that are called so by their file."""
    if sum(size for _, size in plans.values()) > _BYTES:
        plans = {path: plans[path] for path in plans if name.casefold() in path.casefold()}
    return [Look(path, space.root) for path in plans]


def _best(name: str, looks: list[Look]) -> list[Look]:
    ranks = [fit(name, look.name, look.path, look.root) for look in looks]
    found = [
        (order(rank, is_open=look.state == "open"), look)
        for rank, look in zip(ranks, looks, strict=True)
        if rank < NO_FIT
    ]
    best = min((key for key, _ in found), default=None)
    return [look for key, look in found if key == best]


def _open(looks: Iterable[Look]) -> list[Look]:
    return [look for look in looks if look.state == "open"]


def _problems(looks: Iterable[Look]) -> list[str]:
    return [line(look.problem) for look in looks if look.state == "unreadable"][:_LISTED]


def _to_work_on(path: str, space: Workspace) -> Look:
    look = Look(path, space.root)
    if look.state == "unreadable":
        raise SisyphusError(f"{line(look.problem)}. Name another plan.")
    if look.state != "open":
        reason = "is complete" if look.state == "complete" else "has no tasks like `- [ ] do it`"
        raise SisyphusError(
            f"{line(look.place)} {reason}, so there is nothing to start. Add a task."
        )
    return look


def _names(looks: list[Look]) -> str:
    more = f" and {len(looks) - _LISTED} more" if len(looks) > _LISTED else ""
    names = (f"{line(look.name)} ({line(look.place)})" for look in looks[:_LISTED])
    return ", ".join(names) + more


def _of_plan_mode(space: Workspace) -> dict[str, Stamp]:
    """Plans of the client's plan mode, newest first: it knows no projects, so they are offered
    by name only."""
    from sisyphus.clients.claude_code_setup import plans_folder

    return newest_first(plans_in(plans_folder(space.home, space.root)))


def _real(path: str) -> str:
    """The folder without links, as project roots are spelled; the file's own name stays."""
    folder, name = os.path.split(path)
    return os.path.join(os.path.realpath(folder), name)
