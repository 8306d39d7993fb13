"""What `sisyphus install` puts into OpenCode's folders: our plugin and our slash commands, and how
they are, as measured on 1.18.33. OpenCode loads every file there, so no settings of it change. See
`clients.base.Wiring`.

Of two copies of our plugin one works, see `plugin.js`. So both in the user's folder and in the
project's are fine.
"""

import json
import os
import re
import shlex
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from sisyphus.clients import OPENCODE, defaults, hook_files, hook_groups, programs
from sisyphus.clients.finding import Finding, Level
from sisyphus.clients.installation import Installation, Program, Site
from sisyphus.clients.opencode import native
from sisyphus.clients.wired import Wired, shown
from sisyphus.ground import files
from sisyphus.ground.errors import UnreadableError

Json = dict[str, Any]

CLIENT = Program(
    "OpenCode", "opencode", (1, 18, 33), "opencode upgrade", (".opencode/bin/opencode",)
)
TITLE = CLIENT.title

_PLUGINS, _SETTINGS = f"{TITLE} plugin", f"{TITLE} settings"
_EDITED = ". It leaves a plugin that you have edited: delete that before."

_NO_PLUGINS = "OPENCODE_PURE"
_OTHERS = re.compile(r'"(oh-my-opencode)(?:@[^"]{0,40})?"')
"""A plugin that wakes idle sessions, too, in the list of plugins."""

NEXT = SHARED = ""

_PLUGIN = Path(__file__).with_name("plugin.js")
_MARK = b"// sisyphus for OpenCode."
"""How the plugin's text starts."""

_COMMANDS, _START = '"@COMMANDS@"', '["sisyphus"]'
"""What stands in the plugin for the names of our commands, and for the words that start us."""

_STARTER = re.compile(r"^const \[PROGRAM, \.\.\.OPTIONS\] = (\[.*\])$", re.MULTILINE)
"""The line of the plugin in which they stand."""

_KEYS = re.compile(rb"^(?!description:|author:)[\w-]+:.*\n", re.MULTILINE)
"""The lines of a command's frontmatter that OpenCode does not know. It skips `author`, by which we
know a command as ours (see `sessions.command_names`)."""


def plugin_file(project: str) -> str:
    """Returns where the plugin goes: for the user or, with a project, there."""
    return os.path.join(_folder(project), "plugins", "sisyphus.js")


def site(place: Installation, project: str, *, is_shared: bool) -> Site:
    path, folder = plugin_file(project), os.path.join(_folder(project), native.COMMAND_FOLDERS[0])
    files = copies(project, place.commands, place.start)
    return Site(OPENCODE, project, path, "", place.start, {}, folder, files, mark=_MARK)


problem, wire, unwire = hook_groups.problem, hook_groups.wire, hook_groups.unwire
notes, dropped = defaults.none_of_it, defaults.no_text


def effects(site: Site, before: bytes | None, after: bytes | None) -> Iterator[str]:
    if after is not None and after != before:
        yield (
            "At its next start OpenCode fetches the package @opencode-ai/plugin from the npm "
            "registry, as for every plugin; where it cannot, each start takes more than a minute."
        )


def read(place: Installation) -> list[Wired]:
    """Returns the copies of our plugin that OpenCode loads in a project."""
    names = [os.path.splitext(name)[0] for name in place.commands]
    users, found = plugin_file(""), []
    for path in dict.fromkeys((users, plugin_file(place.project))):
        try:
            data = files.read(path).encode()
        except UnreadableError:
            continue
        if data.startswith(_MARK):
            scope = hook_files.scope(OPENCODE, place.project, path, users)
            is_current = data == _plugin(names, start_of(data))
            ours = Wired(OPENCODE, path, scope, is_current=is_current, text=data, again=_EDITED)
            found.append(ours)
    return found


def copies(project: str, commands: Mapping[str, bytes], start: str) -> dict[str, bytes]:
    """Returns path → content of the files that make OpenCode use us, the plugin last. A command of
    that name in its other folder for commands stays the user's.

    commands: file name → content, as Claude Code gets them. start: the words that start us in a
    shell.
    """
    ours, others = (os.path.join(_folder(project), name) for name in native.COMMAND_FOLDERS)
    contents = {
        os.path.join(ours, name): _command(data)
        for name, data in commands.items()
        if not os.path.lexists(os.path.join(others, name))
    }
    names = [os.path.splitext(name)[0] for name in commands]
    return {**contents, plugin_file(project): _plugin(names, start)}


def start_of(data: bytes) -> str:
    """Returns the words that start us in our plugin, as for a shell; "" if it does not say."""
    found = _STARTER.search(data.decode("utf-8", "replace"))
    try:
        words = json.loads(found[1]) if found else []
    except ValueError:
        return ""
    return shlex.join(words) if all(isinstance(word, str) for word in words) else ""


def _folder(project: str) -> str:
    return os.path.join(project, ".opencode") if project else native.config_home()


def _command(data: bytes) -> bytes:
    head, mark, body = data.partition(b"\n---\n")
    return _KEYS.sub(b"", head + b"\n") + mark.removeprefix(b"\n") + body


def _plugin(names: list[str], start: str) -> bytes:
    text = _PLUGIN.read_text("utf-8")
    text = text.replace(_COMMANDS, ", ".join(json.dumps(name) for name in names))
    return text.replace(_START, json.dumps(shlex.split(start))).encode()


# ---------------------------------------------------------------- how it is


def is_here(home: str, project: str) -> bool:
    return bool(programs.path_of(CLIENT, project)) or programs.is_folder(native.config_home())


def look(place: Installation, files: list[Wired]) -> Iterator[Finding]:
    found = programs.version_of(CLIENT, place.project)
    yield from hook_files.check_program(found, CLIENT, files)
    yield from _switches()
    for each in files:
        yield from _check_plugin(place, each)
    commands, lack = partial(_commands, place), ", without our plugin"
    title = f"{TITLE} commands"
    yield from hook_files.check_commands(title, files, commands, OPENCODE, place, lack)
    yield from _other_loops(place.project)


def _commands(place: Installation, project: str) -> dict[str, bytes]:
    """Returns path → content of our slash commands, for the user ("") or a project."""
    every = copies(project, place.commands, place.start)
    del every[plugin_file(project)]
    return every


def _switches() -> Iterator[Finding]:
    if os.environ.get(_NO_PLUGINS, "").lower() in ("1", "true"):
        text = f"your environment sets {_NO_PLUGINS}: OpenCode loads no plugin."
        yield Finding(_SETTINGS, Level.PROBLEM, text, f"Run `unset {_NO_PLUGINS}`.")


def _check_plugin(place: Installation, file: Wired) -> Iterator[Finding]:
    """Yields what is wrong with a copy of our plugin, or that nothing is."""
    start = start_of(file.text)
    found = hook_files.check_start(_PLUGINS, file, start, place) if start else []
    is_whole = bool(start) and file.is_current
    if not is_whole and not any(each.level is Level.PROBLEM for each in found):
        text = f"{file.name} is not that of this version, or edited."
        found = [Finding(_PLUGINS, Level.WARNING, text, hook_files.mend(file))]
    well = Finding(_PLUGINS, Level.GOOD, f"{file.name} is that of this version.")
    yield from found or [well]


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
                text = f"{found[1]} in {shown(path)} wakes idle sessions, too."
                mend = f"Take {found[1]} out of `plugin` in that file."
                yield Finding(f"{TITLE} plugins", Level.WARNING, text, mend)
