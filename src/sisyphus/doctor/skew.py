"""Whether all parts of sisyphus on this machine are of one version."""

from __future__ import annotations

import json
import os
import re

from sisyphus import __version__
from sisyphus.doctor.finding import Finding, count, ok, problem, typed, warning
from sisyphus.errors import UnreadableError
from sisyphus.install import found, marks, opencode
from sisyphus.reading import DOCUMENT_BYTES, read_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from sisyphus.doctor.case import Case
    from sisyphus.doctor.sources import Plugin

PLUGIN, PROGRAM, COMMANDS = "plugin", "versions", "commands"

_NAME = "sisyphus"
_ADD = 'claude plugin marketplace add "$(sisyphus plugin-path)"'
_TOLD = re.compile(r"sisyphus (\S{1,40})")


def plugins(case: Case) -> Iterator[Finding]:
    """Our plugin, where it is switched on."""
    for plugin in case.plugins:
        if plugin.name.partition("@")[0] == _NAME:
            yield _judged(case, plugin)


def _judged(case: Case, plugin: Plugin) -> Finding:
    folder = case.shown(plugin.folder)
    if not os.path.isdir(plugin.folder):
        where = f"{folder} is gone" if plugin.folder else "it is not installed"
        text = f"{plugin.name} is switched on, but {where}: its hooks do not run"
        return problem(PLUGIN, text, f"`{_ADD}`, then `claude plugin install {typed(plugin.name)}`")
    version = _version(plugin.folder)
    if version != __version__:
        text = f"{plugin.name} in {folder} is of {version or 'no version'}; this is {__version__}"
        hint = f"`{_ADD}`, then `claude plugin update {typed(plugin.name)}`"
        return warning(PLUGIN, text, hint)
    return ok(PLUGIN, f"{plugin.name} {version} in {folder}")


def _version(folder: str) -> str:
    try:
        text = read_text(os.path.join(folder, ".claude-plugin", "plugin.json"), DOCUMENT_BYTES)
        return str(json.loads(text)["version"])
    except (UnreadableError, ValueError, LookupError, TypeError):
        return ""


def programs(case: Case) -> Iterator[Finding]:
    """Whether the programs that the hooks start are of this version; a stranger's are
    not started."""
    paths = {path for hook in case.trusted if (path := case.file(hook))}
    others = [path for path in sorted(paths) if os.path.realpath(path) != _own(case)]
    told = {path: _TOLD.search(case.trials.version(path).output) for path in others}
    skewed = {path: one[1] for path, one in told.items() if one and one[1] != __version__}
    for path, version in skewed.items():
        text = f"the hooks start {path}, sisyphus {version}; this is {__version__}"
        yield warning(PROGRAM, text, "`sisyphus install` wires this one")
    if paths and not skewed:
        yield ok(PROGRAM, f"all of {__version__}")


def _own(case: Case) -> str:
    return os.path.realpath(case.own) if case.own else ""


def commands(case: Case) -> Iterator[Finding]:
    """The slash commands that we wrote into the clients' folders."""
    there = found.of_ours(_folders(case), ".md")
    old = [path for path, one in there.items() if _is_old(one.data)]
    if old:
        text = (
            f"{count(len(old), 'slash command')} not of {__version__}, {case.shown(old[0])} first"
        )
        yield warning(COMMANDS, text, "`sisyphus install` again")
    elif there:
        yield ok(COMMANDS, f"{count(len(there), 'slash command')} of {__version__}")


def _folders(case: Case) -> list[str]:
    """Those that are there: of Claude Code, and of OpenCode."""
    claude = [case.space.home, os.path.join(case.space.root, ".claude")]
    paths = [os.path.join(folder, "commands") for folder in claude]
    places = [opencode.of_project(case.space.root), *opencode.users()]
    theirs = [path for place in places for path in opencode.existing(place, opencode.COMMANDS)]
    return [path for path in dict.fromkeys([*paths, *theirs]) if os.path.isdir(path)]


def _is_old(data: bytes) -> bool:
    mark = marks.read(data)
    return mark is not None and mark.version != __version__
