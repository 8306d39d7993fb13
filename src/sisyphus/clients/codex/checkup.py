"""Looks at how Codex is wired, as measured on 0.169.0. See `clients.base.Checkup`.

Codex runs every hook of every file, equal ones too, and skips those that the user has not trusted
without a word. Only Codex itself knows which it runs: `codex app-server` lists them.
"""

import os
import tomllib
from collections.abc import Iterator
from typing import Any

from sisyphus.clients import (
    CODEX,
    entry,
    hook_files,
    hook_groups,
    installer,
    programs,
    slash_commands,
    values,
)
from sisyphus.clients.codex import app_server, native, wiring
from sisyphus.clients.finding import Finding, Level
from sisyphus.clients.hook_files import HookFile, shown
from sisyphus.clients.installation import Installation
from sisyphus.ground import files
from sisyphus.ground.errors import UnreadableError
from sisyphus.ground.record import Record
from sisyphus.ground.text import one_line

Json = dict[str, Any]

TITLE = "Codex"
LEAST = (0, 169, 0)
"""The version in which everything was measured."""

_HOOKS, _SKILLS, _SETTINGS = f"{TITLE} hooks", f"{TITLE} skills", f"{TITLE} settings"
_ELSEWHERE = (".local/bin/codex",)
"""Where its installer puts it, if PATH does not lead there."""

_REVIEW = "Start `codex` once in a terminal and choose *Trust all*, or type `/hooks` in it."
_ANEW = ", then start `codex` and trust the hooks anew."


class _List(Record, frozen=True):
    """What Codex says of its hooks. hooks: all that it lists. complaints: its warnings and
    errors."""

    hooks: list[Json]
    complaints: list[str]


def is_here(home: str, project: str) -> bool:
    return bool(program(project)) or programs.is_folder(native.codex_home())


def is_wired(home: str, project: str) -> bool:
    return bool(wiring.wired(project))


def look(place: Installation) -> Iterator[Finding]:
    sources = _sources(place.project)
    if found := version(place.project):
        yield found
    elif sources:
        yield hook_files.no_program(TITLE, "codex", CODEX, [each.scope for each in sources])
    yield from _unusable(place.project)
    for each in sources:
        starts = [wiring.home_of(start)[1] for start in hook_groups.starts(each.content)]
        yield from hook_files.check(_HOOKS, each, wiring.HOOKS, starts, place)
        yield from _homes(place, each)
    if len(sources) > 1:
        yield hook_files.twice(_HOOKS, sources)
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
    """Returns the scope of `install` that writes a file of hooks."""
    return hook_files.scope(CODEX, project, path, wiring.hooks_file(""))


def _sources(project: str) -> list[HookFile]:
    """Returns the files that wire us, the user's first."""
    users = wiring.hooks_file("")
    return hook_files.find(CODEX, wiring.wired(project), users, project, _ANEW)


def _unusable(project: str) -> Iterator[Finding]:
    """Yields the files of hooks that Codex drops."""
    for path in wiring.paths_of(project):
        if not os.path.lexists(path):
            continue
        try:
            keys = wiring.unknown_keys(wiring.load(path, project))
        except UnreadableError as error:
            text = f"{shown(path)} cannot be used: {one_line(str(error))}."
            mend = "Correct the file. Codex drops a broken file as a whole."
            yield Finding(_HOOKS, Level.PROBLEM, text, mend)
            continue
        if keys:
            key = one_line(keys[0], hook_files.SHOWN)
            text = f"{shown(path)} has a key that Codex does not know, {key}: no hook of it runs."
            yield Finding(_HOOKS, Level.PROBLEM, text, f"Take {key} out of that file.")


def _homes(place: Installation, source: HookFile) -> Iterator[Finding]:
    """Yields the homes that the hooks of a file are given, if they are not ours. What is shared
    names none."""
    for start in hook_groups.starts(source.content):
        home, _ = wiring.home_of(start)
        is_ours = os.path.realpath(home) == os.path.realpath(place.home)
        if source.scope != installer.PROJECT and not is_ours:
            text = (
                f"those of {source.name} keep what they know in {shown(home)}, and this command "
                f"looks in {shown(place.home)}."
            )
            yield Finding(_HOOKS, Level.WARNING, text, source.mend())


def _skills(place: Installation, sources: list[HookFile]) -> Iterator[Finding]:
    """Where the user's file wires us, the user's folder has the skills."""
    is_users = not sources or sources[0].scope == installer.USER
    project = "" if is_users else place.project
    wanted = {
        path: data
        for path, data in wiring.copies(project, place.commands).items()
        if os.path.basename(path) == "SKILL.md"
    }
    if sources:
        yield from slash_commands.check(_SKILLS, wanted, sources[0].command("install"))
    elif there := slash_commands.ours(wanted):
        folder = os.path.dirname(os.path.dirname(there[0]))
        yield hook_files.unanswered(_SKILLS, there, folder, CODEX)


# ---------------------------------------------------------------- what Codex says of them


def trust(program: str, project: str) -> Iterator[Finding]:
    """Yields whether Codex runs our hooks; nothing if it is not wired."""
    if sources := _sources(project):
        yield from _trust(program, project, sources)


def _trust(program: str, project: str, sources: list[HookFile]) -> Iterator[Finding]:
    """Yields whether Codex runs our hooks."""
    if _are_hooks_off():
        text = f"{shown(_config())} has `hooks = false`: no hook runs."
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
    return _List([each for each in hooks if entry.is_ours(each, "hook")], said)


def _trust_in(answer: _List, source: HookFile) -> Iterator[Finding]:
    """Yields what Codex says of our hooks in a file."""
    hooks = [each for each in answer.hooks if _is_in(each, source)]
    complaints = [each for each in answer.complaints if source.path in each]
    if not hooks and complaints:
        if not wiring.unknown_keys(source.content):
            text = f"Codex says: {one_line(complaints[0])}."
            yield Finding(_HOOKS, Level.PROBLEM, text, f"Correct {source.name}.")
    elif not hooks and source.scope != installer.USER:
        text = f"Codex does not trust this project, so it runs no hook of {source.name}."
        mend = "Start `codex` here in a terminal, and trust the folder and its hooks."
        yield Finding(_HOOKS, Level.PROBLEM, text, mend)
    elif not hooks:
        text = f"Codex runs no hook of {source.name}: they may be off."
        mend = "`codex features list` shows whether `hooks` is on."
        yield Finding(_HOOKS, Level.PROBLEM, text, mend)
    else:
        yield from _states(hooks, source)


def _states(hooks: list[Json], source: HookFile) -> Iterator[Finding]:
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


def _elsewhere(answer: _List, sources: list[HookFile]) -> Iterator[Finding]:
    """Yields hooks of ours that Codex has from its config.toml: each event runs twice."""
    others = [each for each in answer.hooks if not any(_is_in(each, one) for one in sources)]
    for path in dict.fromkeys(values.text(each.get("sourcePath")) for each in others):
        text = f"wired twice, also by {shown(path)}: each runs."
        yield Finding(_HOOKS, Level.WARNING, text, "Take the hooks of sisyphus out there.")


def _is_in(hook: Json, source: HookFile) -> bool:
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
