"""Tries the wiring of Copilot CLI, as measured on 1.0.102. See `clients.base.Trial`.

It works in a folder of its own in place of the user's, with our hooks alone, without a network and
an account: it asks the model of the stage.
"""

import json
import os
from collections.abc import Iterator
from typing import Any

from sisyphus.clients import COPILOT
from sisyphus.clients.copilot import native, places
from sisyphus.clients.copilot import wiring as entries
from sisyphus.clients.installation import Installation
from sisyphus.clients.trial_folder import COMMAND, PROMPT, Stage, WiringCopy
from sisyphus.clients.trial_hooks import ours_in, take
from sisyphus.clients.wired import shown

Json = dict[str, Any]

SILENCE = "`copilot -p hi --log-level debug` writes what it says of hooks to `~/.copilot/logs`."

_FOLDER = "copilot"
"""What takes the place of `~/.copilot` in the stage."""


def wiring(place: Installation) -> WiringCopy:
    found = [each for each in entries.read(place) if each.calls_us]
    tried = take(found, lambda file: ours_in(file, entries.HOOKS, place))
    switch = native.hooks_off(place.project) or next(
        (file.path for file in tried.files if entries.is_off(file)), ""
    )
    off = f'{shown(switch)} sets "{native.ALL_OFF}"' if switch else ""
    own = {"version": 1, native.ALL_OFF: bool(off), "hooks": tried.groups}
    files = {
        f"{_FOLDER}/hooks/sisyphus.json": json.dumps(own).encode(),
        **dict(_skills(place)),
    }
    mend = tried.mend(COPILOT, found)
    return WiringCopy(files, bool(tried.groups), mend, off=off, left_out=tried.left_out)


def command(program: str, wiring: WiringCopy, stage: Stage) -> list[str]:
    return [program, "-p", PROMPT, "--output-format", "json"]


def environment(stage: Stage) -> dict[str, str]:
    return {
        **stage.environment(),
        places.HOME: os.path.join(stage.root, _FOLDER),
        "COPILOT_OFFLINE": "true",
        "COPILOT_AUTO_UPDATE": "false",
        "COPILOT_MODEL": "claude-sonnet-4.5",
        "COPILOT_PROVIDER_TYPE": "anthropic",
        "COPILOT_PROVIDER_BASE_URL": stage.url,
        "COPILOT_PROVIDER_API_KEY": "of-no-account",
    }


def read_call(path: str) -> Json:
    return {"name": "view", "input": {"path": path}}


def knows_commands(wiring: WiringCopy, output: bytes) -> bool:
    """It lists the skills that it has loaded in an event of its own."""
    return f'"{COMMAND}"'.encode() in output


def failures(output: bytes, errors: str) -> list[str]:
    """It prints nothing of hooks."""
    return []


def _skills(place: Installation) -> Iterator[tuple[str, bytes]]:
    """Yields our skills that are there, the user's or the project's, as `install` writes them."""
    for path, data in entries.copies("", place.commands).items():
        name = os.path.basename(os.path.dirname(path))
        if os.path.isfile(native.command_file(place.home, place.project, name)):
            yield f"{_FOLDER}/{os.path.relpath(path, places.copilot_home())}", data
