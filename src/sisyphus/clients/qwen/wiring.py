"""What `sisyphus install` puts into Qwen Code's folders: hooks in `settings.json`, and our slash
commands, as measured on 0.24.4."""

import os
import shutil
from collections.abc import Mapping
from typing import Any

from sisyphus.clients import hook_groups
from sisyphus.clients.claude_code.native import settings_of
from sisyphus.clients.qwen import native

Json = dict[str, Any]


def _groups(event: str, seconds: int = 10) -> list[Json]:
    command = f"sisyphus hook {event} --client qwen"
    return [{"hooks": [{"type": "command", "command": command, "timeout": seconds}]}]


HOOKS: Json = {
    "SessionStart": _groups("session-start"),
    "UserPromptSubmit": _groups("user-prompt-submit"),
    "PermissionRequest": _groups("permission-request"),
    "PostToolBatch": _groups("post-tool-use"),
    "Stop": _groups("stop", 900),
    "StopFailure": _groups("stop-failure"),
    "PreCompact": _groups("pre-compact"),
    "SessionEnd": _groups("session-end"),
}
"""Event → groups, as `install` writes them."""


def settings_file(project: str) -> str:
    return os.path.join(native.folder(project), "settings.json")


def is_here(project: str) -> bool:
    """Tells whether the user has Qwen Code, or the project's settings have our hooks."""
    home = native.qwen_home()
    return bool(shutil.which("qwen")) or os.path.isdir(home or os.devnull) or bool(wired(project))


def wired(project: str) -> dict[str, Json]:
    """Returns path → content of the settings that have our hooks, the user's first."""
    files = native.settings_files(project).items()
    contents = {path: settings_of(path, inside) for path, inside in files if os.path.isabs(path)}
    return {path: data for path, data in contents.items() if hook_groups.has_ours(data)}


def copies(project: str, commands: Mapping[str, bytes]) -> dict[str, bytes]:
    """Returns path → content of the files of our slash commands.

    commands: file name → content, as Claude Code gets them.
    """
    folder = os.path.join(native.folder(project), "commands")
    return {
        os.path.join(folder, name): data.replace(b"$ARGUMENTS", b"{{args}}")
        for name, data in commands.items()
    }
