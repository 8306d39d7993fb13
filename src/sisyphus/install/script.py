"""The console script that hooks and plugins call. A version manager's shim in front of it (pyenv,
asdf) costs more than a hook."""

from __future__ import annotations

import os
import sys
import sysconfig
from itertools import pairwise

from sisyphus.errors import SisyphusError, UnreadableError
from sisyphus.install.place import PROJECT
from sisyphus.paths import project_root
from sisyphus.programs import Programs
from sisyphus.reading import read_head

NAME = "sisyphus"
_FILE = "sisyphus.exe" if os.name == "nt" else NAME
_UVX = "archive-v0"
_PIPX_RUN = [
    (".cache", "pipx"),
    ("Caches", "pipx"),  # macOS
    ("pipx", "Cache"),  # Windows
    ("pipx", ".cache"),
    (".pipx", ".cache"),
]
"""Where `uvx` and `pipx run` keep what they remove again: a folder of the former's cache; a folder
and the one in it, the last two below $PIPX_HOME."""

_HEAD = 4_096  # bytes of a script that are looked at; an installer writes some 200


def called(scope: str) -> tuple[str, list[str]]:
    """What files of this scope call, and what is to be said about it. Of a project, `local` ones
    are the user's own. Raises `SisyphusError`."""
    mine = own(sys.argv[0])
    ways = (mine, on_path(mine, is_needed=not mine))
    if scope == PROJECT:
        path, note = for_project(*ways)
        return path, [note] if note else []
    note = of_others(*ways)
    return for_user(*ways), [note] if note else []


def for_user(own: str, on_path: str) -> str:
    """The absolute path to call, of the two that `own` and `on_path` tell.

    A link on PATH that leads to our own script (as pipx and uv make them) outlives a reinstallation
    and costs nothing. Raises `SisyphusError` where there is no script.
    """
    if own and on_path and not _is_same(own, on_path):
        return own
    return on_path or own or _missing()


def for_project(own: str, on_path: str) -> tuple[str, str]:
    """What a file calls that others may share, and what is to be said about it ("" = nothing)."""
    if not on_path:
        path = own or _missing()
        return path, (
            f"`sisyphus` is not on your PATH, so {path} is called: a path of this machine, of no "
            "use to those who share the file."
        )
    if own and not _is_same(own, on_path):
        return NAME, (
            f"The `sisyphus` of the client's PATH is called. Here that is {on_path}, not {own}; a "
            "version manager's shim makes every hook slower."
        )
    return NAME, ""


def of_others(own: str, on_path: str) -> str:
    """What is to be said where the `sisyphus` on PATH is not the script that is called."""
    if not on_path or (own and _is_same(own, on_path)):
        return ""
    if own:
        return f"`sisyphus` on your PATH is {on_path}, {_kind(on_path)}. {own} is called instead."
    if is_shim(on_path):
        return f"{on_path} is {_kind(on_path)}. There is no other script here to call."
    return ""


def _kind(path: str) -> str:
    if is_shim(path):
        return "a version manager's shim, which makes every hook slower"
    return "another installation's" if is_console_script(path) else "no console script of sisyphus"


def is_shim(path: str) -> bool:
    """Whether a version manager put it there, to start another script (pyenv, asdf, mise)."""
    return os.path.basename(os.path.dirname(path)) == "shims" and not is_console_script(path)


def is_console_script(path: str) -> bool:
    """Whether it is what an installer writes for us: a text that starts our front door."""
    try:
        return b"sisyphus.entry" in read_head(path, _HEAD)
    except UnreadableError:
        return False


def own(started: str) -> str:
    """The script of this very installation; "" = there is none, as in a checkout. `started` is the
    program that runs."""
    folders = [sysconfig.get_path("scripts")]
    folders.append(sysconfig.get_path("scripts", sysconfig.get_preferred_scheme("user")))
    first = [os.path.abspath(started)] if os.path.basename(started) == _FILE else []
    for path in (*first, *(os.path.join(folder, _FILE) for folder in folders)):
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return _lasting(path)
    return ""


def on_path(own: str = "", *, is_needed: bool = True) -> str:
    """The script that a shell would start; "" = none. What lies in the project where one happens to
    be is passed over, if it is not our `own`. One that will be removed again is refused where it
    `is_needed`, else passed over."""
    path = Programs(_here(), own).which(NAME)
    if not path:
        return ""
    return _lasting(path) if is_needed or not _is_passing(path) else ""


def _here() -> str:
    """The project where one is; where that folder is gone, one that holds nothing."""
    try:
        return project_root(os.getcwd())
    except OSError:
        return os.devnull


def _is_same(one: str, other: str) -> bool:
    return os.path.realpath(one) == os.path.realpath(other)


def _lasting(path: str) -> str:
    if _is_passing(path):
        raise SisyphusError(
            f"{path} is a copy that will be removed again (uvx, pipx run). Install sisyphus "
            "first: `pipx install .` or `uv tool install .` in a checkout."
        )
    return path


def _is_passing(path: str) -> bool:
    ways = [place.split(os.sep) for place in (path, os.path.realpath(path))]
    return any(_UVX in way or any(p in _PIPX_RUN for p in pairwise(way)) for way in ways)


def _missing() -> str:
    raise SisyphusError(
        "there is no console script `sisyphus` here to call. Install sisyphus with pipx, uv or pip."
    )
