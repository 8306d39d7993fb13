"""Finds the clients' programs and ours, and asks a client's program for its version."""

import os
import re
import shlex
import shutil
from collections.abc import Iterable

from sisyphus import clients
from sisyphus.clients.finding import Finding, Level
from sisyphus.clients.installation import Program
from sisyphus.ground import executables, paths, processes
from sisyphus.ground.executables import is_program
from sisyphus.ground.text import one_line

Version = tuple[int, int, int]

_SECONDS = 5.0
"""How long a program may take to say its version. Claude Code takes 0.1 s, OpenCode 0.6."""

_PATH_BYTES = 4_096
"""The longest path that Linux knows."""

_NUMBERS = re.compile(r"(\d{1,9})\.(\d{1,9})\.(\d{1,9})")


def find(name: str, project: str, elsewhere: Iterable[str] = ()) -> str:
    """Returns a program's path, by PATH; "" = there is none. One inside the project, or inside what
    that is part of, does not count: nothing of a project is run.

    elsewhere: files to try after that, from the user's home.
    """
    others = [os.path.join(paths.user_home(), each) for each in elsewhere]
    return executables.find(name, [project], others)


def is_folder(path: str) -> bool:
    """Tells whether an absolute path names a folder."""
    return os.path.isabs(path) and os.path.isdir(path)


def started_by(start: str) -> str:
    """Returns the program that words of a shell start; "" if it is not there. start: see
    `installation.Installation`."""
    try:
        name = shlex.split(start)[0]
    except (ValueError, IndexError):
        return ""
    path = name if os.sep in name else shutil.which(name) or ""
    return path if is_program(path) else ""


def is_same(start: str, other: str) -> bool:
    """Tells whether two ways to start us run the same program: that of one environment of Python,
    by its interpreter or by a script in it."""
    if start == other:
        return True
    one, two = _environment(start), _environment(other)
    return bool(one) and one == two


def _environment(start: str) -> str:
    """Returns the folder of the Python that words of a shell start; "" if there is no program. The
    interpreter itself may be a link to one that environments share, so it is not followed."""
    path = started_by(start)
    if path and " -m " not in start:
        path = _interpreter(path) or os.path.realpath(path)
    return os.path.realpath(os.path.dirname(path)) if path else ""


def _interpreter(script: str) -> str:
    """Returns the Python that the first line of a script names; "" if it names none. In what
    `pyenv` puts on the PATH, and where that path is too long for a first line, it is a shell."""
    try:
        with open(script, "rb") as file:
            line = os.fsdecode(file.readline(_PATH_BYTES)).strip()
    except OSError:
        return ""
    path = line.removeprefix("#!")
    is_python = path != line and os.path.basename(path).startswith("python")
    return path if is_python and is_program(path) else ""


def version(program: str) -> Version | None:
    """Returns a program's version; None if it does not say."""
    found = _NUMBERS.search(answer(program))
    return (int(found[1]), int(found[2]), int(found[3])) if found else None


def answer(program: str) -> str:
    """Runs a program to ask its version; returns what it prints, "" if it fails."""
    folder = paths.user_home()
    try:
        done = processes.run(
            [program, "--version"],
            folder if os.path.isdir(folder) else os.sep,
            _SECONDS,
            clients.environment(),
            tail=1_000,
        )
    except OSError:
        return ""
    return "" if done.code else done.output


def path_of(client: Program, project: str) -> str:
    """Returns a client's program as `find` does."""
    return find(client.name, project, client.elsewhere)


def version_of(client: Program, project: str) -> Finding | None:
    """Compares the version of a client's program with the least one that we know; None = there is
    no program."""
    program = path_of(client, project)
    if not program:
        return None
    where, found = one_line(paths.display(program, "")), version(program)
    if found is None:
        text = f"`{where} --version` does not say its version."
        return Finding(client.title, Level.WARNING, text, f"Run `{where} --version` yourself.")
    text = f"{_dotted(found)}, {where}."
    if found >= client.least:
        return Finding(client.title, Level.GOOD, text)
    text = f"{text} sisyphus needs {_dotted(client.least)} or later: some hooks may not work."
    return Finding(client.title, Level.WARNING, text, f"Run `{client.update}`.")


def _dotted(version: Version) -> str:
    return ".".join(map(str, version))
