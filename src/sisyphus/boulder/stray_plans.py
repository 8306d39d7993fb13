"""Finds files that are called like a plan and are in no place of one: `docs/PLAN.md`, `plan.md`,
those of packages below. Nobody follows them unless the user names them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import chain

from sisyphus.boulder import find
from sisyphus.boulder.find import PlanFile
from sisyphus.ground import files, git, paths

_MAX_LEVELS, _MAX_FOLDERS = 4, 500
"""How deep we look, and into how many folders of a level: a command may take so long."""


def find_open(project: str) -> list[PlanFile]:
    """Returns those with open tasks, the nearest first."""
    return [file for file in find.read_some(paths_in(project), project)[0] if file.has_open_tasks]


def paths_in(project: str) -> list[str]:
    """Returns their paths, the nearest first."""
    own = {os.path.realpath(path) for path in find.of_project(project)}
    return [
        path
        for path in _called_like_plans(project)
        if not find.tool_of(path)
        and os.path.realpath(path) not in own
        and paths.project_of(os.path.dirname(path)) == project
    ]


def _called_like_plans(project: str) -> Iterator[str]:
    """Yields the files with the name of a plan in any spelling, level by level. Folders that are
    hidden, or full of what others have written, are left out."""
    folders = [project]
    for _ in range(_MAX_LEVELS):
        below: list[str] = []
        for entry in chain.from_iterable(map(files.entries, folders)):
            if entry.is_dir(follow_symlinks=False):
                is_ours = not entry.name.startswith(".") and entry.name not in git.SKIPPED_FOLDERS
                below += [entry.path] if is_ours else []
            elif entry.name.casefold() == find.NAME.casefold() and os.path.isfile(entry.path):
                yield entry.path
        folders = below[:_MAX_FOLDERS]
