"""Looks at how Codex is wired, as measured on 0.169.0. See `clients.base.Checkup`.

Codex runs every hook of every file, equal ones too, and skips those that the user has not trusted
without a word. Only Codex itself knows which it runs: `codex app-server` lists them.
"""

import os
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sisyphus import files, git, paths
from sisyphus.clients import CODEX, hook_groups, installer, programs, slash_commands, values
from sisyphus.clients.codex import app_server, native, wiring
from sisyphus.clients.findings import Checked, Finding, Level
from sisyphus.errors import UnreadableError
from sisyphus.text import one_line

Json = dict[str, Any]

TITLE = "Codex"
LEAST = (0, 169, 0)
"""The version in which everything was measured."""

_HOOKS, _SKILLS, _SETTINGS = f"{TITLE} hooks", f"{TITLE} skills", f"{TITLE} settings"
_ELSEWHERE = (".local/bin/codex",)
"""Where its installer puts it, if PATH does not lead there."""

_REVIEW = "Start `codex` once in a terminal and choose *Trust all*, or type `/hooks` in it."
_SHOWN, _PATH_SHOWN = 80, 300
"""The most characters that are shown of a name and of a path from somebody's file."""


@dataclass(frozen=True)
class _Source:
    """A file that wires us. project: "" = it is the user's. scope: see `scope`."""

    path: str
    project: str
    content: Json
    scope: str

    @property
    def name(self) -> str:
        return _name(self.path)

    def command(self, verb: str) -> str:
        return installer.command(verb, CODEX, self.scope)

    def mend(self, start: str = "") -> str:
        """start: the words of the file that start another program, or none."""
        more = ", then start `codex` and trust the hooks anew."
        return installer.mend(start, CODEX, self.scope, more)


@dataclass(frozen=True)
class _List:
    """What Codex says of its hooks. hooks: all that it lists. complaints: its warnings and
    errors."""

    hooks: list[Json]
    complaints: list[str]


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
        yield Finding(TITLE, Level.WARNING, "there is no `codex` on the PATH.", mend)
    yield from _unusable(place.project)
    for each in sources:
        yield from _starts(place, each)
        yield from _different(each)
    yield from _twice(sources)
    yield from _skills(place, sources)
    if sources and (path := program(place.project)):
        yield from _trust(path, place.project, sources)


def program(project: str) -> str:
    return programs.find("codex", project, _ELSEWHERE)


def version(project: str) -> Finding | None:
    path = program(project)
    return programs.check(TITLE, path, LEAST, "codex update") if path else None


# ---------------------------------------------------------------- its files


def scope(project: str, path: str) -> str:
    """Returns the scope of `install` that writes a file of hooks. One that git has is for everybody
    who has the project."""
    if path == wiring.hooks_file(""):
        return installer.USER
    return installer.PROJECT if git.tracked(project, [path]) else installer.LOCAL


def _sources(project: str) -> Iterator[_Source]:
    """Yields the files that wire us, the user's first."""
    for path, content in wiring.wired(project).items():
        is_users = path == wiring.hooks_file("")
        yield _Source(path, "" if is_users else project, content, scope(project, path))


def _unusable(project: str) -> Iterator[Finding]:
    """Yields the files of hooks that Codex drops."""
    for path in wiring.paths_of(project):
        if not os.path.lexists(path):
            continue
        try:
            keys = wiring.unknown_keys(wiring.load(path))
        except UnreadableError as error:
            text = f"{_name(path)} cannot be used: {one_line(str(error))}."
            mend = "Correct the file. Codex drops a broken file as a whole."
            yield Finding(_HOOKS, Level.PROBLEM, text, mend)
            continue
        if keys:
            key = one_line(keys[0], _SHOWN)
            text = f"{_name(path)} has a key that Codex does not know, {key}: no hook of it runs."
            yield Finding(_HOOKS, Level.PROBLEM, text, f"Take {key} out of that file.")


def _starts(place: Checked, source: _Source) -> Iterator[Finding]:
    """Yields what is wrong with the programs that the hooks of a file start, and with the home that
    they are given."""
    for start in hook_groups.starts(source.content):
        home, words = wiring.home_of(start)
        name = one_line(words, _PATH_SHOWN)
        if not programs.started_by(words):
            text = f"{source.name} starts {name}, and there is no such program: no event arrives."
            yield Finding(_HOOKS, Level.PROBLEM, text, source.mend(words))
        elif not programs.is_same(words, place.start):
            text = f"{source.name} starts {name}, and this command is {one_line(place.start)}."
            yield Finding(_HOOKS, Level.WARNING, text, source.mend(words))
        if source.scope != installer.PROJECT and os.path.realpath(home) != os.path.realpath(
            place.home
        ):
            shown = one_line(paths.display(home, ""), _PATH_SHOWN)
            text = (
                f"those of {source.name} keep what they know in {shown}, and this command looks in "
                f"{one_line(paths.display(place.home, ''))}."
            )
            yield Finding(_HOOKS, Level.WARNING, text, source.mend())


def _different(source: _Source) -> Iterator[Finding]:
    """Yields the events whose hooks are not as `install` writes them, whatever they start."""
    if missing := hook_groups.missing([source.content], wiring.HOOKS):
        text = f"not wired in {source.name}: {', '.join(missing)}."
        yield Finding(_HOOKS, Level.PROBLEM, text, source.mend())
    start = hook_groups.starts(source.content)[0]
    if events := hook_groups.different(source.content, wiring.HOOKS, start):
        names = ", ".join(one_line(each, _SHOWN) for each in events)
        text = f"{source.name} has other hooks than this version installs: {names}."
        yield Finding(_HOOKS, Level.WARNING, text, source.mend())


def _twice(sources: list[_Source]) -> Iterator[Finding]:
    if len(sources) > 1:
        text = f"wired twice, by {' and '.join(each.name for each in sources)}: each runs."
        ways = " or ".join(f"`{each.command('uninstall')}`" for each in reversed(sources))
        yield Finding(_HOOKS, Level.WARNING, text, f"Keep one of them: {ways}.")


def _skills(place: Checked, sources: list[_Source]) -> Iterator[Finding]:
    """Where the user's file wires us, the user's folder has the skills."""
    project = sources[0].project if sources else ""
    wanted = {
        path: data
        for path, data in wiring.copies(project, place.commands).items()
        if os.path.basename(path) == "SKILL.md"
    }
    if sources:
        yield from slash_commands.check(_SKILLS, wanted, sources[0].command("install"))
    elif there := slash_commands.ours(wanted):
        folder = _name(os.path.dirname(os.path.dirname(there[0])))
        text = f"{len(there)} are in {folder}, and there are no hooks to answer them."
        mend = installer.mend("", CODEX, installer.USER)
        yield Finding(_SKILLS, Level.WARNING, text, mend)


# ---------------------------------------------------------------- what Codex says of them


def trust(program: str, project: str) -> Iterator[Finding]:
    """Yields whether Codex runs our hooks; nothing if it is not wired."""
    if sources := list(_sources(project)):
        yield from _trust(program, project, sources)


def _trust(program: str, project: str, sources: list[_Source]) -> Iterator[Finding]:
    """Yields whether Codex runs our hooks."""
    if _are_hooks_off():
        text = f"{_name(_config())} has `hooks = false`: no hook runs."
        yield Finding(_SETTINGS, Level.PROBLEM, text, "Take that out of `[features]`.")
        return
    answer = _ask(program, project)
    if answer is None:
        text = "whether Codex trusts them is unknown: `codex app-server` did not answer."
        yield Finding(_HOOKS, Level.WARNING, text, "Start `codex` and look at `/hooks`.")
        return
    for each in sources:
        yield from _trust_in(answer, each)
    yield from _elsewhere(answer, sources)


def _ask(program: str, project: str) -> _List | None:
    result = app_server.ask(program, "hooks/list", {"cwds": [project]})
    if result is None or not values.items(result.get("data")):
        return None
    folders = [values.mapping(each) for each in values.items(result["data"])]
    hooks = [hook for each in folders for hook in values.items(each.get("hooks"))]
    said = [
        values.text(message) or values.text(values.mapping(message).get("message"))
        for each in folders
        for key in ("warnings", "errors")
        for message in values.items(each.get(key))
    ]
    return _List([each for each in hooks if hook_groups.is_ours(each, "hook")], said)


def _trust_in(answer: _List, source: _Source) -> Iterator[Finding]:
    """Yields what Codex says of our hooks in a file."""
    hooks = [each for each in answer.hooks if _is_in(each, source)]
    complaints = [each for each in answer.complaints if source.path in each]
    if not hooks and complaints:
        if not wiring.unknown_keys(source.content):
            text = f"Codex says: {one_line(complaints[0])}."
            yield Finding(_HOOKS, Level.PROBLEM, text, f"Correct {source.name}.")
    elif not hooks and source.project:
        text = f"Codex does not trust this project, so it runs no hook of {source.name}."
        mend = "Start `codex` here in a terminal, and trust the folder and its hooks."
        yield Finding(_HOOKS, Level.PROBLEM, text, mend)
    elif not hooks:
        text = f"Codex runs no hook of {source.name}: they may be off."
        mend = "`codex features list` shows whether `hooks` is on."
        yield Finding(_HOOKS, Level.PROBLEM, text, mend)
    else:
        yield from _states(hooks, source)


def _states(hooks: list[Json], source: _Source) -> Iterator[Finding]:
    states = {"untrusted": "not trusted", "modified": "changed since you trusted them"}
    bad = [each for each in hooks if values.text(each.get("trustStatus")) in states]
    off = [each for each in hooks if each.get("enabled") is False and each not in bad]
    for state, words in states.items():
        if number := sum(each["trustStatus"] == state for each in bad):
            text = f"{words}: {number} of {len(hooks)} in {source.name}. Codex skips them."
            yield Finding(_HOOKS, Level.PROBLEM, text, _REVIEW)
    if off:
        text = f"switched off: {len(off)} of {len(hooks)} in {source.name}."
        yield Finding(_HOOKS, Level.PROBLEM, text, "Type `/hooks` in `codex` to switch them on.")
    if not bad and not off:
        text = f"{len(hooks)} trusted hooks, wired by {source.name}."
        yield Finding(_HOOKS, Level.GOOD, text)


def _elsewhere(answer: _List, sources: list[_Source]) -> Iterator[Finding]:
    """Yields hooks of ours that Codex has from its config.toml: each event runs twice."""
    others = [each for each in answer.hooks if not any(_is_in(each, one) for one in sources)]
    for path in dict.fromkeys(values.text(each.get("sourcePath")) for each in others):
        text = f"wired twice, also by {one_line(paths.display(path, ''), _PATH_SHOWN)}: each runs."
        yield Finding(_HOOKS, Level.WARNING, text, "Take the hooks of sisyphus out there.")


def _is_in(hook: Json, source: _Source) -> bool:
    path = values.path(hook.get("sourcePath"))
    return os.path.realpath(path) == os.path.realpath(source.path)


def _are_hooks_off() -> bool:
    return values.mapping(settings().get("features")).get("hooks") is False


def settings() -> Json:
    """Returns the user's settings of Codex; {} if they cannot be read."""
    try:
        return tomllib.loads(files.read(_config()))
    except (UnreadableError, ValueError, RecursionError):
        return {}


def _config() -> str:
    return os.path.join(native.codex_home(), "config.toml")


def _name(path: str) -> str:
    return one_line(paths.display(path, ""))
