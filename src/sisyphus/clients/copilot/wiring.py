"""What `sisyphus install` puts into Copilot CLI's folders: a file of hooks that is ours alone, and
our slash commands as skills, and how they are, as measured on 1.0.102. See `clients.base.Wiring`.

Copilot CLI runs the hooks of every file in the user's folder of hooks and, where the user trusts
the project, of those in `.github/hooks`, equal ones too. There it also runs those of
`.claude/settings.json`, which are for Claude Code: `claude_code.payload` leaves its sessions alone.
"""

import os
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any

from sisyphus.clients import (
    COPILOT,
    defaults,
    hook_files,
    hook_groups,
    installer,
    json_files,
    programs,
    slash_commands,
)
from sisyphus.clients.copilot import native, payload, places
from sisyphus.clients.finding import Finding, Level
from sisyphus.clients.installation import Installation, Program, Site
from sisyphus.clients.wired import Wired, shown

Json = dict[str, Any]

CLIENT = Program("Copilot CLI", "copilot", (1, 0, 102), "copilot update", (".local/bin/copilot",))
TITLE = CLIENT.title

NEXT = ""
SHARED = "Copilot CLI runs them for those who trust the project's folder."

_HOOKS, _SKILLS = f"{TITLE} hooks", f"{TITLE} skills"
_FILE = "sisyphus.json"
_VERSION = {"version": 1}
"""The key that its files of hooks have."""

_FOR_THE_USER = "disable-model-invocation: true\n"
"""The model is not told of our skills: they are for the user to type."""


_groups = partial(hook_groups.calling, COPILOT)

HOOKS: Json = {
    "SessionStart": _groups("session-start"),
    "UserPromptSubmit": _groups("user-prompt-submit"),
    "Notification": _groups("permission-request"),
    "PostToolUse": _groups("post-tool-use"),
    "Stop": _groups("stop", 900),
    "PreCompact": [*_groups("pre-compact"), *_groups("session-start")],
    "SessionEnd": _groups("session-end"),
}
"""Event → groups, as `install` writes them. No start follows a compaction, so what the model then
needs is prepared before it."""


def hooks_file(project: str) -> str:
    return os.path.join(places.folder(project), "hooks", _FILE)


def site(place: Installation, project: str, *, is_shared: bool) -> Site:
    path, folder = hooks_file(project), os.path.join(places.folder(project), "skills")
    copied = copies(project, place.commands)
    return Site(COPILOT, project, path, path, place.start, HOOKS, folder, copied, _VERSION)


problem, wire = hook_groups.problem, hook_groups.wire
effects, dropped = defaults.none_of_it, defaults.no_text


def unwire(settings: Json, globs: Iterable[str], keys: Iterable[str]) -> Json:
    """Returns nothing where only the version of the file would be left."""
    new = hook_groups.without_ours(settings)
    return {} if new == _VERSION else new


def notes(site: Site, place: Installation) -> Iterator[str]:
    return hook_files.both_run(TITLE, read(place), site.settings)


def read(place: Installation) -> list[Wired]:
    own = hooks_file("")
    inside = {hooks_file(place.project): place.project} | {own: ""}
    paths = sorted(filter(os.path.isabs, inside), key=lambda path: path != own)
    loaders = {path: partial(json_files.read, path, inside[path]) for path in paths}
    return hook_files.find(COPILOT, loaders, own, place.project, HOOKS)


def copies(project: str, commands: Mapping[str, bytes]) -> dict[str, bytes]:
    """Returns path → content of the files of our skills.

    commands: file name → content, as Claude Code gets them.
    """
    names = {os.path.splitext(file)[0]: data for file, data in commands.items()}
    return {places.skill_file(project, name): _skill(name, data) for name, data in names.items()}


def _skill(name: str, data: bytes) -> bytes:
    """Returns a command as a skill. The client fills in what the user typed behind its name; the
    marks around it are for our hook, which gets the text of the skill alone."""
    lines, body = slash_commands.parts(data)
    before, after = payload.ARGUMENTS
    marked = f"{before}$ARGUMENTS{after}"
    text = body.rstrip("\n").replace(" $ARGUMENTS", "\n\n$ARGUMENTS")
    if "$ARGUMENTS" not in text:
        text += "\n\n$ARGUMENTS"
    return (
        f"---\nname: {name}\n{lines}{_FOR_THE_USER}---\n{text.replace('$ARGUMENTS', marked)}\n"
    ).encode()


# ---------------------------------------------------------------- how it is


def is_here(home: str, project: str) -> bool:
    return bool(programs.path_of(CLIENT, project)) or programs.is_folder(places.copilot_home())


def look(place: Installation, files: list[Wired]) -> Iterator[Finding]:
    ours = [each for each in files if each.is_ours]
    found = programs.version_of(CLIENT, place.project)
    yield from hook_files.check_program(found, CLIENT, ours)
    findings: list[Finding] = []
    for each in files:
        if each.problem:
            mend = hook_files.mend(each)
            findings.append(hook_files.broken(_HOOKS, each, mend))
    for each in ours:
        findings += hook_files.check_missing(_HOOKS, each, HOOKS)
        findings += hook_files.check_hooks(_HOOKS, each, HOOKS, each.starts, place)
    findings += _switched_off(place.project, ours)
    if len(ours) > 1:
        findings.append(hook_files.twice(_HOOKS, ours))
    if ours and not findings:
        yield hook_files.wired_by(_HOOKS, HOOKS, ours)
    yield from findings
    yield from _trust(place.project, ours)
    skills = partial(copies, commands=place.commands)
    yield from hook_files.check_commands(_SKILLS, ours, skills, COPILOT, place)


def _switched_off(project: str, ours: list[Wired]) -> Iterator[Finding]:
    """Yields the files that switch off hooks: one of hooks those in it, settings all."""
    effects = {each.name: "no hook in it runs" for each in ours if is_off(each)}
    if ours and (path := native.hooks_off(project)):
        effects[shown(path)] = "no hook runs"
    for name, effect in effects.items():
        text = f"{name} has {native.ALL_OFF}: {effect}."
        yield Finding(_HOOKS, Level.PROBLEM, text, f"Take {native.ALL_OFF} out of that file.")


def is_off(file: Wired) -> bool:
    """Tells whether a file of hooks switches off those in it."""
    return file.content.get(native.ALL_OFF) is True


def _trust(project: str, ours: list[Wired]) -> Iterator[Finding]:
    """Yields whether the user trusts the project, without which no hook of it runs."""
    inside = [each for each in ours if each.scope != installer.USER]
    if inside and not native.trusts(project):
        text = f"you have not trusted {shown(project)}: no hook of {inside[0].name} runs."
        mend = "Start `copilot` there in a terminal, and trust the folder."
        yield Finding(_HOOKS, Level.PROBLEM, text, mend)
