"""What Copilot CLI loads by itself, as measured on 1.0.102. See `clients.base.Native`.

At a start: from the top of the repository down to the session's folder, the memory files of each
folder with what they import by `@path`; and of the repository `.github/copilot-instructions.md`,
and those of `.github/instructions` and of `.claude/rules` that name no files, or all. When its tool
`view` reads a file in the repository: the memory files of the folders above that, and the rules
that name it. Outside of a repository it loads the memory files of the session's folder alone.
"""

from __future__ import annotations

import os

from sisyphus.clients import defaults, json_files, memory_files, values
from sisyphus.clients.copilot import places
from sisyphus.ground import files, paths
from sisyphus.ground.errors import UnreadableError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection
    from typing import Any

COMMAND_SIGN = "/"
RESUME = "copilot --resume"

_INSTRUCTIONS = "copilot-instructions.md"
_AGENTS = "AGENTS.md"
_MEMORY_FILES = (_AGENTS, "CLAUDE.md", "GEMINI.md")
_RULES = (f".github/{_INSTRUCTIONS}", ".github/instructions", ".claude/rules")

ALL_OFF = "disableAllHooks"
_SETTINGS = (
    ".claude/settings.json",
    ".claude/settings.local.json",
    ".github/copilot/settings.json",
    ".github/copilot/settings.local.json",
)
"""The files of a project that may switch off hooks, the weakest first. The user's own settings do
not (measured)."""

RULES_SETTING, rules_left_out = "", defaults.no_mapping
MATCHES_BELOW_ALONE = False
plans_folder = defaults.no_text
"""The plan of its plan mode lies in the session's own folder."""

shows_dialog = defaults.unknown


def reads_rules_in(place: str) -> bool:
    return place in _RULES


def sends_rule(keys: Collection[str], *, always: bool) -> bool:
    """A rule that names files by another key than `paths` or `applyTo` comes at the start, and no
    setting keeps it out: what we sent would be a second copy."""
    return True


def why_agents_md(home: str, folder: str, path: str) -> str:
    place = os.path.realpath(os.path.dirname(path))
    if place in memory_files.folders_of_repository(folder):
        return "Copilot CLI loads it, as each one down to the session's folder"
    is_inside = (top := _top(folder)) and paths.is_inside(place, top)
    return "Copilot CLI loads it when its agent views a file there" if is_inside else ""


def imports(home: str, *folders: str) -> dict[str, str]:
    """Returns no AGENTS.md: `why_agents_md` says of each whether it loads it, and the user may want
    ours all the same. Over its protocol a view loads none."""
    texts = _loaded(*folders)
    return {path: each for path, each in texts.items() if os.path.basename(path) != _AGENTS}


def loads(home: str, folder: str) -> dict[str, str]:
    return _loaded(folder)


def _loaded(*folders: str) -> dict[str, str]:
    """Returns its memory files for these folders, and what they import."""
    texts: dict[str, str] = {}
    top = _top(folders[0]) if folders else ""
    for folder in folders:
        if folder == folders[0] or (top and paths.is_inside(folder, top)):
            _follow(memory_files.folders_of_repository(folder), texts)
    if folders:
        own = places.copilot_home()
        for place in filter(None, (own, os.path.join(top, ".github") if top else "")):
            memory_files.follow(os.path.join(place, _INSTRUCTIONS), texts)
    return texts


def command_file(home: str, project: str, name: str) -> str:
    own = places.skill_file("", name)
    return own if os.path.isfile(own) else places.skill_file(project, name)


def trusts(project: str) -> bool:
    """Tells whether the user trusts a project: it runs the hooks of no other. It trusts what lies
    in a folder that is trusted, too."""
    folders = values.items(_config().get("trustedFolders"))
    return any(paths.is_inside(project, each) for each in folders if values.folder(each))


def hooks_off(project: str) -> str:
    """Returns the file of a project that switches off all hooks, the user's, too; "" = none does.
    It reads those of a project that the user trusts, and takes true alone (measured)."""
    file = ""
    for name in _SETTINGS if trusts(project) else ():
        path = os.path.join(project, name)
        value = json_files.read_or_empty(path, project).get(ALL_OFF)
        if isinstance(value, bool):
            file = path if value else ""
    return file


def _config() -> dict[str, Any]:
    """Reads the file that it writes itself, with comments at its start."""
    try:
        text = files.read(os.path.join(places.copilot_home(), "config.json"))
        lines = (line for line in text.splitlines() if not line.lstrip().startswith("//"))
        return json_files.parse("\n".join(lines))
    except UnreadableError:
        return {}


def _follow(folders: list[str], texts: dict[str, str]) -> None:
    for each in folders:
        for name in _MEMORY_FILES:
            memory_files.follow(os.path.join(each, name), texts)


def _top(folder: str) -> str:
    """Returns the top of the repository; "" = none."""
    last = memory_files.folders_of_repository(folder)[-1]
    return last if os.path.lexists(os.path.join(last, ".git")) else ""
