"""What Codex loads by itself, as measured on 0.169.0: AGENTS.md from the top of the repository down
to the session's folder, never below, and no rules. See `clients.base.Native`."""

from __future__ import annotations

import os

from sisyphus import files, paths
from sisyphus.errors import UnreadableError
from sisyphus.text import fingerprint

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

COMMAND_SIGN = "$"
MEMORY_FILES = ("AGENTS.override.md", "AGENTS.md")
"""In each folder it loads the first of these that is there."""


def codex_home() -> str:
    """Returns the user's folder of Codex: `$CODEX_HOME`, else `~/.codex`; "" if there is no home
    folder."""
    chosen = os.environ.get("CODEX_HOME")
    if chosen:
        return os.path.abspath(chosen)
    own = paths.user_home()
    return os.path.join(own, ".codex") if own else ""


def skill_file(folder: str, name: str) -> str:
    """Returns the file of a skill below a folder of Codex, the user's or a project's."""
    return os.path.join(folder, "skills", name, "SKILL.md")


def reads_rules_in(place: str) -> bool:
    return False


def sends_rule(keys: Collection[str], *, always: bool) -> bool:
    return False


def settings_paths(home: str, project: str) -> list[str]:
    return []


def rule_excludes(home: str, project: str) -> list[str]:
    return []


def why_agents_md(home: str, folder: str, path: str) -> str:
    above = paths.is_inside(os.path.realpath(folder), os.path.dirname(os.path.realpath(path)))
    return "Codex loads it, as each one above the folder of the session" if above else ""


def imports(home: str, *folders: str) -> dict[str, str]:
    """It imports no other files with `@path`, and loads none for the files that a session
    touches."""
    return loads(home, folders[0]) if folders else {}


def loads(home: str, folder: str) -> dict[str, str]:
    real = os.path.realpath(folder)
    top = paths.project_of(real)
    texts: dict[str, str] = {}
    for each in paths.ancestors(real):
        if not paths.is_inside(each, top):
            continue
        for name in MEMORY_FILES:
            path = os.path.join(each, name)
            try:
                texts[path] = fingerprint(files.read(path).strip("\n"))
            except UnreadableError:
                continue
            break
    return texts


def command_file(home: str, project: str, name: str) -> str:
    own = skill_file(codex_home(), name)
    return own if os.path.isfile(own) else skill_file(os.path.join(project, ".codex"), name)


def plans_folder(home: str, project: str) -> str:
    """Its plan mode writes no files."""
    return ""
