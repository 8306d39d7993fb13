"""Decides which plan of a project the next session follows, for that session and for `status`.

It is the first of these that is open: the session's own (after `/clear` that of the session that
ended), the one that `docs/kord/boulder.json` names, one that the user started in a terminal, that
of the package, the only one.
"""

from __future__ import annotations

import os

from sisyphus.boulder import find
from sisyphus.ground import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from sisyphus.boulder.find import PlanFile
    from sisyphus.boulder.plans import PlanRecord


def read(
    project: str, folder: str, rows: Iterable[PlanRecord], own: str, named: Collection[str]
) -> tuple[list[PlanFile], int]:
    """Reads the plans of a project that may be open, also those whose file is missing, and not
    those that were complete or cleared and have not changed since. Returns them, and the number of
    those for which there is no room: the oldest.

    folder: the current one. rows: all records of the project. own: the path of the session's plan.
    named: paths of other plans. "" is none.
    """
    by_path = {row.path: row for row in rows}
    open_rows = [row for row in by_path.values() if row.is_open]
    paths = [*find.of_project(project, folder), own, *named, *(row.path for row in open_rows)]
    order = [path for path in dict.fromkeys(paths) if path and not _is_settled(by_path.get(path))]
    used_last = max(open_rows, key=lambda row: row.used_at, default=None)
    always = {own, *(row.path for row in open_rows if row.is_chosen or row is used_last)}
    first = {*always, *named}
    ranked = sorted(order, key=lambda path: (path not in first, *_rank(path)))
    found, left_out = find.read_some(ranked, project, always)
    places = {path: place for place, path in enumerate(order)}
    found.sort(key=lambda file: places[file.path])
    return found, len(left_out)


def _rank(path: str) -> tuple[bool, float]:
    """Orders plans by how much a session needs them: those of packages and of the root, then the
    newest."""
    return os.path.basename(path) != find.NAME, -files.modified_at(path)


def _is_settled(row: PlanRecord | None) -> bool:
    return row is not None and not row.is_open and find.has_stamp(row.path, row.stamp)


def choose(
    files: Iterable[PlanFile], rows: Iterable[PlanRecord], own: str, kord: str, folder: str
) -> list[PlanFile]:
    """Returns the plan to follow, or all open ones if there is no reason to prefer one. The plans
    of packages that do not contain `folder` count if there are no others.

    own: the path of the session's plan. kord: of the one that `docs/kord/boulder.json` names.
    Both may be "".
    """
    open_files = [file for file in files if file.has_open_tasks]
    by_path = {file.path: file for file in open_files}
    chosen = [row.path for row in rows if row.is_chosen and row.is_open]
    for path in [own, kord, *chosen]:
        if path in by_path:
            return [by_path[path]]
    current = [file for file in open_files if is_of_current_package(file, folder)]
    others = [file for file in open_files if not find.package_of(file.path, file.project)]
    return current[:1] or others or open_files


def is_of_current_package(file: PlanFile, folder: str) -> bool:
    """Tells whether it is the plan of the package that contains `folder`."""
    package = find.package_of(file.path, file.project)
    return bool(package) and (os.path.realpath(folder) + os.sep).startswith(package + os.sep)
