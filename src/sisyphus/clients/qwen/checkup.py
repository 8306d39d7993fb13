"""Looks at how Qwen Code is wired, as measured on 0.24.4. See `clients.base.Checkup`.

It runs the hooks of both settings files, equal ones once.
"""

import os
from collections.abc import Iterator
from typing import Any

from sisyphus.clients import (
    QWEN,
    hook_files,
    hook_groups,
    installer,
    json_files,
    programs,
    slash_commands,
)
from sisyphus.clients.finding import Finding, Level
from sisyphus.clients.hook_files import HookFile, shown
from sisyphus.clients.installation import Installation
from sisyphus.clients.qwen import native, payload, wiring
from sisyphus.ground.errors import UnreadableError
from sisyphus.ground.text import one_line

Json = dict[str, Any]

TITLE = "Qwen Code"
LEAST = (0, 24, 4)
"""The version in which everything was measured."""

_HOOKS, _SETTINGS, _COMMANDS = f"{TITLE} hooks", f"{TITLE} settings", f"{TITLE} commands"
_FEW_BLOCKS = 20
"""A loop that may go on less often without a word of the user is hardly one."""


def is_here(home: str, project: str) -> bool:
    return bool(program(project)) or programs.is_folder(native.qwen_home())


def is_wired(home: str, project: str) -> bool:
    return bool(wiring.wired(project))


def look(place: Installation) -> Iterator[Finding]:
    sources = _sources(place.project)
    if found := version(place.project):
        yield found
    elif sources:
        yield hook_files.no_program(TITLE, "qwen", QWEN, [each.scope for each in sources])
    yield from _settings(place.project, is_wired=bool(sources))
    yield from _hooks(place, sources)
    yield from _slash_commands(place, sources)


def program(project: str) -> str:
    return programs.find("qwen", project)


def version(project: str) -> Finding | None:
    path = program(project)
    update = "npm install -g @qwen-code/qwen-code"
    return programs.check(TITLE, path, LEAST, update) if path else None


def _sources(project: str) -> list[HookFile]:
    """Returns the files that wire us, the user's first."""
    return hook_files.find(QWEN, wiring.wired(project), wiring.settings_file(""), project)


def _settings(project: str, *, is_wired: bool) -> Iterator[Finding]:
    for path, inside in native.settings_files(project).items():
        if not os.path.lexists(path):
            continue
        try:
            json_files.read(path, inside)
        except UnreadableError as error:
            text = f"sisyphus cannot read {shown(path)}: {one_line(str(error))}."
            mend = "Correct the file. Comments in it are Qwen Code's alone."
            yield Finding(_SETTINGS, Level.PROBLEM, text, mend)
    if path := native.hooks_off(project):
        text = f"{shown(path)} has {native.ALL_OFF}: no hook runs."
        yield Finding(_SETTINGS, Level.PROBLEM, text, f"Take {native.ALL_OFF} out of that file.")
    cap = payload.block_cap(project)
    if is_wired and cap < _FEW_BLOCKS:
        text = f"after {cap - 1} iterations Qwen Code ends a turn, and the loop waits for you."
        file = shown(wiring.settings_file(""))
        mend = f'For longer loops, put `"{native.CAP}": {native.MOST_BLOCKS}` into {file}.'
        yield Finding(_SETTINGS, Level.GOOD, f"{text} {mend}")


def _hooks(place: Installation, sources: list[HookFile]) -> Iterator[Finding]:
    starts = [hook_groups.starts(each.content) for each in sources]
    findings = [
        finding
        for source, words in zip(sources, starts, strict=True)
        for finding in hook_files.check(_HOOKS, source, wiring.HOOKS, words, place)
    ]
    if any(other != starts[0] for other in starts[1:]):
        findings.append(hook_files.twice(_HOOKS, sources))
    if sources and not findings:
        names = " and ".join(each.name for each in sources)
        yield Finding(_HOOKS, Level.GOOD, f"{len(wiring.HOOKS)} events, wired by {names}.")
    yield from findings


def _slash_commands(place: Installation, sources: list[HookFile]) -> Iterator[Finding]:
    """Where the user's file wires us, the user's folder has the commands."""
    is_users = not sources or sources[0].scope == installer.USER
    wanted = wiring.copies("" if is_users else place.project, place.commands)
    if sources:
        yield from slash_commands.check(_COMMANDS, wanted, sources[0].command("install"))
    elif there := slash_commands.ours(wanted):
        yield hook_files.unanswered(_COMMANDS, there, os.path.dirname(there[0]), QWEN)
