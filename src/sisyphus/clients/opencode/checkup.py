"""Looks at how OpenCode is wired, as measured on 1.18.33. See `clients.base.Checkup`.

Of two copies of our plugin one works, see `plugin.js`. So both in the user's folder and in the
project's are fine.
"""

import os
import re
from collections.abc import Iterator

from sisyphus.clients import OPENCODE, hook_files, installer, programs, slash_commands
from sisyphus.clients.finding import Finding, Level
from sisyphus.clients.installation import Installation
from sisyphus.clients.opencode import native, wiring
from sisyphus.ground import files, paths
from sisyphus.ground.errors import UnreadableError
from sisyphus.ground.text import one_line

TITLE = "OpenCode"
LEAST = (1, 18, 33)
"""The version in which everything was measured."""

_PLUGIN, _COMMANDS, _SETTINGS = f"{TITLE} plugin", f"{TITLE} commands", f"{TITLE} settings"
_ELSEWHERE = (".opencode/bin/opencode",)
"""Where its installer puts it, if PATH does not lead there."""

_EDITED = ". It leaves a plugin that you have edited: delete that before."

_NO_PLUGINS = "OPENCODE_PURE"
_OTHERS = re.compile(r'"(oh-my-opencode)(?:@[^"]{0,40})?"')
"""A plugin that wakes idle sessions, too, in the list of plugins."""


def is_here(home: str, project: str) -> bool:
    return bool(program(project)) or programs.is_folder(native.config_home())


def is_wired(home: str, project: str) -> bool:
    return bool(wiring.plugins(project))


def look(place: Installation) -> Iterator[Finding]:
    plugins = wiring.plugins(place.project)
    if found := version(place.project):
        yield found
    elif plugins:
        scopes = [scope(place.project, path) for path in plugins]
        yield hook_files.no_program(TITLE, "opencode", OPENCODE, scopes)
    yield from _switches()
    for path, data in plugins.items():
        yield from _plugin(place, path, data)
    yield from _slash_commands(place, list(plugins))
    yield from _other_loops(place.project)


def program(project: str) -> str:
    return programs.find("opencode", project, _ELSEWHERE)


def version(project: str) -> Finding | None:
    path = program(project)
    return programs.check(TITLE, path, LEAST, "opencode upgrade") if path else None


def _switches() -> Iterator[Finding]:
    if os.environ.get(_NO_PLUGINS, "").lower() in ("1", "true"):
        text = f"your environment sets {_NO_PLUGINS}: OpenCode loads no plugin."
        yield Finding(_SETTINGS, Level.PROBLEM, text, f"Run `unset {_NO_PLUGINS}`.")


def _plugin(place: Installation, path: str, data: bytes) -> Iterator[Finding]:
    """Yields what is wrong with a copy of our plugin, or that nothing is."""
    name = _name(path)
    start = wiring.start_of(data)
    mend, again = (
        installer.mend(words, OPENCODE, scope(place.project, path), _EDITED)
        for words in (start, "")
    )
    shown = one_line(start)
    project = place.project if path != wiring.plugin_file("") else ""
    wanted = wiring.copies(project, place.commands, start)[path] if start else b""
    if start and not programs.started_by(start):
        text = f"{name} starts {shown}, and there is no such program: no event arrives."
        yield Finding(_PLUGIN, Level.PROBLEM, text, mend)
    elif data != wanted:
        text = f"{name} is not that of this version, or edited."
        yield Finding(_PLUGIN, Level.WARNING, text, again)
    elif not programs.is_same(start, place.start):
        text = f"{name} starts {shown}, and this command is {one_line(place.start)}."
        yield Finding(_PLUGIN, Level.WARNING, text, mend)
    else:
        yield Finding(_PLUGIN, Level.GOOD, f"{name} is that of this version.")


def scope(project: str, plugin: str) -> str:
    """Returns the scope of `install` that writes a copy of our plugin."""
    return hook_files.scope(OPENCODE, project, plugin, wiring.plugin_file(""))


def _slash_commands(place: Installation, plugins: list[str]) -> Iterator[Finding]:
    """Where there is a plugin in the user's folder, its commands are there."""
    for path in plugins[:1]:
        project = place.project if path != wiring.plugin_file("") else ""
        wanted = wiring.copies(project, place.commands, place.start)
        del wanted[path]
        install = installer.command("install", OPENCODE, scope(place.project, path))
        yield from slash_commands.check(_COMMANDS, wanted, install)
    if not plugins:
        there = slash_commands.ours(wiring.copies("", place.commands, place.start))
        if there:
            folder = _name(os.path.dirname(there[0]))
            text = f"{slash_commands.count(there)} in {folder}, without our plugin."
            mend = installer.mend("", OPENCODE, installer.USER)
            yield Finding(_COMMANDS, Level.WARNING, text, mend)


def _other_loops(project: str) -> Iterator[Finding]:
    folders = (native.config_home(), project, os.path.join(project, ".opencode"))
    for folder in folders:
        for name in ("opencode.json", "opencode.jsonc"):
            path = os.path.join(folder, name)
            try:
                found = _OTHERS.search(files.read(path))
            except UnreadableError:
                continue
            if found:
                text = f"{found[1]} in {_name(path)} wakes idle sessions, too."
                mend = f"Take {found[1]} out of `plugin` in that file."
                yield Finding(f"{TITLE} plugins", Level.WARNING, text, mend)


def _name(path: str) -> str:
    return one_line(paths.display(path, ""))
