"""The file that a tool touched, as globs see it."""

from __future__ import annotations

import os


def relative(path: str, root: str) -> tuple[str, bool]:
    """The path relative to the project with forward slashes, and whether it lies inside.

    A path that is spelled as inside counts as inside, be it a link; one that only leads there by
    a link (a linked working directory) does too. `root` has its links resolved.
    """
    for candidate in (os.path.normpath(path), os.path.realpath(path)):
        if candidate.startswith(root.rstrip(os.sep) + os.sep):
            return _slashes(candidate[len(root.rstrip(os.sep)) + 1 :]), True
    try:
        return _slashes(os.path.relpath(os.path.realpath(path), root)), False
    except ValueError:  # Windows: another drive
        return _slashes(path), False


def _slashes(path: str) -> str:
    return path.replace(os.sep, "/")
