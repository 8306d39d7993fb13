"""What `sisyphus install` puts into Qwen Code's folders: hooks in `settings.json`, and our slash
commands, and how they are, as measured on 0.24.4. See `clients.base.Wiring`.

Qwen Code runs the hooks of both settings files, equal ones once.
"""

import os
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any

from sisyphus.clients import QWEN, defaults, hook_files, hook_groups, json_files, programs
from sisyphus.clients.finding import Finding, Level
from sisyphus.clients.installation import Installation, Program, Site
from sisyphus.clients.qwen import native, payload
from sisyphus.clients.wired import Wired, shown
from sisyphus.ground.text import one_line

Json = dict[str, Any]

CLIENT = Program("Qwen Code", "qwen", (0, 24, 4), "npm install -g @qwen-code/qwen-code")
TITLE = CLIENT.title

NEXT = SHARED = ""

_HOOKS, _SETTINGS, _COMMANDS = f"{TITLE} hooks", f"{TITLE} settings", f"{TITLE} commands"
_FEW_BLOCKS = 20
"""A loop that may go on less often without a word of the user is hardly one."""


_groups = partial(hook_groups.calling, QWEN)

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


def site(place: Installation, project: str, *, is_shared: bool) -> Site:
    path, folder = settings_file(project), commands_folder(project)
    files = copies(project, place.commands)
    has_cap = any(native.CAP in each for each in native.settings(project)) and not is_shared
    # Without that key a turn ends after seven iterations of a loop.
    cap = {} if has_cap else {native.CAP: native.MOST_BLOCKS}
    return Site(QWEN, project, path, path, place.start, HOOKS, folder, files, cap)


problem, wire = hook_groups.problem, hook_groups.wire
effects, dropped = defaults.none_of_it, defaults.no_text


def unwire(settings: Json, globs: Iterable[str], keys: Iterable[str]) -> Json:
    new = hook_groups.without_ours(settings)
    if native.CAP in keys and new.get(native.CAP) == native.MOST_BLOCKS:
        del new[native.CAP]
    return new


def notes(site: Site, place: Installation) -> Iterator[str]:
    others = (each for each in read(place) if each.calls_us and each.path != site.settings)
    return (hook_files.also_in(each.path) for each in others)


def read(place: Installation) -> list[Wired]:
    loaders = {
        path: partial(json_files.read, path, inside)
        for path, inside in native.settings_files(place.project).items()
    }
    return hook_files.find(QWEN, loaders, settings_file(""), place.project, HOOKS)


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


# ---------------------------------------------------------------- how it is


def is_here(home: str, project: str) -> bool:
    return bool(programs.path_of(CLIENT, project)) or programs.is_folder(native.qwen_home())


def look(place: Installation, files: list[Wired]) -> Iterator[Finding]:
    ours = [each for each in files if each.calls_us]
    found = programs.version_of(CLIENT, place.project)
    yield from hook_files.check_program(found, CLIENT, ours)
    yield from _settings(place.project, files)
    yield from _hooks(place, ours)
    commands = partial(copies, commands=place.commands)
    yield from hook_files.check_commands(_COMMANDS, ours, commands, QWEN, place)


def _settings(project: str, files: list[Wired]) -> Iterator[Finding]:
    for each in files:
        if each.problem and each.may_call_us:
            what = "use" if each.content else "read"
            text = f"sisyphus cannot {what} {each.name}: {one_line(each.problem)}."
            more = "" if each.content else " Comments in it are Qwen Code's alone."
            yield Finding(_SETTINGS, Level.PROBLEM, text, f"Correct the file.{more}")
    if path := native.hooks_off(project):
        text = f"{shown(path)} has {native.ALL_OFF}: no hook runs."
        yield Finding(_SETTINGS, Level.PROBLEM, text, f"Take {native.ALL_OFF} out of that file.")
    cap = payload.block_cap(project)
    if cap < _FEW_BLOCKS and any(each.calls_us for each in files):
        text = f"after {cap - 1} iterations Qwen Code ends a turn, and the loop waits for you."
        file = shown(settings_file(""))
        mend = f'For longer loops, put `"{native.CAP}": {native.MOST_BLOCKS}` into {file}.'
        yield Finding(_SETTINGS, Level.GOOD, f"{text} {mend}")


def _hooks(place: Installation, ours: list[Wired]) -> Iterator[Finding]:
    findings: list[Finding] = []
    for each in ours:
        findings += hook_files.check_missing(_HOOKS, each, HOOKS)
        findings += hook_files.check_hooks(_HOOKS, each, HOOKS, each.starts, place)
    if any(other.starts != ours[0].starts for other in ours[1:]):
        findings.append(hook_files.twice(_HOOKS, ours))
    if ours and not findings:
        yield hook_files.wired_by(_HOOKS, HOOKS, ours)
    yield from findings
