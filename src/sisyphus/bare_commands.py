"""Slash commands without a plugin's prefix: whose file is it that answers to such a name?

`sisyphus install` puts our commands into the client's commands folder, where they are called
`/ralph-loop` and not `/sisyphus:ralph-loop`; users have commands of such names of their own.
"""

from __future__ import annotations

import os

from sisyphus.clients import CLAUDE
from sisyphus.clients.base import PREFIX
from sisyphus.errors import UnreadableError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from sisyphus.workspace import Workspace

NAMES = frozenset(
    (
        "boulder-clear", "boulder-enforce", "boulder-list", "boulder-status", "boulder-switch",
        "cancel-ralph", "checkpoint", "enforce", "list-ralph-loops", "ralph-checkpoint",
        "ralph-context", "ralph-help", "ralph-loop", "ralph-pause", "ralph-resume", "ralph-stats",
        "ralph-status", "start-work",
    )
)  # fmt: skip
"""All that comes with us, each a file in `commands/`."""

_MARK = b"# sisyphus "
_HEAD_BYTES = 100  # the line above the mark is `---`


def is_ours(command: str, space: Workspace) -> bool:
    """Whether a command, as it was typed but for the slash, has a plugin's prefix, or is the name
    of a file of ours in the client's commands folder."""
    return ":" in command or _is_marked(_file(command, space))


def is_foreign(command: str, space: Workspace) -> bool:
    """Whether a command without a prefix is that of a file of somebody else. Where there is no
    file, nobody but us can mean the name."""
    if ":" in command or space.client != CLAUDE:
        return False
    path = _file(command, space)
    return path != "" and not _is_marked(path)


def respelled(text: str, space: Workspace) -> str:
    """The text for a person at a terminal, who types our commands in a client: bare where a file
    of ours has the name, else with the plugin's prefix."""
    import re

    def name(found: re.Match[str]) -> str:
        return f"/{found[1]}" if _is_typed_bare(found[1], space) else found[0]

    return re.sub(rf"{PREFIX}([a-z-]+)", name, text)


def _is_typed_bare(name: str, space: Workspace) -> bool:
    if space.client != CLAUDE or _is_marked(_file(name, space)):
        return True
    above = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
    return _is_marked(os.path.join(above, "opencode", "commands", f"{name}.md"))


def _file(name: str, space: Workspace) -> str:
    """What the client takes for this name; "" = nothing.

    Claude Code 2.1.329: skills before commands, the user's before the project's, and of those the
    nearest to the folder where the session began.
    """
    if name not in NAMES:
        return ""
    return next((path for path in _places(name, space) if os.path.isfile(path)), "")


def _places(name: str, space: Workspace) -> Iterator[str]:
    folders = [space.home, *(os.path.join(f, ".claude") for f in _project_folders(space))]
    yield from (os.path.join(folder, "skills", name, "SKILL.md") for folder in folders)
    yield from (os.path.join(folder, "commands", f"{name}.md") for folder in folders)


def _project_folders(space: Workspace) -> Iterator[str]:
    folder = os.path.realpath(space.cwd)
    while folder != space.root and folder != os.path.dirname(folder):
        yield folder
        folder = os.path.dirname(folder)
    yield space.root


def _is_marked(path: str) -> bool:
    """Whether the second line is a mark of `install.marks`; an edited file of ours has it, too."""
    from sisyphus.reading import read_head

    try:
        lines = read_head(path, _HEAD_BYTES).splitlines() if path else []
    except UnreadableError:
        return False
    return len(lines) > 1 and lines[1].startswith(_MARK)
