"""Looks at how Qwen Code is wired, as measured on 0.24.4. See `clients.base.Checkup`.

It runs the hooks of both settings files, equal ones once.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sisyphus import git, paths
from sisyphus.clients import QWEN, hook_groups, installer, programs, slash_commands
from sisyphus.clients.claude_code.native import load
from sisyphus.clients.findings import Checked, Finding, Level
from sisyphus.clients.qwen import payload, wiring
from sisyphus.errors import UnreadableError
from sisyphus.text import one_line

Json = dict[str, Any]

TITLE = "Qwen Code"
LEAST = (0, 24, 4)
"""The version in which everything was measured."""

_HOOKS, _SETTINGS, _COMMANDS = f"{TITLE} hooks", f"{TITLE} settings", f"{TITLE} commands"
_ALL_OFF = "disableAllHooks"
_FEW_BLOCKS = 20
"""A loop that may go on less often without a word of the user is hardly one."""

_SHOWN, _PATH_SHOWN = 80, 300
"""The most characters that are shown of a name and of a path from somebody's file."""


@dataclass(frozen=True)
class _Source:
    """A settings file that wires us. scope: the one that `install` takes for it."""

    path: str
    content: Json
    scope: str

    @property
    def name(self) -> str:
        return _name(self.path)

    def command(self, verb: str) -> str:
        return installer.command(verb, QWEN, self.scope)

    def mend(self, start: str = "") -> str:
        """start: the words of the file that start another program, or none."""
        return installer.mend(start, QWEN, self.scope)


def is_here(home: str, project: str) -> bool:
    return bool(program(project)) or wiring.is_here(project)


def is_wired(home: str, project: str) -> bool:
    return bool(wiring.wired(project))


def look(place: Checked) -> Iterator[Finding]:
    sources = list(_sources(place.project))
    if found := version(place.project):
        yield found
    elif sources:
        mend = f"Install it, or take sisyphus out: `{sources[0].command('uninstall')}`."
        yield Finding(TITLE, Level.WARNING, "there is no `qwen` on the PATH.", mend)
    yield from _settings(place.project, is_wired=bool(sources))
    yield from _hooks(place, sources)
    yield from _slash_commands(place, sources)


def program(project: str) -> str:
    return programs.find("qwen", project)


def version(project: str) -> Finding | None:
    path = program(project)
    update = "npm install -g @qwen-code/qwen-code"
    return programs.check(TITLE, path, LEAST, update) if path else None


def _sources(project: str) -> Iterator[_Source]:
    """Yields the files that wire us, the user's first."""
    for path, content in wiring.wired(project).items():
        if path == wiring.settings_file(""):
            yield _Source(path, content, installer.USER)
        else:
            is_shared = bool(git.tracked(project, [path]))
            scope = installer.PROJECT if is_shared else installer.LOCAL
            yield _Source(path, content, scope)


def _settings(project: str, *, is_wired: bool) -> Iterator[Finding]:
    for path in dict.fromkeys(map(wiring.settings_file, ("", project))):
        if not os.path.lexists(path):
            continue
        try:
            settings = load(path)
        except UnreadableError as error:
            text = f"sisyphus cannot read {_name(path)}: {one_line(str(error))}."
            mend = "Correct the file. Comments in it are Qwen Code's alone."
            yield Finding(_SETTINGS, Level.PROBLEM, text, mend)
            continue
        if settings.get(_ALL_OFF) is True:
            text = f"{_name(path)} has {_ALL_OFF}: no hook runs."
            yield Finding(_SETTINGS, Level.PROBLEM, text, f"Take {_ALL_OFF} out of that file.")
    cap = payload.block_cap(project)
    if is_wired and cap < _FEW_BLOCKS:
        text = f"after {cap - 1} iterations Qwen Code ends a turn, and the loop waits for you."
        file = _name(wiring.settings_file(""))
        mend = f'For longer loops, put `"stopHookBlockingCap": 100` into {file}.'
        yield Finding(_SETTINGS, Level.GOOD, f"{text} {mend}")


def _hooks(place: Checked, sources: list[_Source]) -> Iterator[Finding]:
    findings = [each for source in sources for each in _problems(place, source)]
    starts = [hook_groups.starts(each.content) for each in sources]
    if any(other != starts[0] for other in starts[1:]):
        text = f"wired twice, by {' and '.join(each.name for each in sources)}: each runs."
        ways = " or ".join(f"`{each.command('uninstall')}`" for each in reversed(sources))
        findings.append(Finding(_HOOKS, Level.WARNING, text, f"Keep one of them: {ways}."))
    if sources and not findings:
        names = " and ".join(each.name for each in sources)
        yield Finding(_HOOKS, Level.GOOD, f"{len(wiring.HOOKS)} events, wired by {names}.")
    yield from findings


def _problems(place: Checked, source: _Source) -> Iterator[Finding]:
    """Yields what is wrong with our hooks in a file."""
    if missing := hook_groups.missing([source.content], wiring.HOOKS):
        text = f"not wired in {source.name}: {', '.join(missing)}."
        yield Finding(_HOOKS, Level.PROBLEM, text, source.mend())
    starts = hook_groups.starts(source.content)
    for start in starts:
        name = one_line(start, _PATH_SHOWN)
        if not programs.started_by(start):
            text = f"{source.name} starts {name}, and there is no such program: no event arrives."
            yield Finding(_HOOKS, Level.PROBLEM, text, source.mend(start))
        elif not programs.is_same(start, place.start):
            text = f"{source.name} starts {name}, and this command is {one_line(place.start)}."
            yield Finding(_HOOKS, Level.WARNING, text, source.mend(start))
    if events := hook_groups.different(source.content, wiring.HOOKS, starts[0]):
        names = ", ".join(one_line(each, _SHOWN) for each in events)
        text = f"{source.name} has other hooks than this version installs: {names}."
        yield Finding(_HOOKS, Level.WARNING, text, source.mend())


def _slash_commands(place: Checked, sources: list[_Source]) -> Iterator[Finding]:
    """Where the user's file wires us, the user's folder has the commands."""
    is_users = not sources or sources[0].scope == installer.USER
    wanted = wiring.copies("" if is_users else place.project, place.commands)
    if sources:
        yield from slash_commands.check(_COMMANDS, wanted, sources[0].command("install"))
    elif there := slash_commands.ours(wanted):
        folder = _name(os.path.dirname(there[0]))
        text = f"{len(there)} are in {folder}, and there are no hooks to answer them."
        mend = installer.mend("", QWEN, installer.USER)
        yield Finding(_COMMANDS, Level.WARNING, text, mend)


def _name(path: str) -> str:
    return one_line(paths.display(path, ""))
