"""The console script that a plugin calls. A version manager's shim in front of it (pyenv, asdf)
costs more than a hook."""

from __future__ import annotations

import os
import shutil
import sysconfig

from sisyphus.errors import SisyphusError

NAME = "sisyphus"
_FILE = "sisyphus.exe" if os.name == "nt" else NAME
_PASSING = {".cache", "archive-v0"}
"""Folders in which `pipx run` and `uvx` keep what they remove again."""


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
            f"`sisyphus` is not on your PATH, so the plugin calls {path}: a path of this machine, "
            "of no use to those who share the file."
        )
    if own and not _is_same(own, on_path):
        return NAME, (
            f"The plugin calls the `sisyphus` of the client's PATH. Here that is {on_path}, not "
            f"{own}; a version manager's shim makes every hook slower."
        )
    return NAME, ""


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


def on_path() -> str:
    """The script that a shell would start; "" = none."""
    found = shutil.which(NAME)
    return _lasting(os.path.abspath(found)) if found else ""


def _is_same(one: str, other: str) -> bool:
    return os.path.realpath(one) == os.path.realpath(other)


def _lasting(path: str) -> str:
    for place in (path, os.path.realpath(path)):
        if _PASSING.intersection(place.split(os.sep)):
            raise SisyphusError(
                f"{path} is a copy that will be removed again (uvx, pipx run). Install sisyphus "
                "first: `pipx install sisyphus` or `uv tool install sisyphus`."
            )
    return path


def _missing() -> str:
    raise SisyphusError(
        "there is no console script `sisyphus` here for the plugin to call. Install sisyphus with "
        "pipx, uv or pip."
    )
