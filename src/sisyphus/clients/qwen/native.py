"""What Qwen Code loads by itself, as measured on 0.24.4: QWEN.md and AGENTS.md of the session's
folder and of each one above, those of its own folder, and what they import with `@path`. Of rules,
only those in folders of its own. See `clients.base.Native`."""

from __future__ import annotations

import os

from sisyphus.clients import defaults, json_files, memory_files
from sisyphus.ground import paths

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

COMMAND_SIGN = "/"
RESUME = "qwen --resume"
ALL_OFF = "disableAllHooks"
CAP, MOST_BLOCKS = "stopHookBlockingCap", 100
"""How many Stops since the user's prompt its settings let hooks block, and the most that they can
choose."""

_MEMORY_FILES = ("QWEN.md", "AGENTS.md")


def qwen_home() -> str:
    """Returns the user's folder of Qwen Code: `$QWEN_HOME`, else `~/.qwen`; "" if there is no home
    folder."""
    chosen = os.environ.get("QWEN_HOME")
    if chosen:
        return os.path.abspath(os.path.expanduser(chosen))
    own = paths.user_home()
    return os.path.join(own, ".qwen") if own else ""


def folder(project: str) -> str:
    """Returns the user's folder of Qwen Code or, with a project, the one there."""
    return os.path.join(project, ".qwen") if project else qwen_home()


def settings(project: str) -> list[dict[str, Any]]:
    """Reads its settings files, the user's first. Skips those that cannot be read."""
    files = settings_files(project).items()
    return [data for path, inside in files if (data := json_files.read_or_empty(path, inside))]


def settings_files(project: str) -> dict[str, str]:
    """Returns its settings files, the user's first → the folder that must contain the file, ""
    for the user's."""
    own, projects = (os.path.join(folder(each), "settings.json") for each in ("", project))
    files = {own: "", projects: project} | {own: ""}  # one file if the project is the home folder
    return {path: inside for path, inside in files.items() if os.path.isabs(path)}


def hooks_off(project: str) -> str:
    """Returns the settings file that switches all hooks off; "" = none does. The project's file is
    the stronger, and "true" and 1 do as well as true (measured)."""
    file = ""
    for path, inside in settings_files(project).items():
        settings = json_files.read_or_empty(path, inside)
        if ALL_OFF in settings:
            file = path if settings[ALL_OFF] else ""
    return file


reads_rules_in = sends_rule = defaults.no
RULES_SETTING, rules_left_out = "", defaults.no_mapping
MATCHES_BELOW_ALONE = False
plans_folder = defaults.no_text
"""Its plan mode writes no files that we know of."""

shows_dialog = defaults.unknown


def why_agents_md(home: str, folder: str, path: str) -> str:
    above = paths.is_inside(os.path.realpath(folder), os.path.dirname(os.path.realpath(path)))
    return "Qwen Code loads it, as each one above the folder of the session" if above else ""


def imports(home: str, *folders: str) -> dict[str, str]:
    """It loads none for the files that a session touches."""
    return loads(home, folders[0]) if folders else {}


def loads(home: str, folder: str) -> dict[str, str]:
    texts: dict[str, str] = {}
    for each in (qwen_home(), *paths.ancestors(os.path.realpath(folder))):
        for name in _MEMORY_FILES:
            memory_files.follow(os.path.join(each, name), texts)
    return texts


def command_file(home: str, project: str, name: str) -> str:
    own, projects = (os.path.join(folder(each), "commands", f"{name}.md") for each in ("", project))
    return projects if os.path.isfile(projects) else own
