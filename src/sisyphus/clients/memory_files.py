"""The memory files of a client, such as CLAUDE.md, and what they import with `@path`."""

from __future__ import annotations

import os

from sisyphus.ground import files, paths
from sisyphus.ground.errors import UnreadableError
from sisyphus.ground.text import fingerprint

_DEPTH = 5
"""How often one import may follow another, in Claude Code and in Qwen Code."""

_IMPORT = r"(?m)(?:^|(?<=\s))@((?:\\ |[^\s\\])+)"
_MAX_FILES = 200
_MAX_CHARACTERS = 2_000_000
"""The most characters of all files in which we look for imports: a megabyte may take a second."""


def folders_of_repository(folder: str) -> list[str]:
    """Returns the folders from a session's up to the top of its repository, links resolved; outside
    of a repository, the session's alone."""
    above = paths.ancestors(os.path.realpath(folder))
    for number, each in enumerate(above):
        if os.path.lexists(os.path.join(each, ".git")):
            return above[: number + 1]
    return above[:1]


def follow(
    path: str, texts: dict[str, str], *, depth: int = _DEPTH, room: int = _MAX_CHARACTERS
) -> int:
    """Adds a file and its imports to `texts`, path → fingerprint.

    depth: how often one import may follow another. room: how many characters may still be read;
    returns what is left of it.
    """
    if depth < 0 or path in texts or len(texts) >= _MAX_FILES or room <= 0:
        return room
    texts[path] = ""
    try:
        text = files.read(path)
    except UnreadableError:
        return room
    room -= len(text)
    texts[path] = fingerprint(text.strip("\n"))
    if "@" not in text or not depth:
        return room
    import re  # imported late: most files have no `@path`

    from sisyphus.ground import markdown

    text = markdown.visible(text)
    for match in re.finditer(_IMPORT, text):
        name = match[1].replace("\\ ", " ").rstrip(".,;:)")
        target = os.path.join(os.path.dirname(path), os.path.expanduser(name))
        if os.path.isfile(target):
            room = follow(os.path.normpath(target), texts, depth=depth - 1, room=room)
    return room
