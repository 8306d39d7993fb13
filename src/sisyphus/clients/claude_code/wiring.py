"""What sisyphus adds to Claude Code's settings, and takes out again.

Settings are the content of a settings file. Functions that change them return a copy, in which
everything that is not ours stays as and where it is.
"""

import copy
import os
from collections.abc import Iterable
from typing import Any

from sisyphus.clients import hook_groups

Json = dict[str, Any]

STATUS_LINE_SECONDS = 5
"""How often the client redraws the status line. Without it, the line shows a cancelled loop until
the next turn."""


def settings_file(home: str, project: str, *, is_shared: bool = False) -> str:
    """Returns the file that `install` changes: the user's settings or, with a project, its local
    settings, which its other users do not get. is_shared: those that they get.
    """
    if project:
        name = "settings.json" if is_shared else "settings.local.json"
        return os.path.join(project, ".claude", name)
    return os.path.join(home, "settings.json")


def commands_folder(home: str, project: str) -> str:
    return (
        os.path.join(project, ".claude", "commands") if project else os.path.join(home, "commands")
    )


def problem(settings: Json) -> str:
    """Returns what keeps us from changing these settings, a key of a wrong type; "" if nothing
    does."""
    if hooks := hook_groups.problem(settings):
        return hooks
    return "" if isinstance(excludes(settings), list) else '"claudeMdExcludes" is not a list'


def excludes(settings: Json) -> list[str]:
    """Returns the globs of memory files and rules that the client does not load."""
    globs: list[str] = settings.get("claudeMdExcludes", [])
    return globs


def wire(settings: Json, hooks: Json, start: str, globs: Iterable[str], *, has_line: bool) -> Json:
    """Adds our hooks, globs to exclude, and a status line if there is none. Replaces entries of an
    earlier install that differ.

    hooks: event → groups, as in hooks.json. start: the words that start sisyphus in a shell.
    has_line: other settings have a status line, which ours would replace.
    """
    new = copy.deepcopy(settings)
    hook_groups.add(new, hooks, start)
    line = {"command": f"{start} statusline"}
    if hook_groups.is_ours(new.get("statusLine"), "statusline"):
        new["statusLine"] |= line
    elif "statusLine" not in new and not has_line:
        new["statusLine"] = {"type": "command", **line, "refreshInterval": STATUS_LINE_SECONDS}
    if missing := [glob for glob in globs if glob not in excludes(new)]:
        new["claudeMdExcludes"] = [*excludes(new), *missing]
    return new


def unwire(settings: Json, globs: Iterable[str]) -> Json:
    """Takes out our hooks, our status line, and these globs, which we added."""
    new = copy.deepcopy(settings)
    hook_groups.take_out(new)
    if hook_groups.is_ours(new.get("statusLine"), "statusline"):
        del new["statusLine"]
    left = [glob for glob in excludes(new) if glob not in globs]
    if left != excludes(new):
        new["claudeMdExcludes"] = left
        if not left:
            del new["claudeMdExcludes"]
    return new


def differences(old: Json, new: Json) -> dict[str, list[str]]:
    """Returns what differs, by key: the events, the command of the status line, the globs."""
    before, after = old.get("hooks", {}), new.get("hooks", {})
    line: Json = new.get("statusLine") or old.get("statusLine") or {}
    globs = excludes(old), excludes(new)
    names_by_key = {
        "hooks": [name for name in before | after if before.get(name) != after.get(name)],
        "statusLine": [line["command"]] if old.get("statusLine") != new.get("statusLine") else [],
        "claudeMdExcludes": [
            glob for glob in globs[0] + globs[1] if glob not in globs[0] or glob not in globs[1]
        ],
    }
    return {key: names for key, names in names_by_key.items() if names}


def foreign_line(every: Iterable[Json]) -> str:
    """Returns the command of a status line that is not ours; "" if there is none."""
    for line in (settings.get("statusLine") for settings in every):
        if line is not None and not hook_groups.is_ours(line, "statusline"):
            return str(line.get("command", line)) if isinstance(line, dict) else str(line)
    return ""


def enabled_plugin(every: Iterable[Json]) -> str:
    """Returns our plugin, as `sisyphus@MARKETPLACE`, if the settings enable it; "" if not."""
    return next((name for name in enabled_plugins(every) if name.startswith("sisyphus@")), "")


def enabled_plugins(every: Iterable[Json]) -> list[str]:
    """Returns the plugins, as `NAME@MARKETPLACE`, that settings enable. Later settings win."""
    switches: Json = {}
    for settings in every:
        plugins = settings.get("enabledPlugins")
        switches |= plugins if isinstance(plugins, dict) else {}
    return [name for name, is_on in switches.items() if is_on is True]
