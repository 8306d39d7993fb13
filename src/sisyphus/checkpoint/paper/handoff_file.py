"""Puts a handoff into a folder: whole, and never in the place of another file."""

from __future__ import annotations

import os

from sisyphus.paths import client_home, is_inside
from sisyphus.state.files import ensure_folder

FOLDER = (".claude", "handoffs")

_NUMBERS = 1_000
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)


def put_in_project(root: str, name: str, text: str) -> str:
    """Into `.claude/handoffs`, which git is told to ignore; returns the full path.

    Raises `OSError` where that is no folder of the project: a file, a link that leaves it, or the
    client's own.
    """
    folder = os.path.join(root, *FOLDER)
    above = os.path.dirname(folder)
    if os.path.realpath(above) == os.path.realpath(client_home()):
        raise OSError(f"{above} is the client's own folder")
    for made, make in ((above, _make), (folder, ensure_folder)):
        if not is_inside(made, root):
            raise OSError(f"{made} leaves the project")
        make(made)
    _ignore_all(folder)
    return put(folder, name, text)


def put(folder: str, name: str, text: str) -> str:
    """Under `name`, or `name` with a number, where there is no such file; returns the full path.

    The file is written as `.NAME.tmp`. Who makes that alone may use the name, so that no rename
    replaces what another has put there.
    """
    ensure_folder(folder)
    stem, ending = os.path.splitext(name)
    for number in range(1, _NUMBERS):
        path = os.path.join(folder, f"{stem}-{number}{ending}" if number > 1 else name)
        if not os.path.lexists(path) and put_new(path, text.encode("utf-8", "replace")):
            return path
    raise FileExistsError(f"{folder} holds {_NUMBERS - 1} handoffs of this minute")


def put_new(path: str, data: bytes) -> bool:
    """Writes a file that is not there yet; whether its name was free."""
    folder, name = os.path.split(path)
    temporary = os.path.join(folder, f".{name}.tmp")
    try:
        fd = os.open(temporary, _NEW, 0o600)
    except FileExistsError:
        return False
    try:
        with os.fdopen(fd, "wb") as file:
            file.write(data)
        if not os.path.lexists(path):
            os.rename(temporary, path)
            return True
    except OSError:
        os.unlink(temporary)
        raise
    os.unlink(temporary)
    return False


def _make(folder: str) -> None:
    """As the user would make it: others put their files into it too."""
    os.makedirs(folder, exist_ok=True)


def _ignore_all(folder: str) -> None:
    """A guest in a project does not show up in its `git status`."""
    try:
        fd = os.open(os.path.join(folder, ".gitignore"), _NEW, 0o600)
    except FileExistsError:
        return
    with os.fdopen(fd, "wb") as file:
        file.write(b"*\n")
