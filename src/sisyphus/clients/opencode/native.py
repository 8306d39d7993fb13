"""What OpenCode loads by itself, as measured on 1.18.33: AGENTS.md, or CLAUDE.md in its place, and
no rules. At the start those of the session's folder and above; when a tool touches a file below it,
those between. See `clients.base.Native`."""

from __future__ import annotations

import os

from sisyphus.clients import defaults
from sisyphus.ground import files, paths
from sisyphus.ground.errors import UnreadableError
from sisyphus.ground.text import fingerprint

COMMAND_SIGN = "/"
RESUME = "opencode --session"
MEMORY_FILES = ("AGENTS.md", "CLAUDE.md")
COMMAND_FOLDERS = ("command", "commands")
"""OpenCode reads both. `sisyphus install` writes to the first."""


reads_rules_in = sends_rule = defaults.no
RULES_SETTING, rules_left_out = "", defaults.no_mapping
MATCHES_BELOW_ALONE = False
plans_folder = defaults.no_text
"""Its plan agent writes no files."""

shows_dialog = defaults.unknown
"""The plugin reports no dialogs: OpenCode's own server answers them."""


def why_agents_md(home: str, folder: str, path: str) -> str:
    return "OpenCode loads it" if paths.are_in_line(folder, os.path.dirname(path)) else ""


def imports(home: str, *folders: str) -> dict[str, str]:
    """It imports no other files with `@path`."""
    inside = [folder for folder in folders if paths.is_inside(folder, folders[0])]
    return {path: text for folder in inside for path, text in loads(home, folder).items()}


def loads(home: str, folder: str) -> dict[str, str]:
    texts: dict[str, str] = {}
    for each in paths.ancestors(os.path.realpath(folder)):
        for name in MEMORY_FILES:
            path = os.path.join(each, name)
            try:
                texts[path] = fingerprint(files.read(path).strip("\n"))
            except UnreadableError:
                continue
            break
    return texts


def command_file(home: str, project: str, name: str) -> str:
    """The project's counts before the user's. Which of its two folders counts, OpenCode does not
    say: the one in which we write nothing is the user's choice."""
    homes = (os.path.join(project, ".opencode"), config_home())
    places = [os.path.join(h, f, f"{name}.md") for h in homes for f in reversed(COMMAND_FOLDERS)]
    return next((path for path in places if os.path.isfile(path)), places[-1])


def config_home() -> str:
    """Returns the user's folder of OpenCode."""
    base = os.environ.get("XDG_CONFIG_HOME") or os.path.join(paths.user_home(), ".config")
    return os.path.join(base, "opencode")
