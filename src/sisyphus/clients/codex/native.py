"""What Codex loads by itself, as measured on 0.169.0: AGENTS.md from the top of the repository down
to the session's folder, never below, and no rules. See `clients.base.Native`."""

from __future__ import annotations

import os

from sisyphus.clients import defaults, memory_files
from sisyphus.ground import files, paths
from sisyphus.ground.errors import UnreadableError
from sisyphus.ground.text import fingerprint

COMMAND_SIGN = "$"
RESUME = "codex resume"
MEMORY_FILES = ("AGENTS.override.md", "AGENTS.md")
"""In each folder it loads the first of these that is there."""

_ROOM = 32 * 1024
"""The bytes that it loads of all these files of a project together, from the top down. It cuts what
has no room, and leaves out what comes after that (measured)."""


def codex_home() -> str:
    """Returns the user's folder of Codex: `$CODEX_HOME`, else `~/.codex`; "" if there is no home
    folder."""
    chosen = os.environ.get("CODEX_HOME")
    if chosen:
        return os.path.abspath(chosen)
    own = paths.user_home()
    return os.path.join(own, ".codex") if own else ""


def skills_folder(folder: str) -> str:
    """folder: of Codex, the user's or a project's."""
    return os.path.join(folder, "skills")


def skill_file(folder: str, name: str) -> str:
    """Returns the file of a skill below such a folder."""
    return os.path.join(skills_folder(folder), name, "SKILL.md")


reads_rules_in = sends_rule = defaults.no
RULES_SETTING, rules_left_out = "", defaults.no_mapping
MATCHES_BELOW_ALONE = False
plans_folder = defaults.no_text
"""Its plan mode writes no files."""

shows_dialog = defaults.unknown
"""Its processes tell no session: one of them may serve all terminals."""


def why_agents_md(home: str, folder: str, path: str) -> str:
    place = os.path.realpath(os.path.dirname(path))
    is_cut = _memory_files(folder).get(os.path.join(place, os.path.basename(path))) is False
    if place not in _folders(folder) or is_cut:
        return ""
    return "Codex loads it, as each one from the top of the repository to the session's folder"


def imports(home: str, *folders: str) -> dict[str, str]:
    """It imports no other files with `@path`, and loads none for the files that a session
    touches."""
    return loads(home, folders[0]) if folders else {}


def loads(home: str, folder: str) -> dict[str, str]:
    return {
        path: _fingerprint(path) if is_whole else ""
        for path, is_whole in _memory_files(folder).items()
    }


def _memory_files(folder: str) -> dict[str, bool]:
    """Returns the file that counts in each folder, readable or not → whether it loads all of it."""
    found: dict[str, bool] = {}
    room = _ROOM
    for each in _folders(folder):
        candidates = (os.path.join(each, name) for name in MEMORY_FILES)
        if path := next(filter(os.path.isfile, candidates), ""):
            room -= os.path.getsize(path)
            found[path] = room >= 0
    return found


def _folders(folder: str) -> list[str]:
    """Returns the folders whose AGENTS.md it loads, the top of the repository first; outside of a
    repository, the session's alone."""
    return memory_files.folders_of_repository(folder)[::-1]


def _fingerprint(path: str) -> str:
    try:
        return fingerprint(files.read(path).strip("\n"))
    except UnreadableError:
        return ""


def command_file(home: str, project: str, name: str) -> str:
    own = skill_file(codex_home(), name)
    return own if os.path.isfile(own) else skill_file(os.path.join(project, ".codex"), name)
