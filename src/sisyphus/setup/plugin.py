"""The plugin's folder: hooks, slash commands, and what Claude Code needs to load them."""

import json
import os
import shlex
import shutil
import sys
from pathlib import Path
from typing import Any

import sisyphus
from sisyphus.clients.sites import Installation
from sisyphus.errors import SisyphusError

NAME = "sisyphus"
"""The words that start sisyphus where its folder is on the PATH."""


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
    """Returns the words that start this sisyphus in any shell: its name if PATH leads to it, else
    its path. A virtual environment does not count: it is on the PATH of some shells only."""
    script = _script()
    if not script:
        # -P: a folder `sisyphus` of the project that the client works in is not ours.
        return f"{shlex.quote(sys.executable)} -P -m sisyphus"
    on_path = shutil.which("sisyphus")
    if on_path and os.path.samefile(on_path, script) and not _is_in_environment(on_path):
        return NAME
    return shlex.quote(script)


def _script() -> str:
    """Returns the path of the console script that runs, else of the one that belongs to this
    Python; "" if there is none."""
    for each in (sys.argv[0], os.path.join(os.path.dirname(sys.executable), "sisyphus")):
        if os.path.basename(each) == "sisyphus" and os.path.isfile(each):
            return os.path.abspath(each)
    return ""


def _is_in_environment(script: str) -> bool:
    is_environment = sys.prefix != sys.base_prefix
    return is_environment and os.path.dirname(os.path.abspath(script)).startswith(sys.prefix)
