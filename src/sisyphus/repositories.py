"""Finds the repositories in which a project's work lies besides its own: nested ones, submodules,
and the project's other worktrees. Starts no process."""

from __future__ import annotations

import os
from itertools import islice

from sisyphus import files, git

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_MOST = 20
"""The most repositories that are found. Git may be asked about each of them, 5 ms a time."""

_DEPTH, _FOLDERS = 4, 2_000
"""How far below a project, and in how many folders, they are looked for: 30 ms at most."""


def besides(project: str) -> list[str]:
    """Returns the folders of a project's other worktrees and repositories, the nearest first."""
    found = dict.fromkeys([*_worktrees(project), *_nested(project)])
    return [folder for folder in found if folder != project][:_MOST]


def _nested(project: str) -> Iterator[str]:
    """Yields the repositories below a project, whether it knows them, ignores them, or is none."""
    level, room = [project], _FOLDERS
    for _ in range(_DEPTH):
        below = list(islice((path for folder in level for path in _folders(folder)), room))
        room -= len(below)
        yield from filter(git.is_repository, below)
        level = below


def _folders(folder: str) -> Iterator[str]:
    for entry in files.entries(folder):
        if entry.is_dir(follow_symlinks=False) and entry.name not in git.SKIPPED_FOLDERS:
            yield entry.path


def _worktrees(project: str) -> Iterator[str]:
    """Yields the other worktrees of a project's repository, which may lie anywhere. Each of them
    names the repository, too: what `.git` alone says may be a stranger's word."""
    common = git.common_folder(project)
    main, name = os.path.split(common)
    if name == ".git" and git.is_repository(main):
        yield main
    for entry in files.entries(os.path.join(common, "worktrees")) if common else ():
        folder = os.path.dirname(git.pointer(os.path.join(entry.path, "gitdir")))
        if folder and os.path.realpath(git.folder_of(folder)) == os.path.realpath(entry.path):
            yield folder
