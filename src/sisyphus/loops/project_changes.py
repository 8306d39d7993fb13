"""Detects whether the project has changed since a time: cheap signs first, then git.

It compares times, so it stores nothing between Stops.
"""

from __future__ import annotations

import time

from sisyphus.ground import git, worktree
from sisyphus.loops import repositories

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

_SECONDS = 5.0
"""How long we ask about other repositories. Git answers in 5 ms, unless one was made to hold it."""


def has_changed(
    project: str,
    since: float,
    now: float,
    *,
    edits_files: bool,
    plan: str = "",
    apart: Collection[str] = (),
) -> bool:
    """Tells whether the project has changed between `since` and `now`.

    edits_files: whether the agent's tools edited files. plan: the file of the session's plan,
    which git may ignore; "" = none. apart: absolute paths of files that do not count.
    """
    if edits_files or since < git.head_moved_at(project) <= now:
        return True
    if plan and since < worktree.changed_at(plan) <= now:
        return True
    if any(path not in apart for path in worktree.changed(project, since, now)):
        return True
    return has_changed_besides(project, since, now, apart)


def has_changed_besides(
    project: str,
    since: float,
    now: float,
    apart: Collection[str] = (),
    *,
    with_worktrees: bool = True,
) -> bool:
    """Tells whether something has changed in the project's other repositories and worktrees: it was
    committed, or a file has a newer time. with_worktrees: else only in repositories below it."""
    others = repositories.besides(project, with_worktrees=with_worktrees)
    if any(since < git.head_moved_at(each) <= now for each in others):
        return True
    end = time.monotonic() + _SECONDS
    for each in others:
        if any(path not in apart for path in worktree.changed(each, since, now)):
            return True
        if time.monotonic() > end:
            break
    return False
