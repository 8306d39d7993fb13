"""The files in the client's folder of slash commands."""

from __future__ import annotations

import os
from glob import iglob
from itertools import islice

from sisyphus.install import folders, found, manifest, marks, own_files
from sisyphus.install.claude import git_exclude, wanted
from sisyphus.install.claude import place as where
from sisyphus.install.found import SHARED, Found
from sisyphus.install.place import LOCAL, USER
from sisyphus.install.plan import KEEP, Step
from sisyphus.paths import client_home, is_inside

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus._types import Json
    from sisyphus.install.place import Place


_MOST = 1_000
_FOR_ALL = "it is for everybody in the project"


def to_install(place: Place, noted: Json, *, replace: bool) -> list[Step]:
    """Raises `OSError`."""
    folders.check(where.commands(place), place.base)
    files, others = wanted.command_files(place), shared(place, noted)
    mine = {path: data for path, data in files.items() if path not in others}
    steps = own_files.to_install(mine, there(place, noted), _taken(place), replace=replace)
    older = [path for path in others if files.get(path) != marks.unified(others[path].data)]
    return steps + [Step(path, KEEP, others[path], why=_FOR_ALL) for path in older]


def shared(place: Place, noted: Json) -> dict[str, Found]:
    """Path -> what is in it, for the commands of ours that are there for everybody, where this
    user's own are asked for: no changing of what a team may have committed."""
    if place.scope != LOCAL:
        return {}
    own = there(place, noted)
    ours = found.of_ours(_folders(place), ".md")
    others = {path: one for path, one in ours.items() if path not in own}
    return {path: Found(SHARED, "", one.data, one.mode) for path, one in others.items()}


def _taken(place: Place) -> dict[str, str]:
    """Name -> where it stands, for commands and skills of others that ours would stand beside."""
    names: dict[str, str] = {}
    for one in dict.fromkeys([place.folder, client_home()]):
        skills = os.path.join(one, "skills", "*", "SKILL.md")
        names.update({os.path.basename(os.path.dirname(p)): p for p in _first(skills)})
        for path in _first(os.path.join(one, "commands", "*.md")):
            if one != place.folder and found.look(path).kind == found.FOREIGN:
                names[os.path.basename(path).removesuffix(".md")] = path
    return names


def _first(pattern: str) -> list[str]:
    """The paths of a folder that may be a stranger's."""
    return list(islice(iglob(pattern), _MOST))


def to_uninstall(place: Place, noted: Json) -> list[Step]:
    """Raises `OSError`."""
    return own_files.to_uninstall(there(place, noted), own_files.left_over(_folders(place)))


def there(place: Place, noted: Json) -> dict[str, Found]:
    """Path -> what it is, for every command of ours.

    One project's folder serves those who share it and the user alone: what the other scope noted
    stays for it, and what none noted is of those who share it.
    """
    ours = found.of_ours(_folders(place), ".md")
    if place.scope == LOCAL:
        others = _paths(manifest.noted(where.of_project(place.base)))
        return {path: one for path, one in ours.items() if path in _own(place, noted) - others}
    if place.scope == USER:
        return ours
    others = _own(place, manifest.noted(where.of_local(place.base)))
    return {path: one for path, one in ours.items() if path not in others}


def of_user_alone(place: Place) -> list[str]:
    """The paths of those that only this user asked for, in a project."""
    own = _own(place, manifest.noted(where.of_local(place.base)))
    return [path for path in found.of_ours(_folders(place), ".md") if path in own]


def _folders(place: Place) -> list[str]:
    folder = where.commands(place)
    return [folder] if os.path.isdir(folder) and is_inside(folder, place.base) else []


def _own(place: Place, noted: Json) -> set[str]:
    """The paths that are this user's alone in a project; `noted` of the local installation."""
    if noted:
        return _paths(noted)
    return {place.base + line for line in git_exclude.lines_of_ours(place.base, noted)}


def _paths(noted: Json) -> set[str]:
    rows = noted.get("files")
    paths = [row.get("path") for row in rows if isinstance(row, dict)] if rows else []
    return {path for path in paths if isinstance(path, str)}
