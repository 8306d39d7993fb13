"""Tries the wiring of Claude Code, as measured on 2.1.329. See `clients.base.Trial`.

One wrong key makes it drop a whole settings file, hooks and all. So a copy has everything in it
that does no harm, and nothing that a shell could run or that leads a request elsewhere.
"""

import json
import os
from collections.abc import Iterator
from typing import Any

from sisyphus.clients import CLAUDE_CODE, entry, hook_groups, installer, json_files, lines, programs
from sisyphus.clients.claude_code import native, switches
from sisyphus.clients.claude_code import wiring as entries
from sisyphus.clients.installation import Installation
from sisyphus.clients.trial_folder import COMMAND, HOME, PROJECT, PROMPT, Stage, WiringCopy
from sisyphus.clients.wired import ORGANISATION, Wired
from sisyphus.ground import paths
from sisyphus.ground.text import one_line

Json = dict[str, Any]

SILENCE = "Run `claude doctor`: a wrong entry makes it drop a whole settings file."

_COPIES = {
    installer.USER: f"{HOME}/settings.json",
    installer.PROJECT: f"{PROJECT}/.claude/settings.json",
    installer.LOCAL: f"{PROJECT}/.claude/settings.local.json",
}
"""Where the copies of its settings go, by the scope of the `install` that writes them."""

_FLAGS = (
    *("-p", PROMPT, "--output-format", "stream-json", "--verbose", "--include-hook-events"),
    *("--permission-mode", "acceptEdits", "--strict-mcp-config"),
)
_QUIET = (
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
    "DISABLE_AUTOUPDATER",
    "DISABLE_ERROR_REPORTING",
    "DISABLE_TELEMETRY",
)
_KEY = "sk-ant-of-no-account"
_APPROVED = 20
"""It remembers a key that the user has approved by so many of its last characters."""

_ANSWERS = {
    "hasCompletedOnboarding": True,
    "customApiKeyResponses": {"approved": [_KEY[-_APPROVED:]], "rejected": []},
}
"""To what it asks in a new home."""

_OURS = ("PATH", "SISYPHUS_DISABLE")
"""Variables of the settings that decide whether our hooks can do something."""

_FIELDS = ("async", "asyncRewake", "command", "if", "once", "shell", "timeout", "type")
"""Of a hook."""

_EMPTY = ("enabledPlugins", "env", "extraKnownMarketplaces", "mcpServers")
"""Settings that start programs or lead requests elsewhere. One of a wrong type does neither."""

_ACCOUNT = ("apiKey", "aws", "forceLogin", "gcp")
"""How the names of settings start that say who the user is, and what proves it."""

_RUN = ("command", "Command", "Helper", "Refresh", "Export")
"""How the names of settings end that are run."""

_NOTHING = ":"

_SAID = 200


def wiring(place: Installation) -> WiringCopy:
    copies = {f"{HOME}/.claude.json": _json(_ANSWERS), **dict(_commands(place))}
    installed = _installed(place)
    found = entries.read(place)
    tried: list[tuple[str, str]] = []  # words that start us, and the scope of the file
    left: list[tuple[str, str]] = []
    off, others, left_out = "", 0, []
    for file in (each for each in found if each.scope in _COPIES):
        is_users, every = file.scope == installer.USER, hook_groups.ours(file.content)
        ours = [each for each in every if is_users or each[2]["command"] in installed]
        for group, hooks in ((tried, ours), (left, every)):
            group += [(entry.call(hook["command"])[0], file.scope) for _, _, hook in hooks[:1]]
        others += len([*hook_groups.every_hook(file.content)]) - len(ours)
        if file.content.get("disableAllHooks") is True:
            off = f'{file.name} sets "disableAllHooks"'
        try:
            copies[_COPIES[file.scope]] = _json(_harmless(file.content, ours, is_users=is_users))
        except RecursionError:
            left_out.append(f"{file.name}, which is nested too deeply.")
    left_out += [f"{others} hooks of others."] if others else []
    plugin = next((each.plugin for each in found if each.plugin), "")
    words, note = _plugin(place, plugin) if plugin else ((), [])
    start, scope = [*tried, *left, ("", installer.USER)][0]
    mend = installer.mend("" if programs.started_by(start) else start, CLAUDE_CODE, scope)
    if plugin and not tried:
        mend = f"Run `claude plugin update {one_line(plugin)}`, or install it again."
    is_wired, left_out = bool(tried or words), left_out + note
    return WiringCopy(copies, is_wired, mend, words, off, left_out, why_not=_why_not(found))


def _why_not(found: list[Wired]) -> str:
    """An organisation's settings cannot be overruled: they may name another server, and hooks."""
    path = next((each.path for each in found if each.scope == ORGANISATION), "")
    return f"nothing can overrule {path}, which may lead its requests elsewhere" if path else ""


def command(program: str, wiring: WiringCopy, stage: Stage) -> list[str]:
    return [program, *_FLAGS, *wiring.words]


def environment(stage: Stage) -> dict[str, str]:
    return {
        **stage.environment(*switches.ITS_SWITCHES),
        **dict.fromkeys(_QUIET, "1"),
        "CLAUDE_CODE_TMPDIR": os.path.join(stage.root, "tmp"),
        "ANTHROPIC_BASE_URL": stage.url,
        "ANTHROPIC_API_KEY": _KEY,
    }


def read_call(path: str) -> Json:
    return {"name": "Read", "input": {"file_path": path}}


def knows_commands(wiring: WiringCopy, output: bytes) -> bool:
    names = next((event.get("slash_commands") for event in _events(output, "init")), None)
    return isinstance(names, list) and (COMMAND in names or f"sisyphus:{COMMAND}" in names)


def failures(output: bytes, errors: str) -> list[str]:
    """A hook that is too late, or in the background when the client ends, has no exit code. One
    whose program does not start exits with 0, and the shell or Python says why; ours says nothing
    there unless it wakes the session."""
    alike: dict[str, list[str]] = {}
    for event in _events(output, "hook_response"):
        code, said = event.get("exit_code"), one_line(str(event.get("stderr") or ""), _SAID)
        if code not in (None, 0, entry.WAKES) or (code == 0 and said):
            how = f"failed with exit code {code}" if code else "does not start"
            what = f"{how}: {said or 'it said nothing'}"
            alike.setdefault(what, []).append(str(event.get("hook_event")))
    return [
        one_line(f"The hook for {', '.join(dict.fromkeys(names))} {what}", 2 * _SAID)
        for what, names in alike.items()
    ]


def _events(output: bytes, subtype: str) -> Iterator[Json]:
    for line in output.splitlines():
        event = lines.parse(line)
        if event and event.get("type") == "system" and event.get("subtype") == subtype:
            yield event


def _commands(place: Installation) -> Iterator[tuple[str, bytes]]:
    """Yields our slash commands that are there, as `install` writes them."""
    for name, data in place.commands.items():
        stem = os.path.splitext(name)[0]
        if os.path.isfile(native.command_file(place.home, place.project, stem)):
            yield f"{HOME}/commands/{name}", data


def _installed(place: Installation) -> set[str]:
    """Returns the lines that `install` writes: for everybody it names the bare program."""
    commands = [
        hook["command"]
        for groups in place.hooks.values()
        for group in groups
        for hook in group["hooks"]
    ]
    return {
        entry.with_start(command, start)
        for start in (place.start, installer.NAME)
        for command in commands
    }


def _plugin(place: Installation, name: str) -> tuple[tuple[str, ...], list[str]]:
    """Returns the words that load a plugin that the settings enable, and what is not tried."""
    rows = json_files.read_or_empty(os.path.join(place.home, "plugins", "installed_plugins.json"))
    plugins = rows.get("plugins")
    found = plugins.get(name) if isinstance(plugins, dict) else None
    for row in found if isinstance(found, list) else ():
        folder = row.get("installPath") if isinstance(row, dict) else None
        if not isinstance(folder, str) or not os.path.isabs(folder) or not os.path.isdir(folder):
            continue
        if not paths.is_inside(folder, place.project):
            return ("--plugin-dir", folder), []
    return (), [f"the plugin {one_line(name)}, whose folder was not found."]


def _harmless(settings: Json, ours: list[tuple[str, str, Json]], *, is_users: bool) -> Json:
    """Returns settings with our hooks alone, in which nothing is run or led elsewhere. A value of a
    wrong type keeps it, so that the client drops the copy as well."""
    copy = {
        name: {} if name in _EMPTY and isinstance(value, dict) else _without_lines(value)
        for name, value in settings.items()
        if not name.startswith(_ACCOUNT) and not name.endswith(_RUN)
    }
    if isinstance(settings.get("hooks"), dict):
        hooks: Json = {}
        copy["hooks"] = hooks
        for event, matcher, hook in ours:
            fields = {name: hook[name] for name in _FIELDS if name in hook}
            group = hook_groups.group_of(matcher, fields)
            if hook.get("type") == "command" and "args" not in hook:  # else it is another program
                hooks.setdefault(event, []).append(group)
    env = settings.get("env")
    if is_users and isinstance(env, dict):
        copy["env"] = {name: env[name] for name in (*switches.ITS_SWITCHES, *_OURS) if name in env}
    return copy


def _without_lines(value: object, name: str = "") -> object:
    """Replaces every text that is run."""
    if isinstance(value, dict):
        return {key: _without_lines(each, key) for key, each in value.items()}
    if isinstance(value, list):
        return [_without_lines(each, name) for each in value]
    return _NOTHING if isinstance(value, str) and name.endswith(_RUN) else value


def _json(value: object) -> bytes:
    return json.dumps(value).encode()
