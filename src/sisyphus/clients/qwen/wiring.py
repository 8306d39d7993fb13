"""What `sisyphus install` puts into Qwen Code's folders: hooks in `settings.json`, and our slash
commands, as measured on 0.24.4. See `clients.base.Wiring`."""

import os
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any

from sisyphus.clients import QWEN, entry, hook_files, hook_groups, json_files
from sisyphus.clients.installation import Installation, Site, Source
from sisyphus.clients.qwen import native

Json = dict[str, Any]

NEXT = SHARED = EXCLUDES = ""


def _groups(event: str, seconds: int = 10) -> list[Json]:
    command = entry.line(event, "--client", QWEN)
    return [{"hooks": [{"type": "command", "command": command, "timeout": seconds}]}]


HOOKS: Json = {
    "SessionStart": _groups("session-start"),
    "UserPromptSubmit": _groups("user-prompt-submit"),
    "PermissionRequest": _groups("permission-request"),
    "PostToolBatch": _groups("post-tool-use"),
    "Stop": _groups("stop", 900),
    "StopFailure": _groups("stop-failure"),
    "PreCompact": _groups("pre-compact"),
    "SessionEnd": _groups("session-end"),
}
"""Event → groups, as `install` writes them."""


def settings_file(project: str) -> str:
    return os.path.join(native.folder(project), "settings.json")


def file(home: str, project: str, *, is_shared: bool) -> str:
    return settings_file(project)


def site(place: Installation, project: str, *, is_shared: bool) -> Site:
    path, folder = settings_file(project), commands_folder(project)
    files = copies(project, place.commands)
    has_cap = any(native.CAP in each for each in native.settings(project)) and not is_shared
    # Without that key a turn ends after seven iterations of a loop.
    cap = {} if has_cap else {native.CAP: native.MOST_BLOCKS}
    return Site(QWEN, project, path, path, place.start, HOOKS, folder, files, cap)


problem = hook_groups.problem
wire = hook_groups.wire


def dropped(text: str) -> str:
    return ""


def unwire(settings: Json, globs: Iterable[str], keys: Iterable[str]) -> Json:
    new = hook_groups.without_ours(settings)
    if native.CAP in keys and new.get(native.CAP) == native.MOST_BLOCKS:
        del new[native.CAP]
    return new


def excludes(settings: Json) -> list[str]:
    return []


def is_ours(data: bytes) -> bool:
    return False


def notes(site: Site, place: Installation) -> Iterator[str]:
    return (hook_files.also_in(path) for path in wired(place.project) if path != site.settings)


def effects(site: Site, before: bytes | None, after: bytes | None) -> Iterator[str]:
    yield from ()


def sources(place: Installation) -> list[Source]:
    files = {
        path: partial(json_files.read, path, inside)
        for path, inside in native.settings_files(place.project).items()
    }
    return hook_files.sources(QWEN, files, settings_file(""), place.project, HOOKS)


def wired(project: str) -> dict[str, Json]:
    """Returns path → content of the settings that have our hooks, the user's first."""
    files = native.settings_files(project).items()
    contents = {path: json_files.read_or_empty(path, inside) for path, inside in files}
    return {
        path: data
        for path, data in contents.items()
        if hook_groups.has_ours(data) and not problem(data)
    }


def commands_folder(project: str) -> str:
    return os.path.join(native.folder(project), "commands")


def copies(project: str, commands: Mapping[str, bytes]) -> dict[str, bytes]:
    """Returns path → content of the files of our slash commands.

    commands: file name → content, as Claude Code gets them.
    """
    folder = commands_folder(project)
    return {
        os.path.join(folder, name): data.replace(b"$ARGUMENTS", b"{{args}}")
        for name, data in commands.items()
    }
