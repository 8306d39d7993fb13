"""Finds the plan that a person means by a path, a name, or a part of one plan's name."""

from __future__ import annotations

import os

from sisyphus import clients
from sisyphus.boulder import find, messages
from sisyphus.boulder.find import PlanFile
from sisyphus.ground import paths
from sisyphus.ground.errors import SisyphusError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar

    from sisyphus.boulder.plans import PlanRecord
    from sisyphus.ground.store import Store

    Named = TypeVar("Named", PlanFile, PlanRecord)


def to_start(store: Store, name: str, project: str, folder: str, home: str) -> PlanFile:
    """Returns the plan that this name means, if it has open tasks. Raises `SisyphusError` if it has
    none, or as `to_read` does."""
    file = to_read(store, name, project, folder, home)
    if not file.has_open_tasks:
        raise SisyphusError(messages.not_to_follow(file))
    return file


def to_read(store: Store, name: str, project: str, folder: str, home: str) -> PlanFile:
    """Returns the plan that this name means. Plan mode's plans come last, because they belong to
    all projects.

    folder: the current one. Raises `SisyphusError` if no plan has this name, or several have it.
    """
    recorded = [row[0] for row in store.all("SELECT path FROM plan WHERE project = ?", project)]
    places = [*find.of_project(project, folder), *find.of_other_tools(project), *recorded]
    path = _existing_path(name, project, folder, set(places))
    name = _bare(name)
    nearest = sorted(dict.fromkeys(places), key=lambda each: _plain(name) not in _plain(each))
    files, _ = find.read_some(nearest, project, always=[path])
    own = [file for file in files if file.stamp]
    matches = [file for file in own if file.path == path]
    matches = matches or _open_first(_with_name(name, own, exactly=True))
    if not matches and path:
        matches = [_read_anywhere(path, project, home)]
    matches = matches or _open_first(_with_name(name, own))
    if not matches:
        plan_mode, _ = find.read_some(find.of_plan_mode(project, home), project)
        matches = _open_first(_with_name(name, plan_mode, exactly=True))
        matches = matches or _open_first(_with_name(name, plan_mode))
    if not matches:
        with_tasks = [file for file in own if file.plan and file.plan.total]
        raise SisyphusError(messages.no_plan_called(name, _ordered(with_tasks)))
    if len(matches) > 1:
        raise SisyphusError(messages.several_called(name, _ordered(matches)))
    return matches[0]


def one_of(rows: list[PlanRecord], name: str, project: str, folder: str) -> PlanRecord:
    """Returns the record, one of `rows`, that this name means; its file may be missing. Raises
    `SisyphusError` if that is not one."""
    matches: list[PlanRecord] = []
    for each in _spellings(name):
        typed = _typed_paths(each, project, folder)
        matches = matches or [row for row in rows if row.path in typed]
    name = _bare(name)
    matches = matches or _with_name(name, rows, exactly=True) or _with_name(name, rows)
    if not matches:
        raise SisyphusError(messages.no_plan_called(name, rows))
    if len(matches) > 1:
        raise SisyphusError(messages.several_called(name, matches))
    return matches[0]


def _bare(name: str) -> str:
    """Returns a name without quotes, `@` and the `…` of a name that was cut."""
    return name.strip().strip("'\"").removeprefix("@").strip("'\"").removesuffix("…")


def _spellings(name: str) -> list[str]:
    """Returns a name as it was typed, and without its `@`: a file may be called `@fix_plan.md`, and
    in a prompt `@` stands before any file."""
    return [name.strip().strip("'\""), _bare(name)]


def _typed_paths(name: str, project: str, folder: str) -> list[str]:
    """Returns the paths that a name is, from the current folder and from the project."""
    bases = (folder, project)
    return [os.path.normpath(os.path.join(each, os.path.expanduser(name))) for each in bases]


def _existing_path(name: str, project: str, folder: str, own: set[str]) -> str:
    """Returns the file whose path a name is; "" if there is none. It prefers one in `own`."""
    typed = (path for each in _spellings(name) for path in _typed_paths(each, project, folder))
    existing = [path for path in typed if os.path.isfile(path)]
    return next((path for path in existing if path in own), existing[0] if existing else "")


def _read_anywhere(path: str, project: str, home: str) -> PlanFile:
    """Reads a plan that the user named by its path. It belongs to the project that contains it, a
    plan of plan mode to the project at hand."""
    folders = clients.plan_folders(home, project)
    is_here = paths.is_inside(path, project) or os.path.dirname(path) in folders
    return find.read(path, project if is_here else paths.project_of(os.path.dirname(path)))


def _with_name(name: str, plans: list[Named], *, exactly: bool = False) -> list[Named]:
    """Returns the plans that have this name, or unless `exactly` a name that contains it."""
    wanted, matches = _plain(name), []
    for plan in plans:
        stem = os.path.splitext(os.path.basename(plan.path))[0]
        names = [_plain(stem), _plain(plan.name)]
        if wanted in names if exactly else wanted and any(wanted in each for each in names):
            matches.append(plan)
    return matches


def _open_first(files: list[PlanFile]) -> list[PlanFile]:
    """Returns only the open ones if there are any."""
    return [file for file in files if file.has_open_tasks] or files


def _plain(name: str) -> str:
    """Returns a name without what people spell differently: case, blanks, `_`, `-`, `@`, `.md`."""
    words = "".join(c if c.isprintable() and c not in "_-" else " " for c in name.casefold())
    return " ".join(words.removesuffix(".md").removeprefix("@").split())


def _ordered(files: list[PlanFile]) -> list[PlanFile]:
    """Returns the open ones first, then the newest."""
    newest = sorted(files, key=lambda file: int(file.stamp.split()[0]), reverse=True)
    return sorted(newest, key=lambda file: not file.has_open_tasks)
