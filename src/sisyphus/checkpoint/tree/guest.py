"""Whether a repository is one in which we may commit, as far as its files tell.

A merge or rebase that the user is in the middle of, and a detached HEAD, on which a commit would
belong to no branch, are left alone; so is a repository whose own configuration might make git run
a program.
"""

from __future__ import annotations

import os

from sisyphus.checkpoint.tree.repository_config import objection
from sisyphus.errors import SisyphusError
from sisyphus.git import branch, git_folders
from sisyphus.paths import main_checkout
from sisyphus.reading import read_text

_CONFIG_BYTES = 1_000_000
_UNDER_WAY = (
    "MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "BISECT_LOG", "rebase-merge", "rebase-apply",
    "sequencer",
)  # fmt: skip


class LeftAloneError(SisyphusError):
    """There is a reason not to commit."""


def check(root: str) -> str:
    """The git folder of the work tree; raises where git is not to be run on it at all."""
    own = os.path.join(root, ".git")
    main = main_checkout(root)
    if not main and (os.path.islink(own) or not os.path.isdir(own)):
        raise LeftAloneError("it is no repository of its own")
    folders = git_folders(root)
    if not folders or not branch(root):
        raise LeftAloneError("no branch is checked out")
    for name in _UNDER_WAY:
        if os.path.lexists(os.path.join(folders[0], name)):
            raise LeftAloneError(f"git is in the middle of something ({name})")
    _check_configuration(*folders)
    return folders[0]


def _check_configuration(own: str, common: str) -> None:
    for folder, name in ((common, "config"), (own, "config.worktree")):
        path = os.path.join(folder, name)
        if os.path.lexists(path) and (why := objection(read_text(path, _CONFIG_BYTES))):
            raise LeftAloneError(why)
