"""What `sisyphus install` puts into OpenCode's folders: our plugin and our slash commands. OpenCode
loads every file there, so no settings of it change. See `clients.base.Wiring`."""

import json
import os
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from sisyphus.clients import OPENCODE, hook_files
from sisyphus.clients.installation import Installation, Site, Source
from sisyphus.clients.opencode import native
from sisyphus.ground import files
from sisyphus.ground.errors import UnreadableError

Json = dict[str, Any]

NEXT = SHARED = EXCLUDES = ""

_PLUGIN = Path(__file__).with_name("plugin.js")
_MARK = "// sisyphus for OpenCode."
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


def file(home: str, project: str, *, is_shared: bool) -> str:
    return plugin_file(project)


def site(place: Installation, project: str, *, is_shared: bool) -> Site:
    path, folder = plugin_file(project), os.path.join(_folder(project), native.COMMAND_FOLDERS[0])
    files = copies(project, place.commands, place.start)
    return Site(OPENCODE, project, path, "", place.start, {}, folder, files)


def problem(settings: Json, text: str = "") -> str:
    return ""


def dropped(text: str) -> str:
    return ""


def wire(settings: Json, site: Site, globs: Iterable[str]) -> Json:
    return settings


def unwire(settings: Json, globs: Iterable[str], keys: Iterable[str]) -> Json:
    return settings


def excludes(settings: Json) -> list[str]:
    return []


def notes(site: Site, place: Installation) -> Iterator[str]:
    yield from ()


def effects(site: Site, before: bytes | None, after: bytes | None) -> Iterator[str]:
    if after is not None and after != before:
        yield (
            "At its next start OpenCode fetches the package @opencode-ai/plugin from the npm "
            "registry, as for every plugin; where it cannot, each start takes more than a minute."
        )


def sources(place: Installation) -> list[Source]:
    names = [os.path.splitext(name)[0] for name in place.commands]
    users = plugin_file("")
    return [
        Source(
            path,
            hook_files.scope(OPENCODE, place.project, path, users),
            is_current=data == _plugin(names, start_of(data)),
        )
        for path, data in plugins(place.project).items()
    ]


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


def is_ours(data: bytes) -> bool:
    """Tells whether a file is our plugin, of whatever version."""
    return data.startswith(_MARK.encode())


def start_of(data: bytes) -> str:
    """Returns the words that start us in our plugin, as for a shell; "" if it does not say."""
    found = _STARTER.search(data.decode("utf-8", "replace"))
    try:
        words = json.loads(found[1]) if found else []
    except ValueError:
        return ""
    return shlex.join(words) if all(isinstance(word, str) for word in words) else ""


def plugins(project: str) -> dict[str, bytes]:
    """Returns path → content of the copies of our plugin that OpenCode loads in a project."""
    found = {}
    for path in dict.fromkeys((plugin_file(""), plugin_file(project))):
        try:
            text = files.read(path)
        except UnreadableError:
            continue
        if is_ours(text.encode()):
            found[path] = text.encode()
    return found


def _folder(project: str) -> str:
    return os.path.join(project, ".opencode") if project else native.config_home()


def _command(data: bytes) -> bytes:
    head, mark, body = data.partition(b"\n---\n")
    return _KEYS.sub(b"", head + b"\n") + mark.removeprefix(b"\n") + body


def _plugin(names: list[str], start: str) -> bytes:
    text = _PLUGIN.read_text("utf-8")
    text = text.replace(_COMMANDS, ", ".join(json.dumps(name) for name in names))
    return text.replace(_START, json.dumps(shlex.split(start))).encode()
