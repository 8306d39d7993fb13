"""Looks at how Claude Code is wired, as measured on 2.1.329. See `clients.base.Checkup`.

A settings file that is not valid JSON, or has a key of a wrong type, it ignores as a whole. `env`
in any of them beats the environment.
"""

import copy
import os
import shlex
import sys
from collections.abc import Iterator
from typing import Any

from sisyphus.clients import (
    CLAUDE_CODE,
    hook_files,
    hook_groups,
    installer,
    json_files,
    programs,
    slash_commands,
)
from sisyphus.clients.claude_code import headless, native, wiring
from sisyphus.clients.finding import Finding, Level
from sisyphus.clients.installation import Installation
from sisyphus.ground import files, paths
from sisyphus.ground.errors import UnreadableError
from sisyphus.ground.record import Record
from sisyphus.ground.text import one_line

Json = dict[str, Any]

TITLE = "Claude Code"
LEAST = (2, 1, 329)
"""The version in which everything was measured; PostToolBatch is new."""

_HOOKS, _SETTINGS, _COMMANDS = f"{TITLE} hooks", f"{TITLE} settings", f"{TITLE} commands"
_LINE, _OTHERS = f"{TITLE} status line", f"{TITLE} plugins"

_ELSEWHERE = (".claude/local/claude", ".local/bin/claude")
"""Where its installer puts it, if PATH does not lead there."""

_TRACES = ("settings.json", "projects")
"""What is in the user's folder where it has been in use."""

_MANAGED = {"darwin": "/Library/Application Support/ClaudeCode"}
"""Where an organisation's settings are, which beat all others; elsewhere `/etc/claude-code`."""

_MOST_MANAGED = 100

_ALL_OFF, _OTHERS_OFF = "disableAllHooks", "allowManagedHooksOnly"
_OUR_SWITCH = "SISYPHUS_DISABLE"
_ITS_SWITCHES = ("CLAUDE_CODE_SIMPLE", "CLAUDE_CODE_SAFE_MODE")
"""Variables with which it runs no hooks. It takes them from its environment and from the user's
settings."""

_LOOPS = ("ralph-loop", "ralph-wiggum", "ralph-wiggum-pro", "oh-my-claudecode")
"""Plugins that block Stops, too."""

_SHOWN, _PATH_SHOWN = 80, 300
"""The most characters that are shown of a name and of a path from somebody's settings."""


_ORGANISATION = "organisation"
"""Whose a settings file is, besides the scopes of `install`."""


class _Source(Record, frozen=True):
    """A settings file that exists. scope: whose it is. problem: why the client cannot use it."""

    path: str
    scope: str
    settings: Json
    problem: str = ""

    @property
    def name(self) -> str:
        return one_line(paths.display(self.path, ""))

    @property
    def starts(self) -> list[str]:
        """The ways in which its hooks start us, see `Installation.start`."""
        return hook_groups.starts(self.settings)

    def command(self, verb: str) -> str:
        """Returns the command that installs or uninstalls us in this file; "" = none does."""
        if self.scope == _ORGANISATION:
            return ""
        return installer.command(verb, CLAUDE_CODE, self.scope)


def is_here(home: str, project: str) -> bool:
    """Our own folder lies in the client's: that it is there says nothing."""
    traces = map(os.path.lexists, (os.path.join(home, name) for name in _TRACES))
    return bool(program(project)) or any(traces)


def is_wired(home: str, project: str) -> bool:
    managed = map(json_files.read_or_empty, managed_files(managed_folder()))
    every = [*native.settings(home, project), *managed]
    return any(map(hook_groups.has_ours, every)) or bool(wiring.enabled_plugin(every))


def look(place: Installation, managed: str = "") -> Iterator[Finding]:
    """managed: the folder of an organisation's settings; "" = where the client looks for it."""
    sources = list(_sources(place, managed or managed_folder()))
    wired = [each for each in sources if each.starts]
    plugin = wiring.enabled_plugin(each.settings for each in sources)
    yield from _client(place, wired, plugin)
    yield from _unusable(sources)
    yield from _switches(sources, wired)
    yield from _variables(sources, place.home)
    yield from _hooks(place, wired)
    yield from _plugin(plugin, wired)
    yield from _slash_commands(place, wired, plugin)
    yield from _status_line(sources)
    yield from _other_loops(sources)


def program(project: str) -> str:
    return programs.find(headless.PROGRAM, project, _ELSEWHERE)


def version(project: str) -> Finding | None:
    path = program(project)
    return programs.check(TITLE, path, LEAST, "claude update") if path else None


def _client(place: Installation, wired: list[_Source], plugin: str) -> Iterator[Finding]:
    if found := version(place.project):
        yield found
    elif wired:
        scopes = [each.scope for each in wired if each.scope != _ORGANISATION]
        yield hook_files.no_program(TITLE, "claude", CLAUDE_CODE, scopes)
    elif plugin:
        yield Finding(TITLE, Level.WARNING, "there is no `claude` on the PATH.", "Install it.")


# ---------------------------------------------------------------- its settings files


def _sources(place: Installation, managed: str) -> Iterator[_Source]:
    """Yields its settings files, the weakest first."""
    user, shared, local = native.settings_paths(place.home, place.project)
    scopes = {user: installer.USER, shared: installer.PROJECT, local: installer.LOCAL}
    scopes[user] = installer.USER  # in the home folder it may be the project's, too
    scopes |= dict.fromkeys(managed_files(managed), _ORGANISATION)
    for path, scope in scopes.items():
        if os.path.lexists(path):
            yield _read(path, scope)


def managed_folder() -> str:
    """Returns the folder of an organisation's settings."""
    return _MANAGED.get(sys.platform, "/etc/claude-code")


def managed_files(folder: str) -> list[str]:
    """Returns the files of an organisation's settings, whether they exist or not."""
    more = os.path.join(folder, "managed-settings.d")
    try:
        names = sorted(name for name in os.listdir(more) if name.endswith(".json"))
    except OSError:
        names = []
    paths = [os.path.join(more, name) for name in names[:_MOST_MANAGED]]
    return [os.path.join(folder, "managed-settings.json"), *paths]


def _read(path: str, scope: str) -> _Source:
    problem = ""
    settings: Json = {}
    try:
        text = files.read(path)
        settings = copy.deepcopy(json_files.parse(text))  # as `wiring` does
        problem = wiring.problem(settings, text)
        if scope != _ORGANISATION:  # what the client makes of theirs was not measured
            problem = problem or wiring.dropped(text)
    except UnreadableError as error:
        problem = str(error)
    except RecursionError:
        problem = "it is nested too deeply"
    return _Source(path, scope, {} if problem else settings, problem)


def _unusable(sources: list[_Source]) -> Iterator[Finding]:
    for each in sources:
        if each.problem:
            text = f"{each.name} cannot be used: {one_line(each.problem)}."
            yield Finding(_SETTINGS, Level.PROBLEM, text, _corrected(each))


def _corrected(source: _Source) -> str:
    again = f", then run `{source.command('install')}`" if source.command("install") else ""
    return f"Correct the file{again}. Claude Code ignores a broken file as a whole."


def _switches(sources: list[_Source], wired: list[_Source]) -> Iterator[Finding]:
    """Yields what switches hooks off; a later file wins."""
    said = [
        each
        for each in sources
        if isinstance(each.settings.get(_ALL_OFF), bool) and each.scope != _ORGANISATION
    ]
    if said and said[-1].settings[_ALL_OFF]:
        text = f"{said[-1].name} has {_ALL_OFF}: no hook and no status line runs."
        yield Finding(_SETTINGS, Level.PROBLEM, text, f"Take {_ALL_OFF} out of that file.")
    for each in sources:
        names = [name for name in (_ALL_OFF, _OTHERS_OFF) if each.settings.get(name) is True]
        has_others = any(source.scope != _ORGANISATION for source in wired)
        if each.scope == _ORGANISATION and names and has_others:
            text = f"{each.name} has {names[0]}: your hooks do not run."
            yield Finding(_SETTINGS, Level.PROBLEM, text, "Ask whoever manages that file.")


def _variables(sources: list[_Source], home: str) -> Iterator[Finding]:
    """Yields the variables that keep hooks from working, by the client's environment or the file
    that sets them."""
    found: dict[str, tuple[str, str]] = {
        name: (os.environ[name], "") for name in _ITS_SWITCHES if name in os.environ
    }
    for each in sources:
        variables = each.settings.get("env")
        for name, value in variables.items() if isinstance(variables, dict) else ():
            if name not in _ITS_SWITCHES or each.scope in (installer.USER, _ORGANISATION):
                found[name] = (str(value), each.name)
    for name in (_OUR_SWITCH, *_ITS_SWITCHES):
        value, file = found.get(name, ("", ""))
        if _is_on(name, value):
            text = f"{file or 'your environment'} sets {name}: no hook does anything."
            mend = f"Take {name} out of that file." if file else f"Run `unset {name}`."
            yield Finding(_SETTINGS, Level.PROBLEM, text, mend)
    value, file = found.get("CLAUDE_CONFIG_DIR", ("", ""))
    if value and not _is_same_folder(value, home):
        text = (
            f"{file} sets CLAUDE_CONFIG_DIR to {one_line(value, _SHOWN)}: hooks keep what they "
            "know there, and this command looks elsewhere."
        )
        mend = "Set it in your shell, not in that file."
        yield Finding(_SETTINGS, Level.PROBLEM, text, mend)


def _is_same_folder(one: str, other: str) -> bool:
    try:
        return os.path.realpath(one) == os.path.realpath(other)
    except ValueError:  # no file can have such a name
        return False


def _is_on(name: str, value: str) -> bool:
    if name == _OUR_SWITCH:
        return value not in ("", "0")
    return value.strip().lower() in ("1", "true", "yes", "on")


# ---------------------------------------------------------------- what wires us


def _hooks(place: Installation, wired: list[_Source]) -> Iterator[Finding]:
    findings = [*_missing(place, wired)]
    for each in wired:
        findings += _starts(place, each)
        findings += _different(place, each)
    findings += _twice(wired)
    yield from findings
    if wired and not findings:
        names = " and ".join(each.name for each in wired)
        yield Finding(_HOOKS, Level.GOOD, f"{len(place.hooks)} events, wired by {names}.")


def _missing(place: Installation, wired: list[_Source]) -> Iterator[Finding]:
    """Yields the events that no file wires."""
    missing = hook_groups.missing((each.settings for each in wired), place.hooks)
    if wired and missing:
        text = f"not wired: {', '.join(missing)}."
        yield Finding(_HOOKS, Level.PROBLEM, text, _again(wired[0]))


def _starts(place: Installation, source: _Source) -> Iterator[Finding]:
    """Yields what is wrong with the programs that the hooks of a file start."""
    for start in source.starts:
        name = one_line(start, _PATH_SHOWN)
        if not programs.started_by(start):
            text = f"{source.name} starts {name}, and there is no such program: no event arrives."
            yield Finding(_HOOKS, Level.PROBLEM, text, _again(source, start))
        elif not programs.is_same(start, place.start):
            text = f"{source.name} starts {name}, and this command is {one_line(place.start)}."
            yield Finding(_HOOKS, Level.WARNING, text, _again(source, start))


def _different(place: Installation, source: _Source) -> Iterator[Finding]:
    """Yields the events whose hooks are not as `install` writes them, whatever they start."""
    start = source.starts[0]
    events = hook_groups.different(source.settings, place.hooks, start)
    if events:
        names = ", ".join(one_line(each, _SHOWN) for each in events)
        text = f"{source.name} has other hooks than this version installs: {names}."
        yield Finding(_HOOKS, Level.WARNING, text, _again(source))


def _again(source: _Source, start: str = "") -> str:
    """start: the words of that file that start another program, or none."""
    if source.scope == _ORGANISATION:
        return "Ask whoever manages that file."
    return installer.mend(start, CLAUDE_CODE, source.scope)


def _twice(wired: list[_Source]) -> Iterator[Finding]:
    """The client runs a command once that several files have."""
    for other in wired[1:]:
        if other.starts != wired[0].starts:
            names = f"{wired[0].name} and {other.name}"
            text = f"wired twice, by {names}: each event starts two processes."
            # What is shared is others' too: to take out the user's comes first.
            both = (wired[0], other) if other.scope == installer.PROJECT else (other, wired[0])
            ways = [
                f"`{each.command('uninstall')}` ({each.name})"
                for each in both
                if each.command("uninstall")
            ]
            mend = f"Take one of them out: {' or '.join(ways)}."
            yield Finding(_HOOKS, Level.WARNING, text, mend)


def _plugin(plugin: str, wired: list[_Source]) -> Iterator[Finding]:
    if not plugin:
        return
    name = one_line(plugin, _SHOWN)
    if wired:
        text = f"wired twice, by {wired[0].name} and the plugin {name}: the plugin's say nothing."
        yield Finding(_HOOKS, Level.WARNING, text, f"Run `{_disable(plugin)}`.")
    elif not programs.started_by("sisyphus"):
        text = f"the plugin {name} starts `sisyphus`, which is not on the PATH: no event arrives."
        yield Finding(_HOOKS, Level.PROBLEM, text, installer.ON_PATH)
    else:
        yield Finding(_HOOKS, Level.GOOD, f"wired by the plugin {name}.")


def _disable(plugin: str) -> str:
    return f"claude plugin disable {shlex.quote(one_line(plugin, _SHOWN))}"


# ---------------------------------------------------------------- what is beside the hooks


def _slash_commands(place: Installation, wired: list[_Source], plugin: str) -> Iterator[Finding]:
    """Where the user's folder has them, the project's need not."""
    users, projects = (
        {os.path.join(folder, name): data for name, data in place.commands.items()}
        for folder in (
            wiring.commands_folder(place.home, ""),
            wiring.commands_folder(place.home, place.project),
        )
    )
    if any(each.scope == installer.USER for each in wired):
        install = installer.command("install", CLAUDE_CODE)
        yield from slash_commands.check(_COMMANDS, users, install)
    elif wired and (command := wired[0].command("install")):
        yield from slash_commands.check(_COMMANDS, projects, command)
    elif not wired and not plugin and (there := slash_commands.ours(users)):
        folder = one_line(paths.display(os.path.dirname(there[0]), ""))
        text = f"{slash_commands.count(there)} in {folder}, and there are no hooks to answer them."
        mend = installer.mend("", CLAUDE_CODE, installer.USER)
        yield Finding(_COMMANDS, Level.WARNING, text, mend)


def _status_line(sources: list[_Source]) -> Iterator[Finding]:
    lines = [each for each in sources if "statusLine" in each.settings]
    if not lines:
        text = f"none. `{installer.command('install', CLAUDE_CODE)}` adds one."
        yield Finding(_LINE, Level.GOOD, text)
    elif foreign := wiring.foreign_line([lines[-1].settings]):
        text = f"your own, {one_line(foreign, _SHOWN)}. It can call `sisyphus statusline`."
        yield Finding(_LINE, Level.GOOD, text)
    else:
        yield Finding(_LINE, Level.GOOD, f"that of sisyphus, by {lines[-1].name}.")


def _other_loops(sources: list[_Source]) -> Iterator[Finding]:
    for each in wiring.enabled_plugins(source.settings for source in sources):
        if each.partition("@")[0] in _LOOPS:
            text = f"{one_line(each, _SHOWN)} is enabled: it blocks Stops, too."
            yield Finding(_OTHERS, Level.WARNING, text, f"Run `{_disable(each)}`.")
