"""Runs Qwen Code offline and without its terminal, and knows its names for tools.

There nobody sees what hooks say to the user, so scenarios that look for it are silent about that.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from e2e import claude_code
from e2e.install import QWEN
from e2e.script import Tool

Json = dict[str, Any]

NAME = "qwen"
REASON_COPIES = 1
SHOWS_MESSAGES = False

LATE = "what a start after a compaction says comes with a later request; see test_qwen.py"

CAP = "QWEN_CODE_STOP_HOOK_BLOCK_CAP"
"""The client's variable for how many Stops in a row a hook may block."""

_SETTINGS: Json = {
    "context": {"autoCompactThreshold": 0.98},  # by itself at 85 %, which is our second level
    "general": {"enableAutoUpdate": False},
    "memory": {"enableManagedAutoMemory": False, "enableAutoSkill": False},  # asks the model, too
    "privacy": {"usageStatisticsEnabled": False},
    "ui": {"enableFollowupSuggestions": False},  # its terminal asks the model for them
    "security": {"auth": {"selectedType": "anthropic"}},
    "model": {
        "name": "claude-sonnet-4-5",
        "generationConfig": {"contextWindowSize": 1_000_000},  # as many as the other clients'
    },
}
_HEADLESS = ("--input-format", "stream-json", "--output-format", "stream-json")
_NAMES = {
    "read": "read_file",
    "write": "write_file",
    "edit": "edit",
    "shell": "run_shell_command",
    "delegate": "agent",
}
_FIELDS = {
    "path": "file_path",
    "text": "content",
    "old": "old_string",
    "new": "new_string",
    "background": "is_background",
}
_ALWAYS: dict[str, Json] = {
    "shell": {"description": "scripted"},
    "delegate": {
        "description": "scripted",
        "subagent_type": "general-purpose",
        "run_in_background": False,
    },
}
_lines = itertools.count(1_000)
"""How many lines the model wants to read: each time others, for equal calls in a row end a turn."""

_ONE_START = {"QWEN_CODE_NO_RELAUNCH": "true"}
"""It starts itself anew to have more memory, which takes a second of every process."""

_COMPILED = QWEN.folder / "compiled"
"""Node 22 keeps there what it has compiled, a third of a start; older ones compile it each time."""

_FLAGS = {
    "--allowedTools": "--allowed-tools",
    "Bash": "run_shell_command",
    "--permission-mode": "--approval-mode",
}
"""Words of Claude Code's flags → those that do the same here; `--resume` and others are equal."""


def environment(home: Path) -> dict[str, str]:
    """Returns the whole environment of the client and its hooks. Only PATH is the caller's."""
    names = ("PATH", "HOME", "TMPDIR", "LANG", "SHELL", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL")
    others = claude_code.environment(home)
    return {**{name: others[name] for name in names}, "NODE_COMPILE_CACHE": str(_COMPILED)}


def model_variables(url: str) -> dict[str, str]:
    """Returns the variables that make the client ask a model at a URL."""
    return {"ANTHROPIC_BASE_URL": url}


def furnish(home: Path) -> None:
    """Leaves in a home what the user has set before."""
    (home / ".qwen").mkdir(exist_ok=True)
    (home / ".qwen" / "settings.json").write_text(json.dumps(_SETTINGS), encoding="utf-8")


def spell(tool: Tool, project: Path) -> Json:
    """Returns the client's name and input of a tool."""
    values = dict(tool.values)
    if "path" in values:
        names = list(project.glob(values["path"])) if "*" in values["path"] else []
        values["path"] = str(names[0] if names else project / values["path"])
    if tool.verb == "read":
        values["limit"] = next(_lines)
    fields = {_FIELDS.get(name, name): value for name, value in values.items()}
    return {"name": _NAMES[tool.verb], "input": {**fields, **_ALWAYS.get(tool.verb, {})}}


def talk(
    prompts: Sequence[str], flags: Sequence[str], folder: Path, variables: dict[str, str]
) -> list[Json]:
    """Runs one process, which gets each prompt after the answer to the one before; returns its
    events. flags: those of Claude Code."""
    mode = () if "--permission-mode" in flags else ("--approval-mode", "auto-edit")
    words = [*_HEADLESS, *mode, *(_FLAGS.get(word, word) for word in flags)]
    typed = [_typed(prompt) for prompt in prompts]
    return claude_code.converse([QWEN.binary, *words], typed, folder, variables | _ONE_START)


def _typed(prompt: str) -> str:
    """Returns a slash command as the user types it here: without the prefix of a plugin."""
    if not prompt.startswith("/"):
        return prompt
    name, blank, arguments = prompt[1:].partition(" ")
    name = "compress" if name == "compact" else name.rpartition(":")[2]
    return f"/{name}{blank}{arguments}"
