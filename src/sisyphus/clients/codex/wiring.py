"""What `sisyphus install` puts into Codex's folders: hooks in `hooks.json`, and our slash commands
as skills, and how they are, as measured on 0.169.0. See `clients.base.Wiring`.

The user trusts each hook by its place in the file and a hash of its text. So what is here never
changes between versions without need, and our groups are the last of their events: what stands
before them keeps its place. One unknown key at the top of the file makes Codex drop all of it.

Codex runs every hook of every file, equal ones too, and skips those that the user has not trusted
without a word. Only Codex itself knows which it runs: `codex app-server` lists them.
"""

import json
import os
import shlex
import tomllib
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from sisyphus.clients import (
    CODEX,
    COMMAND_MARK,
    entry,
    hook_files,
    hook_groups,
    installer,
    programs,
    slash_commands,
    values,
)
from sisyphus.clients.codex import app_server, native
from sisyphus.clients.finding import Finding, Level
from sisyphus.clients.installation import Installation, Program, Site
from sisyphus.clients.wired import Wired, shown
from sisyphus.ground import files, paths
from sisyphus.ground.errors import UnreadableError
from sisyphus.ground.record import Record, replace
from sisyphus.ground.text import one_line

Json = dict[str, Any]

CLIENT = Program("Codex", "codex", (0, 169, 0), "codex update", (".local/bin/codex",))
TITLE = CLIENT.title

_HOOKS, _SKILLS, _SETTINGS = f"{TITLE} hooks", f"{TITLE} skills", f"{TITLE} settings"
_REVIEW = "Start `codex` once in a terminal and choose *Trust all*, or type `/hooks` in it."
_ANEW = ", then start `codex` and trust the hooks anew."

NEXT = "Start `codex` once and choose *Trust all*: it runs no hook that you have not trusted."
SHARED = "In Codex each has to trust the project and its hooks."

_WHOLE = {"additionalContextLimit": 10_000}
"""In tokens of 4 bytes: 10,000 characters of any language reach the model whole."""

_SHORT = 3
"""The most seconds that Codex gives these hooks. Of more it warns."""

_KEYS = ("description", "hooks")
"""The keys that Codex knows at the top of the file."""

_SHOWN_KEYS = 5
"""The most keys that a message names."""

_POLICY = b"policy:\n  allow_implicit_invocation: false\n"
"""The model is not told of our skills: they are for the user to type."""


_groups = partial(hook_groups.calling, CODEX)

HOOKS: Json = {
    "SessionStart": _groups("session-start", 10, **_WHOLE),
    "UserPromptSubmit": _groups("user-prompt-submit", 10, **_WHOLE),
    "PermissionRequest": _groups("permission-request", 10),
    "PostToolUse": _groups("post-tool-use", 10, **_WHOLE),
    "Stop": [*_groups("stop", 900), *_groups("idle", 900, **{"async": True})],
    "PreCompact": _groups("pre-compact", 10),
    "SessionEnd": _groups("session-end", _SHORT),
    "Interrupt": _groups("interrupt", _SHORT),
}
"""Event → groups, as `install` writes them."""


def folder(project: str) -> str:
    """Returns the user's folder of Codex or, with a project, the one there."""
    return os.path.join(project, ".codex") if project else native.codex_home()


def hooks_file(project: str) -> str:
    return os.path.join(folder(project), "hooks.json")


def site(place: Installation, project: str, *, is_shared: bool) -> Site:
    path = hooks_file(project)
    start = place.start if is_shared else start_with_home(place.start, place.home)
    skills, files = native.skills_folder(folder(project)), copies(project, place.commands)
    return Site(CODEX, project, path, path, start, HOOKS, skills, files)


problem, wire, unwire = hook_groups.problem, hook_groups.wire, hook_groups.unwire


def dropped(text: str) -> str:
    """Returns the keys for which Codex drops the file. See `clients.base.Wiring`."""
    return _unknown(json.loads(text)) if text.strip() else ""


def _unknown(content: Json) -> str:
    keys = unknown_keys(content)
    what = "its key" if len(keys) == 1 else "its keys"
    return f"Codex does not know {what} {named(keys)}" if keys else ""


def named(keys: list[str]) -> str:
    """Names keys for people, a few of many."""
    return ", ".join(one_line(key, 80) for key in keys[:_SHOWN_KEYS])


def notes(site: Site, place: Installation) -> Iterator[str]:
    yield from hook_files.both_run(TITLE, read(place), site.settings)


def effects(site: Site, before: bytes | None, after: bytes | None) -> Iterator[str]:
    if has_moved(_content(before), _content(after)):
        yield (
            f"Other hooks in {shown(site.file)} get another place there, so Codex asks again "
            "whether you trust them: start `codex` once."
        )


def read(place: Installation) -> list[Wired]:
    return _read(place.project)


def _read(project: str) -> list[Wired]:
    loaders = {path: partial(load, path, project) for path in _paths(project)}
    found = hook_files.find(CODEX, loaders, hooks_file(""), project, HOOKS, _ANEW)
    return [replace(each, problem=each.problem or _unknown(each.content)) for each in found]


def start_with_home(start: str, home: str) -> str:
    """Returns the words that start us with a home that is not the default one. Codex may run hooks
    in a server of its own, with another environment than the user's terminal.

    start: the words that start us in a shell. home: see `paths.client_home`.
    """
    if home == os.path.join(paths.user_home(), ".claude"):
        return start
    return f"env {entry.HOME}={shlex.quote(home)} {start}"


def home_of(start: str) -> tuple[str, str]:
    """Returns the home that such words name, and those that start us; the default one if they name
    none."""
    try:
        words = shlex.split(start)
    except ValueError:
        words = []
    mark = f"{entry.HOME}="
    if words[:1] == ["env"] and words[1:2] and words[1].startswith(mark):
        return words[1].removeprefix(mark), shlex.join(words[2:])
    return os.path.join(paths.user_home(), ".claude"), start


def copies(project: str, commands: Mapping[str, bytes]) -> dict[str, bytes]:
    """Returns path → content of the files of our skills. A skill of the user's that has the name of
    one stays as it is, with what lies beside it.

    commands: file name → content, as Claude Code gets them.
    """
    contents = {}
    for file, data in commands.items():
        name = os.path.splitext(file)[0]
        path = native.skill_file(folder(project), name)
        if not _is_foreign(path):
            contents[os.path.join(os.path.dirname(path), "agents", "openai.yaml")] = _POLICY
        contents[path] = _skill(name, data)
    return contents


def load(path: str, project: str = "") -> Json:
    """Returns the content of a hooks.json. Raises `UnreadableError` if Codex cannot use it.

    project: the one that must contain the file, unless it is the user's own; "" = none.
    """
    inside = "" if path == hooks_file("") else project
    try:
        value = json.loads(files.read(path, inside=inside))
    except (ValueError, RecursionError) as error:
        raise UnreadableError(f"it is not valid JSON ({error})") from error
    if not isinstance(value, dict):
        raise UnreadableError("it is not a JSON object")
    if problem := hook_groups.problem(value):
        raise UnreadableError(problem)
    return value


def unknown_keys(content: Json) -> list[str]:
    """Returns the keys for which Codex drops the whole file."""
    return [key for key in content if key not in _KEYS]


def has_moved(old: Json, new: Json) -> bool:
    """Tells whether a group that stays has another place than before: Codex asks again whether its
    hooks are trusted."""
    after = new.get("hooks", {})
    return any(
        group in after.get(event, []) and after[event][place : place + 1] != [group]
        for event, groups in old.get("hooks", {}).items()
        for place, group in enumerate(groups)
    )


def _paths(project: str) -> list[str]:
    """Returns the files of hooks that Codex reads for a project, whether they exist or not."""
    own = hooks_file("")
    every = {os.path.realpath(path): path for path in (hooks_file(project), own)}
    found = [path for path in every.values() if os.path.isabs(path)]
    return sorted(found, key=lambda path: path != own)


def _content(data: bytes | None) -> Json:
    try:
        value = json.loads((data or b"").decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) and not hook_groups.problem(value) else {}


def _is_foreign(path: str) -> bool:
    """Tells whether there is a skill that is not ours."""
    try:
        return COMMAND_MARK not in files.read(path)
    except UnreadableError:
        return os.path.lexists(path)


def _skill(name: str, data: bytes) -> bytes:
    """Returns a command as a skill. Codex does not fill in what the user typed behind its name: the
    model reads that in the user's message."""
    lines, body = slash_commands.parts(data)
    text = body.replace(
        "$ARGUMENTS", f"The text after `${name}` in the user's message belongs to this."
    )
    return f"---\nname: {name}\n{lines}---\n{text}".encode()


# ---------------------------------------------------------------- how it is


def is_here(home: str, project: str) -> bool:
    return bool(programs.path_of(CLIENT, project)) or programs.is_folder(native.codex_home())


def look(place: Installation, files: list[Wired]) -> Iterator[Finding]:
    ours = [each for each in files if each.is_ours]
    found = programs.version_of(CLIENT, place.project)
    yield from hook_files.check_program(found, CLIENT, ours)
    for each in files:
        yield from _unusable(each)
    for each in ours:
        starts = [home_of(start)[1] for start in each.starts]
        yield from hook_files.check_missing(_HOOKS, each, HOOKS)
        yield from hook_files.check_hooks(_HOOKS, each, HOOKS, starts, place)
        yield from _homes(place, each)
    if len(ours) > 1:
        yield hook_files.twice(_HOOKS, ours)
    skills = partial(_skills, commands=place.commands)
    yield from hook_files.check_commands(_SKILLS, ours, skills, CODEX, place)
    if ours and (path := programs.path_of(CLIENT, place.project)):
        yield from _trust(path, place.project, ours)


def _unusable(file: Wired) -> Iterator[Finding]:
    """Yields why Codex drops a file of hooks."""
    if keys := unknown_keys(file.content):
        key = one_line(keys[0], hook_files.SHOWN)
        text = f"{file.name} has a key that Codex does not know, {key}: no hook of it runs."
        yield Finding(_HOOKS, Level.PROBLEM, text, f"Take {key} out of that file.")
    elif file.problem:
        mend = "Correct the file. Codex drops a broken file as a whole."
        yield hook_files.broken(_HOOKS, file, mend)


def _homes(place: Installation, file: Wired) -> Iterator[Finding]:
    """Yields the homes that the hooks of a file are given, if they are not ours. What is shared
    names none."""
    for start in file.starts:
        home, _ = home_of(start)
        is_ours = os.path.realpath(home) == os.path.realpath(place.home)
        if file.scope != installer.PROJECT and not is_ours:
            text = (
                f"those of {file.name} keep what they know in {shown(home)}, and this command "
                f"looks in {shown(place.home)}."
            )
            yield Finding(_HOOKS, Level.WARNING, text, hook_files.mend(file))


def _skills(project: str, commands: Mapping[str, bytes]) -> dict[str, bytes]:
    """Returns path → content of our skills, without what lies beside them."""
    every = copies(project, commands).items()
    return {path: data for path, data in every if os.path.basename(path) == "SKILL.md"}


# ---------------------------------------------------------------- what Codex says of them


def trust(program: str, project: str) -> Iterator[Finding]:
    """Yields whether Codex runs our hooks; nothing if it is not wired."""
    if ours := [each for each in _read(project) if each.is_ours]:
        yield from _trust(program, project, ours)


def _trust(program: str, project: str, ours: list[Wired]) -> Iterator[Finding]:
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
    for each in ours:
        yield from _trust_in(answer, each)
    yield from _elsewhere(answer, ours)


class _List(Record, frozen=True):
    """What Codex says of its hooks. hooks: all that it lists. complaints: its warnings and
    errors."""

    hooks: list[Json]
    complaints: list[str]


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


def _trust_in(answer: _List, file: Wired) -> Iterator[Finding]:
    """Yields what Codex says of our hooks in a file."""
    hooks = [each for each in answer.hooks if _is_in(each, file)]
    complaints = [each for each in answer.complaints if file.path in each]
    if not hooks and complaints:
        if not unknown_keys(file.content):
            text = f"Codex says: {one_line(complaints[0])}."
            yield Finding(_HOOKS, Level.PROBLEM, text, f"Correct {file.name}.")
    elif not hooks and file.scope != installer.USER:
        text = f"Codex does not trust this project, so it runs no hook of {file.name}."
        mend = "Start `codex` here in a terminal, and trust the folder and its hooks."
        yield Finding(_HOOKS, Level.PROBLEM, text, mend)
    elif not hooks:
        text = f"Codex runs no hook of {file.name}: they may be off."
        mend = "`codex features list` shows whether `hooks` is on."
        yield Finding(_HOOKS, Level.PROBLEM, text, mend)
    else:
        yield from _states(hooks, file)


def _states(hooks: list[Json], file: Wired) -> Iterator[Finding]:
    states = {"untrusted": "not trusted", "modified": "changed since you trusted them"}
    bad = [each for each in hooks if values.text(each.get("trustStatus")) in states]
    off = [each for each in hooks if each.get("enabled") is False and each not in bad]
    for state, words in states.items():
        if number := sum(each["trustStatus"] == state for each in bad):
            text = f"{words}: {number} of {len(hooks)} in {file.name}. Codex skips them."
            yield Finding(_HOOKS, Level.PROBLEM, text, _REVIEW)
    if off:
        text = f"switched off: {len(off)} of {len(hooks)} in {file.name}."
        yield Finding(_HOOKS, Level.PROBLEM, text, "Type `/hooks` in `codex` to switch them on.")
    if not bad and not off:
        text = f"{len(hooks)} trusted hooks, wired by {file.name}."
        yield Finding(_HOOKS, Level.GOOD, text)


def _elsewhere(answer: _List, ours: list[Wired]) -> Iterator[Finding]:
    """Yields hooks of ours that Codex has from its config.toml: each event runs twice."""
    others = [each for each in answer.hooks if not any(_is_in(each, one) for one in ours)]
    for path in dict.fromkeys(values.text(each.get("sourcePath")) for each in others):
        text = f"wired twice, also by {shown(path)}: each runs."
        yield Finding(_HOOKS, Level.WARNING, text, "Take the hooks of sisyphus out there.")


def _is_in(hook: Json, file: Wired) -> bool:
    path = values.path(hook.get("sourcePath"))
    return os.path.realpath(path) == os.path.realpath(file.path)


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
