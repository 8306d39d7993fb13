"""Finds programs by PATH, but none that a project has brought along: its `node_modules/.bin`,
`.venv/bin` or `bin`, and `.`, are on the PATH of many shells."""

from __future__ import annotations

import os

from sisyphus.ground import paths

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


_PACKAGES = os.path.join("node_modules", ".bin")
"""The programs there are those of a project's packages, of whatever project."""


def find(name: str, projects: Iterable[str], elsewhere: Iterable[str] = ()) -> str:
    """Returns a program's path; "" = there is none. projects: one inside these, or inside what they
    are part of, does not count. elsewhere: files to try after PATH."""
    strangers = _strangers(projects)
    by_path = (os.path.join(folder, name) for folder in _folders(strangers))
    for path in (*by_path, *elsewhere):
        places = path, os.path.dirname(path)  # each may be a link
        if is_program(path) and all(paths.is_users(each, strangers) for each in places):
            return path
    return ""


def search_path(projects: Iterable[str]) -> str:
    """Returns the PATH for a program of the user that starts others: without folders that are
    relative, inside these projects, or inside what they are part of."""
    return os.pathsep.join(_folders(_strangers(projects)))


def is_program(path: str) -> bool:
    """Tells whether an absolute path names a file that can be run."""
    return os.path.isabs(path) and os.path.isfile(path) and os.access(path, os.X_OK)


def _strangers(projects: Iterable[str]) -> list[str]:
    """Returns the folders whose programs do not count. Where `/` is the project it says nothing:
    all programs are in it."""
    around = (paths.surroundings(os.path.realpath(each)) for each in projects if each)
    return list({folder for each in around for folder in each if folder != os.sep})


def _folders(strangers: list[str]) -> list[str]:
    folders = os.environ.get("PATH", "").split(os.pathsep)
    own = (each for each in folders if not each.rstrip(os.sep).endswith(_PACKAGES))
    return [each for each in own if paths.is_users(each, strangers)]
