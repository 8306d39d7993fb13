"""Looks at the slash commands that `sisyphus install` wrote for a client."""

import os
import re
from collections.abc import Iterator, Mapping

from sisyphus.clients import COMMAND_MARK
from sisyphus.clients.finding import Finding, Level
from sisyphus.ground import files, paths
from sisyphus.ground.errors import UnreadableError
from sisyphus.ground.text import one_line

_LINES = re.compile(r"^(?:description|author):.*\n", re.MULTILINE)


def check(subject: str, wanted: Mapping[str, bytes], install: str) -> Iterator[Finding]:
    """Compares the files with what this version writes.

    wanted: path → content, all in one folder, or each in a folder of its own there. install: the
    command that writes them. A file of the user's with such a name is fine: `install` leaves it
    alone.
    """
    states = {path: _state(path, data) for path, data in wanted.items()}
    home = folder(wanted)
    place = one_line(paths.display(home, ""))
    if missing := [path for path, state in states.items() if state == "missing"]:
        text = f"missing in {place}: {_names(missing, home)}."
        yield Finding(subject, Level.WARNING, text, f"Run `{install}`.")
    if different := [path for path, state in states.items() if state == "different"]:
        text = f"not those of this version, or edited, in {place}: {_names(different, home)}."
        mend = f"Run `{install}`. It leaves files that you have edited: delete those before."
        yield Finding(subject, Level.WARNING, text, mend)
    if foreign := [path for path, state in states.items() if state == "foreign"]:
        text = f"your own files in {place}, so that ours are not there: {_names(foreign, home)}."
        yield Finding(subject, Level.GOOD, text)
    if not missing and not different and not foreign and states:
        yield Finding(subject, Level.GOOD, f"all {len(states)} are in {place}.")


def parts(data: bytes) -> tuple[str, str]:
    """Returns the lines of a command's frontmatter that a skill has, too, and its text. data: the
    command's file, as Claude Code gets it."""
    head, _, text = data.decode().partition("\n---\n")
    return "".join(_LINES.findall(f"{head}\n")), text


def ours(wanted: Mapping[str, bytes]) -> list[str]:
    """Returns the files that are there, and ours of any version."""
    return [path for path, data in wanted.items() if _state(path, data) in ("same", "different")]


def folder(wanted: Mapping[str, bytes]) -> str:
    """Returns the folder that has all of these files; "" if there are none."""
    return os.path.commonpath([os.path.dirname(path) for path in wanted]) if wanted else ""


def count(there: list[str]) -> str:
    """Returns how many there are, with the verb."""
    return "1 is" if len(there) == 1 else f"{len(there)} are"


def _state(path: str, wanted: bytes) -> str:
    if not os.path.lexists(path):
        return "missing"
    try:
        text = files.read(path)
    except UnreadableError:
        return "foreign"
    if text == wanted.decode():
        return "same"
    return "different" if COMMAND_MARK in text else "foreign"


def _names(files: list[str], home: str) -> str:
    return ", ".join(os.path.relpath(file, home) for file in files)
