"""The packages that only the dashboard needs, and how they come to this installation."""

from __future__ import annotations

import os
import re
import shlex
import sys
from importlib import util

NAME = "sisyphus"
EXTRA = "dashboard"
PACKAGES = ("fastapi", "uvicorn", "jinja2", "watchfiles")


def missing() -> list[str]:
    """Those that are not there, or are too old."""
    return [one for one in required() if not _is_there(one)]


def how_to_get() -> str:
    """A command for whatever installed this sisyphus."""
    wanted = required()
    if _is_below("pipx", "venvs"):
        return shlex.join(["pipx", "inject", os.path.basename(sys.prefix), *wanted])
    if _is_below("uv", "tools"):
        return f"`uv tool install` as before, with {shlex.join(['--with', ','.join(wanted)])}"
    return shlex.join([sys.executable, "-m", "pip", "install", *wanted])


def required() -> list[str]:
    """As `sisyphus[dashboard]` asks for them."""
    from importlib import metadata  # takes longer than all of a hook

    try:
        told = metadata.requires(NAME) or []
    except metadata.PackageNotFoundError:
        return list(PACKAGES)
    found = [line.partition(";") for line in told]
    names = [name.strip() for name, _, when in found if f'"{EXTRA}"' in when.replace("'", '"')]
    return names or list(PACKAGES)


def _is_there(requirement: str) -> bool:
    """`requirement`: as in "fastapi>=0.136"."""
    from importlib import metadata

    name, _, least = requirement.partition(">=")
    if util.find_spec(name) is None:
        return False
    try:
        return _numbers(metadata.version(name)) >= _numbers(least)
    except metadata.PackageNotFoundError:  # whoever put it there knows of which age it is
        return True


def _numbers(version: str) -> list[int]:
    return list(map(int, re.findall(r"\d+", version)))


def _is_below(*folders: str) -> bool:
    parts = sys.prefix.split(os.sep)
    return any(tuple(parts[i : i + len(folders)]) == folders for i in range(len(parts)))
