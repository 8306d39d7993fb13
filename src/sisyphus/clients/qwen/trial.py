"""Tries the wiring of Qwen Code, as measured on 0.24.4. See `clients.base.Trial`.

It works in a folder of its own in place of the user's, with our hooks alone: a wrong entry beside
them does not keep it from running them. The trial's own settings are where an organisation's would
be, because nothing overrules those.
"""

import json
import os
from collections.abc import Iterator
from typing import Any

from sisyphus.clients import QWEN, lines
from sisyphus.clients.installation import Installation
from sisyphus.clients.qwen import native
from sisyphus.clients.qwen import wiring as entries
from sisyphus.clients.trial_folder import COMMAND, PROMPT, Stage, WiringCopy
from sisyphus.clients.trial_hooks import ours_in, take
from sisyphus.clients.wired import shown

Json = dict[str, Any]

SILENCE = "Start `qwen` in a terminal: `/hooks` says which hooks it runs."

_FOLDER = "qwen"
"""What takes the place of `~/.qwen` in the stage."""

_SYSTEM = f"{_FOLDER}/system/settings.json"
_SETTINGS: Json = {
    "general": {"enableAutoUpdate": False},
    "memory": {"enableManagedAutoMemory": False, "enableAutoSkill": False},
    "model": {"name": "claude-sonnet-4-5"},
    "privacy": {"usageStatisticsEnabled": False},
    "security": {"auth": {"selectedType": "anthropic"}},
}
"""With memory it would ask the model for more than the conversation."""

_OFF = {"QWEN_SANDBOX": "false", "QWEN_TELEMETRY_ENABLED": "false"}
"""Variables that a `.env` in the user's home could set. It changes none that is there."""

_SWITCHES = ("QWEN_CODE_SAFE_MODE", "QWEN_CODE_SIMPLE")
"""Variables with which it runs no hooks."""


def wiring(place: Installation) -> WiringCopy:
    found = entries.read(place)
    tried = take(found, lambda file: ours_in(file, entries.HOOKS, place))
    path = native.hooks_off(place.project)
    off = f'{shown(path)} sets "{native.ALL_OFF}"' if path else ""
    own = {"hooks": tried.groups, native.ALL_OFF: bool(off)}
    files = {
        _SYSTEM: json.dumps(_SETTINGS).encode(),
        f"{_FOLDER}/settings.json": json.dumps(own).encode(),
        **dict(_commands(place)),
    }
    mend = tried.mend(QWEN, (each for each in found if each.calls_us))
    return WiringCopy(files, bool(tried.groups), mend, off=off, left_out=tried.left_out)


def command(program: str, wiring: WiringCopy, stage: Stage) -> list[str]:
    return [program, "-p", PROMPT, "--output-format", "stream-json", "--approval-mode", "default"]


def environment(stage: Stage) -> dict[str, str]:
    return {
        **stage.environment(*_SWITCHES),
        **_OFF,
        "QWEN_HOME": os.path.join(stage.root, _FOLDER),
        "QWEN_CODE_SYSTEM_SETTINGS_PATH": os.path.join(stage.root, _SYSTEM),
        "ANTHROPIC_BASE_URL": stage.url,
        "ANTHROPIC_API_KEY": "of-no-account",
    }


def read_call(path: str) -> Json:
    return {"name": "read_file", "input": {"file_path": path}}


def knows_commands(wiring: WiringCopy, output: bytes) -> bool:
    events = [event for line in output.splitlines() if (event := lines.parse(line))]
    names = next((each["slash_commands"] for each in events if "slash_commands" in each), None)
    return isinstance(names, list) and COMMAND in names


def failures(output: bytes, errors: str) -> list[str]:
    """It prints nothing of hooks."""
    return []


def _commands(place: Installation) -> Iterator[tuple[str, bytes]]:
    """Yields our slash commands that are there, as `install` writes them."""
    for path, data in entries.copies("", place.commands).items():
        name = os.path.basename(path)
        stem = os.path.splitext(name)[0]
        if os.path.isfile(native.command_file(place.home, place.project, stem)):
            yield f"{_FOLDER}/commands/{name}", data
