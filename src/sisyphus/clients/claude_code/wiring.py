"""What sisyphus adds to Claude Code's settings, and takes out again.

Settings are the content of a settings file. Functions that change them return a copy, in which
everything that is not ours stays as and where it is.
"""

import copy
import os
import re
import shlex
from collections.abc import Callable, Iterable, Iterator
from typing import Any

Json = dict[str, Any]

STATUS_LINE_SECONDS = 5
"""How often the client redraws the status line. Without it, the line shows a cancelled loop until
the next turn."""


_LONGEST = 10_000
"""No command of ours has more characters. To split a megabyte takes a second."""

_CALL = re.compile(r"(.*)\shook\s+(\S+)", re.DOTALL)


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
    hooks = settings.get("hooks", {})
    if not isinstance(hooks, dict):
        return '"hooks" is not an object'
    for event, groups in hooks.items():
        if not isinstance(groups, list):
            return f'"hooks" has an entry "{event}" that is not a list'
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
    _add_hooks(new, hooks, start)
    line = {"command": f"{start} statusline"}
    if _is_ours(new.get("statusLine"), "statusline"):
        new["statusLine"] |= line
    elif "statusLine" not in new and not has_line:
        new["statusLine"] = {"type": "command", **line, "refreshInterval": STATUS_LINE_SECONDS}
    if missing := [glob for glob in globs if glob not in excludes(new)]:
        new["claudeMdExcludes"] = [*excludes(new), *missing]
    return new


def unwire(settings: Json, globs: Iterable[str]) -> Json:
    """Takes out our hooks, our status line, and these globs, which we added."""
    new = copy.deepcopy(settings)
    _keep_hooks(new, lambda _event, _matcher, hook: not _is_ours(hook, "hook"))
    if _is_ours(new.get("statusLine"), "statusline"):
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


def has_hooks(settings: Json) -> bool:
    """Tells whether these settings run our hooks."""
    return bool(our_hooks(settings))


def our_hooks(settings: Json) -> list[tuple[str, str, Json]]:
    """Returns the hooks of these settings that are ours, each with its event and its matcher."""
    return [each for each in every_hook(settings) if _is_ours(each[2], "hook")]


def every_hook(settings: Json) -> Iterator[tuple[str, str, Any]]:
    """Yields all hooks of these settings, each with its event and its matcher."""
    events = settings.get("hooks")
    for event, groups in events.items() if isinstance(events, dict) else ():
        for group in groups if isinstance(groups, list) else ():
            hooks = group.get("hooks") if isinstance(group, dict) else None
            for hook in hooks if isinstance(hooks, list) else ():
                yield event, group.get("matcher", ""), hook


def call(hook: Json) -> tuple[str, str]:
    """Returns the words that start us in a hook of ours, and the event that it names."""
    found = _CALL.match(hook["command"])
    return (found[1], found[2]) if found else (hook["command"], "")


def foreign_line(every: Iterable[Json]) -> str:
    """Returns the command of a status line that is not ours; "" if there is none."""
    for line in (settings.get("statusLine") for settings in every):
        if line is not None and not _is_ours(line, "statusline"):
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


def _add_hooks(settings: Json, hooks: Json, start: str) -> None:
    """Adds the hooks that are missing, and takes out those of an earlier install that differ."""
    missing = [
        (event, group.get("matcher", ""), _with_start(hook, start))
        for event, groups in hooks.items()
        for group in groups
        for hook in group["hooks"]
    ]

    def stays(event: str, matcher: str, hook: Json) -> bool:
        if not _is_ours(hook, "hook"):
            return True
        if (event, matcher, hook) not in missing:
            return False
        missing.remove((event, matcher, hook))
        return True

    _keep_hooks(settings, stays)
    for event, matcher, hook in missing:
        group = {"matcher": matcher, "hooks": [hook]} if matcher else {"hooks": [hook]}
        settings.setdefault("hooks", {}).setdefault(event, []).append(group)


def _with_start(hook: Json, start: str) -> Json:
    return {**hook, "command": start + hook["command"].removeprefix("sisyphus")}


def _is_ours(entry: object, command: str) -> bool:
    """Tells whether a hook or status line runs `sisyphus COMMAND`, from whatever folder."""
    line = entry.get("command") if isinstance(entry, dict) else None
    try:
        is_short = isinstance(line, str) and len(line) <= _LONGEST
        words = shlex.split(line) if is_short else []
    except ValueError:
        return False
    words = [word for word in words if word != "-P"]
    if words[1:3] == ["-m", "sisyphus"]:
        words = words[2:]
    return len(words) > 1 and os.path.basename(words[0]) == "sisyphus" and words[1] == command


def _keep_hooks(settings: Json, stays: Callable[[str, str, Json], bool]) -> None:
    """Takes out the hooks that do not stay, and each group and event that is empty without them."""
    events = settings.get("hooks", {})
    for event, groups in list(events.items()):
        left = [each for group in groups for each in _rest(event, group, stays)]
        if left == groups:
            continue
        events[event] = left
        if not left:
            del events[event]
        if not events:
            del settings["hooks"]


def _rest(event: str, group: Any, stays: Callable[[str, str, Json], bool]) -> list[Any]:
    """Returns the group with the hooks that stay, in a list; an empty list if none does."""
    hooks = group.get("hooks") if isinstance(group, dict) else None
    if not isinstance(hooks, list):
        return [group]
    left = [hook for hook in hooks if stays(event, group.get("matcher", ""), hook)]
    if left == hooks:
        return [group]
    return [{**group, "hooks": left}] if left else []
