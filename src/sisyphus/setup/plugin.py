"""The plugin's folder: hooks, slash commands, and what Claude Code needs to load them."""

import json
import os
import shlex
import site
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import sisyphus
from sisyphus.clients import entry
from sisyphus.clients.entry import NAME
from sisyphus.clients.installation import Installation
from sisyphus.ground.errors import SisyphusError

_WITH_USER_SITE = f"-P -m {NAME}"
"""What follows the path of a Python that reads no code of the working folder."""


def folder() -> Path:
    """Returns the plugin's folder: in the installed package, or the root of a checkout. Raises
    `SisyphusError` if it is missing."""
    package = Path(str(sisyphus.__file__)).parent
    for each in (package / "plugin", package.parents[1]):
        if (each / "hooks.json").is_file():
            return each
    raise SisyphusError("The plugin's files are missing from this package. Install it again.")


def installation(home: str, project: str, *, is_shared: bool = False) -> Installation:
    """Returns what `install` puts into clients, and where. is_shared: for everybody who has the
    project, each with a sisyphus of their own."""
    return Installation(home, project, hooks(), commands(), NAME if is_shared else start_command())


def hooks() -> dict[str, Any]:
    """Returns what is wired, as in `hooks.json`: event → groups of hooks."""
    groups: dict[str, Any] = json.loads((folder() / "hooks.json").read_text("utf-8"))["hooks"]
    return groups


def commands() -> dict[str, bytes]:
    """Returns the slash commands: file name → content."""
    return {file.name: file.read_bytes() for file in sorted((folder() / "commands").glob("*.md"))}


def start_command() -> str:
    """Returns the words that start this sisyphus in any shell: by the Python that it runs in, whose
    path stays when `uv` or `pipx` updates what is in its environment. Neither the PATH nor a
    program on it has a say.

    There is no script in them. Without its script Python exits with 2, as `hook idle` does to wake
    a session; without its module it exits with 1.
    """
    python = sys.executable
    how = entry.ISOLATED if _is_isolated(python) else _WITH_USER_SITE
    return f"{shlex.quote(python)} {how}"


@cache
def _is_isolated(python: str) -> bool:
    """Tells whether this sisyphus is the one that an isolated Python finds. It does not look where
    `pip install --user` puts it, and first in the site folders of its Python."""
    homes = (os.path.join(folder, NAME) for folder in site.getsitepackages())
    if next(filter(os.path.isdir, homes), "") == os.path.dirname(str(sisyphus.__file__)):
        return True
    command = [python, "-I", "-c", f"import {NAME}; print({NAME}.__file__)"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    found = done.stdout.strip()
    return os.path.isfile(found) and os.path.samefile(found, str(sisyphus.__file__))
