"""Tries the wiring of Codex, as measured on 0.169.0. See `clients.base.Trial`.

It works in a folder of its own in place of the user's, with our hooks alone. There it runs them
without being asked whether they are trusted: that the user's Codex trusts them is what `doctor`
asks Codex itself.
"""

import json
import os
import shlex
from collections.abc import Iterator
from typing import Any

from sisyphus.clients import CODEX, entry, hook_groups, installer, programs
from sisyphus.clients.codex import native
from sisyphus.clients.codex import wiring as entries
from sisyphus.clients.finding import Level
from sisyphus.clients.installation import Installation
from sisyphus.clients.trial_folder import PROMPT, Stage, WiringCopy
from sisyphus.clients.trial_hooks import take
from sisyphus.clients.wired import Wired

Json = dict[str, Any]

SILENCE = "Start `codex` in a terminal: `/hooks` says which hooks it runs."

_FOLDER = "codex"
"""What takes the place of `~/.codex` in the stage."""

_KEY = "TRIAL_KEY"
_CONFIG = f"""\
model = "gpt-5.5"
model_provider = "trial"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false

[model_providers.trial]
name = "Trial"
env_key = "{_KEY}"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0

[analytics]
enabled = false

[features]
plugins = false
"""
"""The model has a tool for shell commands; that of the trial runs `cat` alone. Without the last
line Codex would fetch a list of plugins."""


def wiring(place: Installation) -> WiringCopy:
    ours = [each for each in entries.read(place) if each.is_ours]
    tried = take(ours, lambda file: list(_hooks(file, place)))
    files = {
        f"{_FOLDER}/config.toml": _CONFIG.encode(),
        f"{_FOLDER}/hooks.json": json.dumps({"hooks": tried.groups}).encode(),
        **dict(_skills(place)),
    }
    until = _until(place.project, tried.files) if tried.groups else ""
    return WiringCopy(
        files, bool(tried.groups), tried.mend(CODEX, ours), (PROMPT,),
        left_out=tried.left_out, until=until,
    )  # fmt: skip


def _until(project: str, files: list[Wired]) -> str:
    """Returns what keeps Codex from running these hooks outside: the trial has a file of its own,
    and bypasses the user's trust."""
    keys = [key for each in files for key in entries.unknown_keys(each.content)]
    if keys:
        return f"once {entries.named(keys)} is taken out: Codex drops the file for that"
    program = programs.path_of(entries.CLIENT, project)
    found = entries.trust(program, project) if program else ()
    is_kept_off = any(each.level is Level.PROBLEM for each in found)
    return "once trusted: Codex does not run all hooks of sisyphus yet" if is_kept_off else ""


def command(program: str, wiring: WiringCopy, stage: Stage) -> list[str]:
    return [
        program,
        "exec",
        "--json",
        "--skip-git-repo-check",
        "--dangerously-bypass-hook-trust",
        "-c",
        f'model_providers.trial.base_url="{stage.url}/v1"',
        *wiring.words,
    ]


def environment(stage: Stage) -> dict[str, str]:
    folder = os.path.join(stage.root, _FOLDER)
    return {**stage.environment(), "CODEX_HOME": folder, _KEY: "of-no-account"}


def read_call(path: str) -> Json:
    return {"name": "exec_command", "input": {"cmd": shlex.join(["cat", path])}}


def knows_commands(wiring: WiringCopy, output: bytes) -> bool:
    """Codex does not print which skills it knows. `doctor` compares their files."""
    return True


def failures(output: bytes, errors: str) -> list[str]:
    """With `--json` it prints nothing of hooks."""
    return []


def _hooks(file: Wired, place: Installation) -> Iterator[tuple[str, str, Json]]:
    """Yields those of our hooks that may run here: of a project only those that `install` writes,
    each with its event and its matcher. None names the user's home, so that they work in that of
    the stage."""
    starts = (place.start, installer.NAME)
    for event, _, hook in hook_groups.ours(file.content):
        line = hook["command"]
        _, words = entries.home_of(entry.call(line)[0])
        by_name = {**hook, "command": entry.with_start(line, installer.NAME)}
        is_installed = by_name in _installed(event)
        is_users = file.scope == installer.USER
        if is_users or (words in starts and is_installed):
            yield event, "", {**hook, "command": entry.with_start(line, words)}


def _installed(event: str) -> list[Json]:
    """Returns the hooks that `install` writes for an event. More may follow the words that start
    us, which a shell would run."""
    return [hook for group in entries.HOOKS.get(event, []) for hook in group["hooks"]]


def _skills(place: Installation) -> Iterator[tuple[str, bytes]]:
    """Yields our skills that are there, as `install` writes them."""
    for path, data in entries.copies("", place.commands).items():
        if os.path.isfile(path):
            yield f"{_FOLDER}/{os.path.relpath(path, native.codex_home())}", data
