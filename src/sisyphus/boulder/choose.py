"""Which plan a person means: a file, a name or a part of one, or the only plan that is open."""

from __future__ import annotations

import os

from sisyphus.boulder.discover import find_plans, newest_first, plans_in, stamp_of
from sisyphus.boulder.look import Look
from sisyphus.boulder.store import read_plans
from sisyphus.errors import SisyphusError
from sisyphus.paths import is_inside
from sisyphus.state.files import read_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from sisyphus.boulder.discover import Stamp
    from sisyphus.workspace import Workspace

_LISTED = 20


def choose(space: Workspace, name: str = "") -> Look:
    """An open plan; raises `SisyphusError` where the choice is not clear."""
    if not name:
        return _only(space)
    path = os.path.normpath(os.path.join(space.cwd, os.path.expanduser(name)))
    if name.endswith(".md") and "\0" not in path and stamp_of(path):
        return _to_work_on(_real(path), space)
    return _called(space, name)


def _only(space: Workspace) -> Look:
    current = read_plans(space.home, space.root).current
    if current and Look(current, space.root).state == "open":
        return Look(current, space.root)
    looks = _open(space, find_plans(space))
    if not looks:
        others = _names(_open(space, _of_plan_mode(space)))
        raise SisyphusError(
            f"no open plan in {space.root}. Write one to .claude/PLAN.md, with tasks like "
            f"`- [ ] do it`{', or name one of the plan mode: ' if others else ''}{others}"
        )
    if len(looks) > 1:
        raise SisyphusError(f"several plans are open; name one: {_names(looks)}")
    return looks[0]


def _called(space: Workspace, name: str) -> Look:
    records = read_plans(space.home, space.root).records
    stamps = {path: stamp for path in records if (stamp := stamp_of(path))}
    plans = newest_first({**find_plans(space), **stamps, **_of_plan_mode(space)})
    looks = [Look(path, space.root) for path in plans]
    wanted = name.casefold()
    exact = [look for look in looks if wanted in _titles(look)]
    partial = [look for look in looks if any(wanted in title for title in _titles(look))]
    matches = _prefer_open(exact) or _prefer_open(partial)
    if not matches:
        known = _names([look for look in looks if look.state == "open"])
        raise SisyphusError(f"no plan is called {name!r}. Open plans: {known or 'none'}")
    if len(matches) > 1:
        raise SisyphusError(f"{name!r} fits several plans; name one: {_names(matches)}")
    return _to_work_on(matches[0].path, space)


def _titles(look: Look) -> tuple[str, ...]:
    file = os.path.basename(look.path)
    return tuple(t.casefold() for t in (look.name, os.path.splitext(file)[0], look.place))


def _prefer_open(looks: list[Look]) -> list[Look]:
    return [look for look in looks if look.state == "open"] or looks


def _open(space: Workspace, paths: Iterable[str]) -> list[Look]:
    looks = (Look(path, space.root) for path in paths)
    return [look for look in looks if look.state == "open"]


def _to_work_on(path: str, space: Workspace) -> Look:
    look = Look(path, space.root)
    if look.state == "unreadable":
        raise SisyphusError(f"{look.problem}. Name another plan.")
    if look.state != "open":
        reason = "is complete" if look.state == "complete" else "has no tasks like `- [ ] do it`"
        raise SisyphusError(f"{look.place} {reason}, so there is nothing to start. Add a task.")
    return look


def _names(looks: list[Look]) -> str:
    more = f" and {len(looks) - _LISTED} more" if len(looks) > _LISTED else ""
    return ", ".join(f"{look.name} ({look.place})" for look in looks[:_LISTED]) + more


def _of_plan_mode(space: Workspace) -> dict[str, Stamp]:
    """Plans of the client's plan mode, newest first: it knows no projects, so they are offered
    by name only. A project's own setting may name a folder of the project alone."""
    folder = os.path.join(space.home, "plans")
    mine = os.path.join(space.home, "settings.json")
    theirs = [
        os.path.join(space.root, ".claude", f"settings{kind}.json") for kind in ("", ".local")
    ]
    for path in (mine, *theirs):
        named = (read_json(path) or {}).get("plansDirectory")
        if isinstance(named, str) and "\0" not in named:
            found = os.path.normpath(os.path.join(space.root, os.path.expanduser(named)))
            if path == mine or is_inside(found, space.root):
                folder = found
    return newest_first(plans_in(folder))


def _real(path: str) -> str:
    """The folder without links, as project roots are spelled; the file's own name stays."""
    folder, name = os.path.split(path)
    return os.path.join(os.path.realpath(folder), name)
