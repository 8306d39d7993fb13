"""Where OpenCode looks for plugins and commands, and which files of ours belong there.

Measured on 1.18.33: it reads `~/.config/opencode` (`$XDG_CONFIG_HOME`), `.opencode` of the folders
from the current one up to the project's root, `~/.opencode`, and `$OPENCODE_CONFIG_DIR` beside all
of them; in each the folders `plugins` and `plugin`, `commands` and `command`. Its documents name
the former of each pair. A command of a later folder, and of a file, wins over one of the same name.
"""

from __future__ import annotations

import json
import os
import re
import shutil

import sisyphus
from sisyphus import __version__
from sisyphus.errors import SisyphusError
from sisyphus.install import commands, folders, found, jsonc, marks, script
from sisyphus.install.place import PROJECT, USER, Place
from sisyphus.paths import is_inside
from sisyphus.reading import DOCUMENT_BYTES, read_text

NAME = "opencode"

PLUGINS = ("plugins", "plugin")
COMMANDS = ("commands", "command")

_CONFIGURATIONS = ("opencode.json", "opencode.jsonc", "config.json")
_CALLS = re.compile(r'^const SISYPHUS = "sisyphus"', re.MULTILINE)


def of_project(root: str) -> Place:
    return Place(NAME, PROJECT, os.path.join(root, ".opencode"), root)


def of_user() -> Place:
    """The folder that the user named in the environment, else the usual one."""
    return users()[0]


def users() -> list[Place]:
    """The user's folders, the one that wins first."""
    above = os.environ.get("XDG_CONFIG_HOME") or os.path.join(os.path.expanduser("~"), ".config")
    named = [os.environ.get("OPENCODE_CONFIG_DIR"), os.path.join(above, NAME)]
    paths = dict.fromkeys(os.path.abspath(name) for name in named if name)
    return [Place(NAME, USER, path, path) for path in paths]


def is_here() -> bool:
    """Whether the user has OpenCode."""
    return bool(shutil.which(NAME)) or any(os.path.isdir(place.folder) for place in users())


def existing(place: Place, spellings: tuple[str, ...]) -> list[str]:
    """Those of the folders that are there and inside."""
    paths = [os.path.join(place.folder, name) for name in spellings]
    return [path for path in paths if os.path.isdir(path) and is_inside(path, place.base)]


def chosen(place: Place, spellings: tuple[str, ...], suffix: str) -> str:
    """The folder to write into: where ours is, else one that is there, else the documented one.

    Raises `SisyphusError` where none can be made, or a link leads elsewhere.
    """
    there = existing(place, spellings)
    with_ours = [folder for folder in there if found.of_ours([folder], suffix)]
    folder = [*with_ours, *there, os.path.join(place.folder, spellings[0])][0]
    folders.check(folder, place.base)
    return folder


def wanted(place: Place) -> tuple[str, dict[str, bytes], list[str]]:
    """The plugin's path; path -> content of every file of ours; and what is to be said about it."""
    text, notes = plugin(place)
    path = os.path.join(chosen(place, PLUGINS, ".js"), "sisyphus.js")
    folder = chosen(place, COMMANDS, ".md")
    files = {path: marks.marked(text, __version__)}
    for name, content in commands.texts().items():
        files[os.path.join(folder, f"{name}.md")] = marks.marked(content, __version__)
    return path, files, notes


def plugin(place: Place) -> tuple[str, list[str]]:
    """The plugin as it is shipped, calling the script that it should; and what is to be said."""
    folder = os.path.dirname(os.path.abspath(sisyphus.__file__))
    shipped = os.path.join(folder, NAME, "plugin", "sisyphus.js")
    text = read_text(shipped, DOCUMENT_BYTES)
    called, notes = script.called(place.scope)
    return calling(text, called), notes


def calling(text: str, command: str) -> str:
    """A plugin's text that calls `command` where it calls `sisyphus`."""
    line = f"const SISYPHUS = {json.dumps(command)}"
    changed, count = _CALLS.subn(lambda _: line, text)
    if count != 1:
        raise SisyphusError("the plugin in this installation is broken. Install sisyphus again.")
    return changed


def taken(place: Place) -> dict[str, str]:
    """Name -> where it stands, for the commands of others that ours would hide or stand beside."""
    names: dict[str, str] = {}
    for one in dict.fromkeys([place, *users()]):
        for path in found.files(existing(one, COMMANDS), ".md"):
            if found.look(path).kind == found.FOREIGN:
                names[os.path.basename(path).removesuffix(".md")] = path
        for folder in dict.fromkeys([one.folder, one.base]):
            for path in (os.path.join(folder, name) for name in _CONFIGURATIONS):
                names.update(dict.fromkeys(jsonc.commands(path), path))
    return names


def awaits_packages(place: Place) -> bool:
    """Whether OpenCode will wait for npm before it loads a plugin from there; it does so for all
    folders of its configuration."""
    return any(_lacks_packages(folder) for folder in (place.folder, *(u.folder for u in users())))


def _lacks_packages(folder: str) -> bool:
    lock = os.path.join(folder, "package-lock.json")
    try:
        names_it = "@opencode-ai/plugin" in read_text(lock, DOCUMENT_BYTES)
    except SisyphusError:
        names_it = False
    return not (names_it and os.path.isdir(os.path.join(folder, "node_modules")))
