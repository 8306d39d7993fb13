"""Finds the clients' programs and ours, and asks a client's program for its version."""

import os
import re
import shlex
import shutil
from collections.abc import Iterable

from sisyphus import clients, paths, processes
from sisyphus.clients.findings import Finding, Level
from sisyphus.text import one_line

Version = tuple[int, int, int]

_SECONDS = 5.0
"""How long a program may take to say its version. Claude Code takes 0.1 s, OpenCode 0.6."""

_NUMBERS = re.compile(r"(\d{1,9})\.(\d{1,9})\.(\d{1,9})")


def find(name: str, project: str, elsewhere: Iterable[str] = ()) -> str:
    """Returns a program's path, by PATH; "" = there is none. One inside the project does not count:
    nothing of a project is run.

    elsewhere: files to try after that, from the user's home.
    """
    folders = os.environ.get("PATH", "").split(os.pathsep)
    others = [os.path.join(paths.user_home(), each) for each in elsewhere]
    for path in [*(os.path.join(folder, name) for folder in folders), *others]:
        each = path, os.path.dirname(path)
        if is_program(path) and not any(paths.is_inside(place, project) for place in each):
            return path
    return ""


def is_program(path: str) -> bool:
    """Tells whether an absolute path names a file that can be run."""
    return os.path.isabs(path) and os.path.isfile(path) and os.access(path, os.X_OK)


def is_folder(path: str) -> bool:
    """Tells whether an absolute path names a folder."""
    return os.path.isabs(path) and os.path.isdir(path)


def started_by(start: str) -> str:
    """Returns the program that words of a shell start; "" if it is not there. start: see
    `sites.Installation`."""
    try:
        name = shlex.split(start)[0]
    except (ValueError, IndexError):
        return ""
    path = name if os.sep in name else shutil.which(name) or ""
    return path if is_program(path) else ""


def is_same(start: str, other: str) -> bool:
    """Tells whether two ways to start us run the same program. Of `python -m sisyphus` the file
    does not say it: environments share one."""
    if start == other:
        return True
    one, two = started_by(start), started_by(other)
    is_file = not any(" -m " in each for each in (start, other))
    return is_file and bool(one and two) and os.path.samefile(one, two)


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


def check(title: str, program: str, least: Version, update: str) -> Finding:
    """Compares a client's version with the least one that we know.

    update: the command with which the client updates itself.
    """
    where = one_line(paths.display(program, ""))
    found = version(program)
    if found is None:
        text = f"`{where} --version` does not say its version."
        return Finding(title, Level.WARNING, text, f"Run `{where} --version` yourself.")
    text = f"{_dotted(found)}, {where}."
    if found >= least:
        return Finding(title, Level.GOOD, text)
    known = _dotted(least)
    text = f"{text} sisyphus needs {known} or later: some hooks may not work."
    return Finding(title, Level.WARNING, text, f"Run `{update}`.")


def _dotted(version: Version) -> str:
    return ".".join(map(str, version))
