"""Tries the wiring of OpenCode, as measured on 1.18.33. See `clients.base.Trial`.

Its configuration for the trial is in a variable; of the user's, which has keys and other plugins in
it, nothing is taken. Without the files of `_furniture` it would fetch a package at its start. The
models that it knows by itself take a third of that, and none is asked, so it gets an empty list.
"""

import json
import os
from collections.abc import Iterator
from typing import Any

from sisyphus.clients import OPENCODE, installer, programs
from sisyphus.clients.installation import Installation
from sisyphus.clients.opencode import native
from sisyphus.clients.opencode import wiring as plugin
from sisyphus.clients.trial_folder import COMMAND, PROJECT, PROMPT, Stage, WiringCopy
from sisyphus.clients.wired import Wired
from sisyphus.ground.text import one_line

Json = dict[str, Any]

SILENCE = "Run `opencode --print-logs run hello`: it says which plugins it loads."

_USER, _PROJECT = "config/opencode", f"{PROJECT}/.opencode"
"""Where the copies of its two folders go."""

_FOLDERS = {
    "XDG_CACHE_HOME": "cache",
    "XDG_CONFIG_HOME": "config",
    "XDG_DATA_HOME": "data",
    "XDG_STATE_HOME": "state",
    "OPENCODE_TEST_HOME": "user",  # in which it looks for more configuration
    "OPENCODE_TEST_MANAGED_CONFIG_DIR": "managed",
}
_OFF = ("AUTOUPDATE", "CLAUDE_CODE", "DEFAULT_PLUGINS", "EMBEDDED_WEB_UI", "LSP_DOWNLOAD",
        "MODELS_FETCH", "SHARE")  # fmt: skip
_NO_PLUGINS = "OPENCODE_PURE"
_MODELS = "models.json"
_NOWHERE = "http://127.0.0.1:9/"
_PACKAGE = "@opencode-ai/plugin"
_TOKENS = {"context": 200_000, "output": 32_000}
_SAYS = "sisyphus: "
"""How our plugin begins a line on stderr."""

_FAILURES = ("was not found", "failed: ")


def wiring(place: Installation) -> WiringCopy:
    copies: dict[str, bytes] = {}
    left_out = []
    tried: list[Wired] = []  # the plugins that work here
    found = plugin.read(place)
    for each in found:
        is_users = each.scope == installer.USER
        if is_users or each.text in _installed(place, each.path):
            tried.append(each)
            folder = _USER if is_users else _PROJECT
            copies |= {
                f"{folder}/plugins/{os.path.basename(each.path)}": each.text,
                **dict(_furniture(folder)),
            }
        else:
            left_out.append(f"{each.name}, which is not as `sisyphus install` writes it.")
    commands = dict(_commands(place))
    has_command = any(path.endswith(f"/{COMMAND}.md") for path in commands)
    words = ("--command", COMMAND) if has_command else (PROMPT,)
    first = [*tried, *found, Wired(OPENCODE, "", installer.USER)][0]
    start = plugin.start_of(first.text)
    mend = installer.mend("" if programs.started_by(start) else start, OPENCODE, first.scope)
    copies |= {_MODELS: b"{}", **commands}
    return WiringCopy(copies, bool(tried), mend, words, left_out=left_out)


def _installed(place: Installation, path: str) -> list[bytes]:
    """Returns the contents that `install` gives to the project's plugin: for everybody it names the
    bare program."""
    starts = (place.start, installer.NAME)
    return [plugin.copies(place.project, place.commands, start)[path] for start in starts]


def command(program: str, wiring: WiringCopy, stage: Stage) -> list[str]:
    return [program, "run", "--format", "json", *wiring.words]


def environment(stage: Stage) -> dict[str, str]:
    folders = {name: os.path.join(stage.root, folder) for name, folder in _FOLDERS.items()}
    return {
        **stage.environment(_NO_PLUGINS),
        **folders,
        **{f"OPENCODE_DISABLE_{name}": "1" for name in _OFF},
        "OPENCODE_CONFIG_CONTENT": json.dumps(_configuration(stage.url)),
        "OPENCODE_MODELS_PATH": os.path.join(stage.root, _MODELS),
        "npm_config_registry": _NOWHERE,
        "npm_config_fetch_retries": "0",
    }


def read_call(path: str) -> Json:
    return {"name": "read", "input": {"filePath": path}}


def knows_commands(wiring: WiringCopy, output: bytes) -> bool:
    """A command that it does not know asks no model."""
    return wiring.words[0] == "--command" and b'"step_start"' in output


def failures(output: bytes, errors: str) -> list[str]:
    said = [line.removeprefix(_SAYS) for line in errors.splitlines() if line.startswith(_SAYS)]
    failed = [line for line in said if any(sign in line for sign in _FAILURES)]
    return [one_line(f"The plugin says: {line}") for line in dict.fromkeys(failed)]


def _configuration(url: str) -> Json:
    provider = {
        "npm": "@ai-sdk/openai-compatible",  # it is part of the program
        "name": "Trial",
        "options": {"baseURL": f"{url}/v1", "apiKey": "of-no-account"},
        "models": {"model": {"name": "Trial", "limit": _TOKENS, "tool_call": True}},
    }
    return {
        "autoupdate": False,
        "share": "disabled",
        "snapshot": False,
        "enabled_providers": ["trial"],
        "model": "trial/model",
        "small_model": "trial/model",
        "provider": {"trial": provider},
    }


def _furniture(folder: str) -> Iterator[tuple[str, bytes]]:
    """Yields what the client would fetch: it is content with a note that it is there."""
    wanted = {"dependencies": {_PACKAGE: "*"}}
    lock = {"name": "trial", "lockfileVersion": 3, "requires": True, "packages": {"": wanted}}
    yield f"{folder}/package.json", json.dumps(wanted).encode()
    yield f"{folder}/package-lock.json", json.dumps(lock).encode()
    yield f"{folder}/node_modules/.package-lock.json", b"{}"


def _commands(place: Installation) -> Iterator[tuple[str, bytes]]:
    """Yields our slash commands that are there, as `install` writes them: a command of somebody
    else's may have a line for a shell in it."""
    every = plugin.copies(os.devnull, place.commands, place.start)  # in a folder without others
    for path, data in every.items():
        name, extension = os.path.splitext(os.path.basename(path))
        is_there = os.path.isfile(native.command_file(place.home, place.project, name))
        if extension == ".md" and is_there:
            yield f"{_USER}/{native.COMMAND_FOLDERS[0]}/{name}.md", data
