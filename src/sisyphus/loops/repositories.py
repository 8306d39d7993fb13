"""Finds the repositories in which a project's work lies besides its own: nested ones, submodules,
and the project's other worktrees. Starts no process."""

from __future__ import annotations

import os
from itertools import islice

from sisyphus.ground import files, git

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_MOST = 20
"""The most repositories that are found. Git may be asked about each of them, 5 ms a time."""

_DEPTH, _FOLDERS, _ENTRIES = 4, 2_000, 20_000
"""How far below a project, in how many folders, and among how many files and folders in all, they
are looked for: 50 ms at most."""


def besides(project: str, *, with_worktrees: bool = True) -> list[str]:
    """Returns the folders of a project's other worktrees and repositories, the nearest first. What
    a repository below it says of commits counts only if it knows its folder, see `git`.

    with_worktrees: else only those below the project.
    """
    nested = islice(_nested(project), _MOST)
    worktrees = _worktrees(project) if with_worktrees else ()
    found = dict.fromkeys([*worktrees, *nested])
    return [folder for folder in found if folder != project][:_MOST]


def _nested(project: str) -> Iterator[str]:
    """Yields the repositories below a project, whether it knows them, ignores them, or is none."""
    level, folders, entries = [project], _FOLDERS, _ENTRIES
    for _ in range(_DEPTH):
        below: list[str] = []
        for folder in level:
            listed = files.entries(folder, min(entries, files.MAX_NAMES)) if entries else []
            entries -= len(listed)
            below += [entry.path for entry in listed if _is_searched(entry)]
        level = below[:folders]
        folders -= len(level)
        yield from filter(git.is_repository, level)


def _is_searched(entry: os.DirEntry[str]) -> bool:
    return entry.is_dir(follow_symlinks=False) and entry.name not in git.SKIPPED_FOLDERS


def _worktrees(project: str) -> Iterator[str]:
    """Yields the other worktrees of a project's repository, which may lie anywhere. Each of them
    names the repository, and the repository names the project: what a `.git` alone says may be a
    stranger's word."""
    if not git.is_checkout(project):
        return
    common = git.common_folder(project)
    linked = list(_linked(common))
    if project in linked:
        main, name = os.path.split(common)
        yield from [main] if name == ".git" and git.is_checkout(main) else []
    elif os.path.realpath(common) != os.path.join(project, ".git"):
        return
    yield from linked


def _linked(common: str) -> Iterator[str]:
    """Yields the linked worktrees that a repository and they themselves know, links resolved. Where
    `worktrees`, or an entry in it, is a link, it leads to those of another repository."""
    for entry in files.entries(os.path.join(os.path.realpath(common), "worktrees")):
        mark = git.pointer(os.path.join(entry.path, "gitdir"))
        if mark and os.path.realpath(entry.path) == entry.path:
            folder = os.path.realpath(os.path.join(entry.path, os.path.dirname(mark)))
            if os.path.realpath(git.folder_of(folder)) == entry.path:
                yield folder
