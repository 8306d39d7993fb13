"""Qwen Code's payloads and replies, as measured on 0.24.4. See `clients.base.Payload`.

They are Claude Code's, with other names of tools. Text of ours reaches the model with `<` as
`&lt;`, but for the reason of a blocked Stop.
"""

from __future__ import annotations

import os

from sisyphus.clients import escaped_tags, values
from sisyphus.clients.claude_code import payload as claude_code
from sisyphus.ground import processes
from sisyphus.ground.record import replace
from sisyphus.hook.event import Event, Prompt, StatusLineInput

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, TextIO

    from sisyphus.hook.outcome import Outcome

    Json = dict[str, Any]

NAME = "qwen"
VARIABLES, HOME_VARIABLE = ("QWEN_",), "QWEN_HOME"

TOOLS = {
    "read_file": "Read",
    "edit": "Edit",
    "write_file": "Write",
    "notebook_edit": "NotebookEdit",
    "run_shell_command": "Bash",
    "todo_write": "TodoWrite",
    "skill": "Skill",
    "ask_user_question": "AskUserQuestion",
}
"""Its name of a tool → Claude Code's."""

TEXT_EVENTS = claude_code.TEXT_EVENTS
REPLY_UNITS = claude_code.REPLY_UNITS
COMMAND_PREFIX = claude_code.COMMAND_PREFIX

_BLOCK_CAP = 8
"""After so many blocked Stops since the user's prompt it ignores a block, if its settings choose
nothing else. Tool calls between them do not count (measured)."""

_EDITING_MODES = ("auto_edit", "auto")
_CAP = "QWEN_CODE_STOP_HOOK_BLOCK_CAP"


def read(name: str, raw: Json) -> Event:
    event = claude_code.read(name, raw, NAME, TOOLS)
    event.folder = event.cwd
    event.find_process = _process
    event.is_from_plugin = False
    event.accepts_edits = raw.get("permission_mode") in _EDITING_MODES
    event.loses_start = True  # that text is in the system prompt of one process (measured)
    if name == "user-prompt-submit":
        event.prompt = _prompt(raw)
    elif name in ("stop", "stop-failure"):
        stop = event.stop
        stop.last_message = stop.last_message and escaped_tags.unescaped(stop.last_message)
        running = [task for task in values.items(raw.get("background_tasks")) if _is_running(task)]
        stop.background = claude_code.task_ids(running) + claude_code.task_ids(raw.get("crons"))
        stop.scheduled = claude_code.prompts_of(raw.get("crons"))
        stop.block_cap = block_cap(event.cwd)
        stop.is_first = raw.get("stop_hook_active") is not True
        stop.host = ""
    return event


def _prompt(raw: Json) -> Prompt:
    """Returns what the user submitted. The event comes also after each tool call, with an empty
    prompt, and with the reason of a blocked Stop: only what a person submits has its own key. Of a
    slash command, `prompt` is the text of the command's file."""
    submitted = values.text(raw.get("submitted_prompt")).lstrip()
    return Prompt(
        values.text(raw.get("prompt_id")),
        claude_code.typed_command(submitted),
        submitted,
        is_personal=bool(submitted),
    )


def _is_running(task: object) -> bool:
    """Tells whether a background task has not ended. Those that have stay in the list."""
    return not isinstance(task, dict) or task.get("status") == "running"


def block_cap(project: str) -> int:
    """Returns how many Stops in a row it lets us block."""
    from sisyphus.clients.qwen import native  # imported late: no other event asks

    chosen: object = values.number(os.environ.get(_CAP))
    for settings in native.settings(project) if chosen is None else ():
        chosen = settings.get(native.CAP, chosen)
    return min(values.count(chosen), native.MOST_BLOCKS) or _BLOCK_CAP


def read_status(raw: Json) -> StatusLineInput:
    """Qwen Code has no status line of ours."""
    return StatusLineInput("", os.path.abspath(os.curdir), 0, 0)


def current_session(variables: Mapping[str, str] = os.environ) -> tuple[str, str]:
    """The client sets both variables for hooks and for the commands of the agent."""
    pid = values.number(variables.get("QWEN_CODE_LAUNCHER_PID"))
    process = "" if pid is None else processes.key(pid)
    return values.id(variables.get("QWEN_CODE_SESSION_ID")), process


def _process() -> str:
    return current_session()[1]


def wakes(event: Event, outcome: Outcome) -> str:
    """It has no hooks that wake a session."""
    return ""


def wake(event: Event, text: str, stderr: TextIO) -> int:
    return 0


def room(event: Event, outcome: Outcome) -> int:
    if event.name == "stop":
        return REPLY_UNITS if outcome.reason is not None else 0
    return claude_code.room(event, outcome)


def render(event: Event, outcome: Outcome, text: str) -> Json | None:
    """At a Stop, the model gets the reason and nothing beside it (measured)."""
    if event.name != "stop" or outcome.reason is None:
        return claude_code.render(event, outcome, text)
    reason = "\n\n".join(filter(None, (outcome.reason, text)))
    others = claude_code.render(event, replace(outcome, reason=None), "") or {}
    return {"decision": "block", "reason": reason, **others}
