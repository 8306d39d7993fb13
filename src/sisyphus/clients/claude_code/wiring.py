"""What sisyphus adds to Claude Code's settings, and takes out again, and how it is, as measured on
2.1.329. See `clients.base.Wiring`.

A settings file that is not valid JSON, or has a key of a wrong type, the client ignores as a whole.
"""

import copy
import os
import shlex
import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any

from sisyphus.clients import (
    CLAUDE_CODE,
    defaults,
    entry,
    hook_files,
    hook_groups,
    installer,
    json_files,
    programs,
)
from sisyphus.clients.claude_code import headless, native, schema, switches
from sisyphus.clients.finding import Finding, Level
from sisyphus.clients.hook_files import SHOWN
from sisyphus.clients.installation import Installation, Program, Site
from sisyphus.clients.wired import ORGANISATION, Wired
from sisyphus.ground import files
from sisyphus.ground.errors import UnreadableError
from sisyphus.ground.text import one_line

Json = dict[str, Any]

CLIENT = Program(
    "Claude Code",
    headless.PROGRAM,
    (2, 1, 329),  # PostToolBatch is new
    "claude update",
    (".claude/local/claude", ".local/bin/claude"),
)
TITLE = CLIENT.title

_HOOKS, _SETTINGS, _COMMANDS = f"{TITLE} hooks", f"{TITLE} settings", f"{TITLE} commands"
_LINE, _OTHERS = f"{TITLE} status line", f"{TITLE} plugins"

_TRACES = ("settings.json", "projects")
"""What is in the user's folder where it has been in use."""

_MANAGED = {"darwin": "/Library/Application Support/ClaudeCode"}
"""Where an organisation's settings are, which beat all others; elsewhere `/etc/claude-code`."""

_MOST_MANAGED = 100

_LOOPS = ("ralph-loop", "ralph-wiggum", "ralph-wiggum-pro", "oh-my-claudecode")
"""Plugins that block Stops, too."""

STATUS_LINE_SECONDS, _ONCE = 30, 5
"""How often the client redraws the status line. Without it, the line shows a cancelled loop until
the next turn. _ONCE: what earlier versions wrote, 720 processes an hour in a terminal where nobody
works."""


NEXT = ""
SHARED = "Where it is missing, Claude Code says so when a session starts."


def _file(home: str, project: str, *, is_shared: bool) -> str:
    """A project has settings for everybody, and local ones, which its other users do not get."""
    if project:
        name = "settings.json" if is_shared else "settings.local.json"
        return os.path.join(project, ".claude", name)
    return os.path.join(home, "settings.json")


def site(place: Installation, project: str, *, is_shared: bool) -> Site:
    settings = _file(place.home, project, is_shared=is_shared)
    folder = _commands_folder(place.home, project)
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
        _commands(place, project),
        {} if any("statusLine" in each for each in others) else {"statusLine": line},
    )


def _commands(place: Installation, project: str) -> Mapping[str, bytes]:
    """Returns path → content of our slash commands, for the user ("") or a project."""
    folder = _commands_folder(place.home, project)
    return {os.path.join(folder, name): data for name, data in place.commands.items()}


def _commands_folder(home: str, project: str) -> str:
    return os.path.join(os.path.join(project, ".claude") if project else home, "commands")


def problem(settings: Json, text: str = "") -> str:
    if hooks := hook_groups.problem(settings, text):
        return hooks
    if isinstance(_left_out(settings), list):
        return ""
    return json_files.at_line(
        text, [native.RULES_SETTING], f'"{native.RULES_SETTING}" is not a list'
    )


dropped = schema.problem
effects = defaults.none_of_it


def _left_out(settings: Json) -> list[str]:
    globs: list[str] = settings.get(native.RULES_SETTING, [])
    return globs


def wire(settings: Json, site: Site, globs: Iterable[str]) -> Json:
    new = hook_groups.wire(settings, site)
    if entry.is_ours(new.get("statusLine"), "statusline"):
        new["statusLine"] |= {"command": f"{entry.words(site.start)} statusline"}
        if new["statusLine"].get("refreshInterval") == _ONCE:
            new["statusLine"]["refreshInterval"] = STATUS_LINE_SECONDS
    if missing := [glob for glob in globs if glob not in _left_out(new)]:
        new[native.RULES_SETTING] = [*_left_out(new), *missing]
    return new


def unwire(settings: Json, globs: Iterable[str], keys: Iterable[str]) -> Json:
    new = hook_groups.without_ours(settings)
    if entry.is_ours(new.get("statusLine"), "statusline"):
        del new["statusLine"]
    left = [glob for glob in _left_out(new) if glob not in globs]
    if left != _left_out(new):
        new[native.RULES_SETTING] = left
        if not left:
            del new[native.RULES_SETTING]
    return new


def notes(site: Site, place: Installation) -> Iterator[str]:
    others = native.settings(place.home, place.project)
    lines = others if site.project else [json_files.read_or_empty(site.settings)]
    if line := foreign_line(lines):
        yield (
            f"You have a status line, {one_line(line)}. It stays, and ours is not installed. Your "
            'own can show it: `input=$(cat)` first, then `printf %s "$input" | sisyphus '
            "statusline`."
        )
    if name := one_line(enabled_plugin(others)):
        yield (
            f"The plugin {name} is enabled, too. With both, the hooks of the settings answer and "
            f"the plugin's say nothing. To have only one, run `claude plugin disable {name}`, or "
            "do not install."
        )
    for each in read(place):
        if each.path not in ("", site.settings) and each.scope != ORGANISATION and each.is_ours:
            yield hook_files.also_in(each.path)


def read(place: Installation, managed: str = "") -> list[Wired]:
    """The weakest first; a plugin that they enable last. managed: the folder of an organisation's
    settings; "" = where the client looks for it."""
    user, shared, local = native.settings_paths(place.home, place.project)
    scopes = {user: installer.USER, shared: installer.PROJECT, local: installer.LOCAL}
    scopes[user] = installer.USER  # in the home folder it may be the project's, too
    scopes |= dict.fromkeys(managed_files(managed), ORGANISATION)
    found = [_read(path, scope, place) for path, scope in scopes.items() if os.path.lexists(path)]
    plugin = enabled_plugin(each.content for each in found if not each.problem)
    return [*found, Wired(CLAUDE_CODE, "", "", plugin=plugin)] if plugin else found


def _read(path: str, scope: str, place: Installation) -> Wired:
    content: Json = {}
    try:
        text = files.read(path)
        content = json_files.parse(text)
        copy.deepcopy(content)  # as `wire` does
        why = problem(content, text)
        if scope != ORGANISATION:  # what the client makes of theirs was not measured
            why = why or dropped(text)
    except UnreadableError as error:
        why = str(error)
    except RecursionError:
        why = "it is nested too deeply"
    is_current = bool(why) or hook_groups.is_current(content, place.hooks)
    return Wired(CLAUDE_CODE, path, scope, content, why, is_current)


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


# ---------------------------------------------------------------- how it is


def is_here(home: str, project: str) -> bool:
    """Our own folder lies in the client's: that it is there says nothing."""
    traces = map(os.path.lexists, (os.path.join(home, name) for name in _TRACES))
    return bool(programs.path_of(CLIENT, project)) or any(traces)


def look(place: Installation, files: list[Wired]) -> Iterator[Finding]:
    usable = [each for each in files if each.path and not each.problem]
    ours = [each for each in usable if each.is_ours]
    plugin = next((each.plugin for each in files if each.plugin), "")
    found = programs.version_of(CLIENT, place.project)
    yield from hook_files.check_program(found, CLIENT, ours)
    if plugin and not found and not ours:
        yield Finding(TITLE, Level.WARNING, "there is no `claude` on the PATH.", "Install it.")
    yield from _unusable(files)
    yield from switches.check(_SETTINGS, usable, place.home)
    yield from _hooks(place, ours)
    yield from _plugin(plugin, ours)
    if ours or not plugin:
        commands = partial(_commands, place)
        yield from hook_files.check_commands(_COMMANDS, ours, commands, CLAUDE_CODE, place)
    yield from _status_line(usable)
    yield from _other_loops(usable)


def managed_files(folder: str = "") -> list[str]:
    """Returns the files of an organisation's settings, whether they exist or not. folder: "" =
    where the client looks for them."""
    folder = folder or _MANAGED.get(sys.platform, "/etc/claude-code")
    more = os.path.join(folder, "managed-settings.d")
    try:
        names = sorted(name for name in os.listdir(more) if name.endswith(".json"))
    except OSError:
        names = []
    paths = [os.path.join(more, name) for name in names[:_MOST_MANAGED]]
    return [os.path.join(folder, "managed-settings.json"), *paths]


def _unusable(files: list[Wired]) -> Iterator[Finding]:
    for each in files:
        if each.problem:
            install = hook_files.command("install", each)
            again = f", then run `{install}`" if install else ""
            mend = f"Correct the file{again}. Claude Code ignores a broken file as a whole."
            yield hook_files.broken(_SETTINGS, each, mend)


def _hooks(place: Installation, ours: list[Wired]) -> Iterator[Finding]:
    findings: list[Finding] = []
    if ours and (missing := hook_groups.missing((each.content for each in ours), place.hooks)):
        text = f"not wired: {', '.join(missing)}."
        findings.append(Finding(_HOOKS, Level.PROBLEM, text, hook_files.mend(ours[0])))
    for each in ours:
        findings += hook_files.check_hooks(_HOOKS, each, place.hooks, each.starts, place)
    for other in ours[1:]:
        if other.starts != ours[0].starts:  # it runs a command once that several files have
            effect = "each event starts two processes"
            findings.append(hook_files.twice(_HOOKS, [ours[0], other], effect))
    if ours and not findings:
        findings.append(hook_files.wired_by(_HOOKS, place.hooks, ours))
    yield from findings


def _plugin(plugin: str, ours: list[Wired]) -> Iterator[Finding]:
    if not plugin:
        return
    name = one_line(plugin, SHOWN)
    if ours:
        text = f"wired twice, by {ours[0].name} and the plugin {name}: the plugin's say nothing."
        yield Finding(_HOOKS, Level.WARNING, text, f"Run `{_disable(plugin)}`.")
    elif not programs.started_by("sisyphus"):
        text = f"the plugin {name} starts `sisyphus`, which is not on the PATH: no event arrives."
        yield Finding(_HOOKS, Level.PROBLEM, text, installer.ON_PATH)
    else:
        yield Finding(_HOOKS, Level.GOOD, f"wired by the plugin {name}.")


def _disable(plugin: str) -> str:
    return f"claude plugin disable {shlex.quote(one_line(plugin, SHOWN))}"


def _status_line(usable: list[Wired]) -> Iterator[Finding]:
    lines = [each for each in usable if "statusLine" in each.content]
    if not lines:
        text = f"none. `{installer.command('install', CLAUDE_CODE)}` adds one."
        yield Finding(_LINE, Level.GOOD, text)
    elif foreign := foreign_line([lines[-1].content]):
        text = f"your own, {one_line(foreign, SHOWN)}. It can call `sisyphus statusline`."
        yield Finding(_LINE, Level.GOOD, text)
    else:
        yield Finding(_LINE, Level.GOOD, f"that of sisyphus, by {lines[-1].name}.")


def _other_loops(usable: list[Wired]) -> Iterator[Finding]:
    for each in enabled_plugins(source.content for source in usable):
        if each.partition("@")[0] in _LOOPS:
            text = f"{one_line(each, SHOWN)} is enabled: it blocks Stops, too."
            yield Finding(_OTHERS, Level.WARNING, text, f"Run `{_disable(each)}`.")
