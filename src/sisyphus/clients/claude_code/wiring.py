"""What sisyphus adds to Claude Code's settings, and takes out again. See `clients.base.Wiring`."""

import os
from collections.abc import Iterable, Iterator
from typing import Any

from sisyphus.clients import CLAUDE_CODE, entry, hook_files, hook_groups, installer, json_files
from sisyphus.clients.claude_code import native, schema
from sisyphus.clients.installation import Installation, Site, Source
from sisyphus.ground import files
from sisyphus.ground.errors import UnreadableError
from sisyphus.ground.text import one_line

Json = dict[str, Any]

STATUS_LINE_SECONDS, _ONCE = 30, 5
"""How often the client redraws the status line. Without it, the line shows a cancelled loop until
the next turn. _ONCE: what earlier versions wrote, 720 processes an hour in a terminal where nobody
works."""


NEXT = ""
SHARED = "Where it is missing, Claude Code says so when a session starts."
EXCLUDES = (
    "sisyphus sends these rules when they apply, and claudeMdExcludes keeps Claude Code from "
    "loading them at every start. Only your own and those of this project are listed: run "
    "`sisyphus install` once in each project that has such rules."
)


def file(home: str, project: str, *, is_shared: bool) -> str:
    """A project has settings for everybody, and local ones, which its other users do not get."""
    if project:
        name = "settings.json" if is_shared else "settings.local.json"
        return os.path.join(project, ".claude", name)
    return os.path.join(home, "settings.json")


def site(place: Installation, project: str, *, is_shared: bool) -> Site:
    settings = file(place.home, project, is_shared=is_shared)
    folder = commands_folder(place.home, project)
    others = native.settings(place.home, project) if project else []
    line = {
        "type": "command",
        "command": f"{entry.words(place.start)} statusline",
        "refreshInterval": STATUS_LINE_SECONDS,
    }
    return Site(
        CLAUDE_CODE,
        project,
        settings,
        settings,
        place.start,
        place.hooks,
        folder,
        {os.path.join(folder, name): data for name, data in place.commands.items()},
        {} if any("statusLine" in each for each in others) else {"statusLine": line},
    )


def commands_folder(home: str, project: str) -> str:
    return (
        os.path.join(project, ".claude", "commands") if project else os.path.join(home, "commands")
    )


def problem(settings: Json, text: str = "") -> str:
    if hooks := hook_groups.problem(settings, text):
        return hooks
    if isinstance(excludes(settings), list):
        return ""
    return json_files.at_line(text, ["claudeMdExcludes"], '"claudeMdExcludes" is not a list')


def dropped(text: str) -> str:
    return schema.problem(text)


def excludes(settings: Json) -> list[str]:
    globs: list[str] = settings.get("claudeMdExcludes", [])
    return globs


def wire(settings: Json, site: Site, globs: Iterable[str]) -> Json:
    new = hook_groups.wire(settings, site)
    if entry.is_ours(new.get("statusLine"), "statusline"):
        new["statusLine"] |= {"command": f"{entry.words(site.start)} statusline"}
        if new["statusLine"].get("refreshInterval") == _ONCE:
            new["statusLine"]["refreshInterval"] = STATUS_LINE_SECONDS
    if missing := [glob for glob in globs if glob not in excludes(new)]:
        new["claudeMdExcludes"] = [*excludes(new), *missing]
    return new


def unwire(settings: Json, globs: Iterable[str], keys: Iterable[str]) -> Json:
    new = hook_groups.without_ours(settings)
    if entry.is_ours(new.get("statusLine"), "statusline"):
        del new["statusLine"]
    left = [glob for glob in excludes(new) if glob not in globs]
    if left != excludes(new):
        new["claudeMdExcludes"] = left
        if not left:
            del new["claudeMdExcludes"]
    return new


def is_ours(data: bytes) -> bool:
    return False


def notes(site: Site, place: Installation) -> Iterator[str]:
    others = native.settings(place.home, place.project)
    lines = others if site.project else [json_files.read_or_empty(site.settings)]
    if line := foreign_line(lines):
        yield (
            f"You have a status line, {one_line(line)}. It stays, and ours is not installed. Your "
            "own can call `sisyphus statusline` with the same input."
        )
    if name := one_line(enabled_plugin(others)):
        yield (
            f"The plugin {name} is enabled, too. With both, the hooks of the settings answer and "
            f"the plugin's say nothing. To have only one, run `claude plugin disable {name}`, or "
            "do not install."
        )
    for path in native.settings_paths(place.home, place.project):
        if path != site.settings and hook_groups.has_ours(json_files.read_or_empty(path)):
            yield hook_files.also_in(path)


def effects(site: Site, before: bytes | None, after: bytes | None) -> Iterator[str]:
    yield from ()


def sources(place: Installation) -> list[Source]:
    user, shared, local = native.settings_paths(place.home, place.project)
    scopes = {shared: installer.PROJECT, local: installer.LOCAL, user: installer.USER}
    found, every = [], []
    for path in dict.fromkeys((user, shared, local)):
        if not os.path.lexists(path):
            continue
        try:
            text = files.read(path)
            settings = json_files.parse(text)
        except UnreadableError as error:
            found.append(Source(path, scopes[path], problem=str(error)))
            continue
        if hook_groups.has_ours(settings) and (why := problem(settings, text) or dropped(text)):
            found.append(Source(path, scopes[path], problem=why))
            continue
        every.append(settings)
        found += hook_files.source(path, scopes[path], settings, place.hooks)
    if name := enabled_plugin(every):
        found.append(Source("", plugin=name))
    return found


def foreign_line(every: Iterable[Json]) -> str:
    """Returns the command of a status line that is not ours; "" if there is none."""
    for line in (settings.get("statusLine") for settings in every):
        if line is not None and not entry.is_ours(line, "statusline"):
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
