"""Copilot CLI's payloads and replies, as measured on 1.0.102. See `clients.base.Payload`.

We wire its events by names such as `PostToolUse`: then the payload's keys are Claude Code's. What a
tool gets has names of its own, and no id. What a hook says to the user is shown nowhere, but for
the reason of a blocked prompt.
"""

from __future__ import annotations

import os

from sisyphus.clients import patches, values
from sisyphus.clients.claude_code import payload as claude_code
from sisyphus.clients.copilot import events, places
from sisyphus.ground import processes
from sisyphus.hook.event import (
    EDIT,
    OTHER,
    WRITE,
    Command,
    Event,
    Prompt,
    StatusLineInput,
    Stop,
    ToolCall,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, TextIO

    from sisyphus.hook.outcome import Outcome

    Json = dict[str, Any]

NAME = "copilot"
VARIABLES, HOME_VARIABLE = ("COPILOT_",), places.HOME

TEXT_EVENTS = ("session-start", "user-prompt-submit", "post-tool-use")

COMMAND_PREFIX = b""
"""Our commands are skills, which the user types as `/name`."""

REPLY_UNITS = 10_000
"""The longest text that reaches the model whole beside a tool's result (measured: of 12,000 the end
is missing). A reason, and text at a start or a prompt, reach it whole up to 60,000 at least."""

_BLOCK_CAP = 8
"""After so many blocked Stops since the user's prompt it ignores a block. Tool calls between them
do not count, and no setting changes it (measured)."""

_PROGRAM, _STEPS = "copilot", 2
"""A shell may stand between the client and us."""

_SOURCES = {"new": "startup"}
_END_REASONS = {"user_exit": "you left", "complete": ""}
"""Why a session ends, for people, if the client's word does not say it."""

_ASKS = "permission_prompt"
"""The type of the notification that a permission dialog is open. The event for permissions comes
also where none is needed."""

_PLAN_MARK = "[[PLAN]] "
"""What the client writes before a prompt in plan mode."""

_INVOKED = 'The user explicitly invoked the "/'
ARGUMENTS = ("<arguments>", "</arguments>")
"""What stands around the words behind the command, in our skills."""


def read(name: str, raw: Json) -> Event:
    event = Event(NAME, name)
    agent = raw.get("agent_id")
    event.agent = (values.id(agent) or "unknown") if agent else ""
    own = raw.get("session_id") or raw.get("sessionId")
    event.session = values.id(raw.get("parent_agent_id") if agent else own)
    event.cwd = event.folder = values.folder(raw.get("cwd")) or os.path.abspath(os.curdir)
    reason = values.text(raw.get("reason"))
    source = values.text(raw.get("source"))
    event.source = _SOURCES.get(source, source) or _END_REASONS.get(reason, reason)
    event.wire_name = values.text(raw.get("hook_event_name"))
    event.transcript = values.path(raw.get("transcript_path")) or places.transcript(event.session)
    event.find_process = _process
    event.loses_start = True  # that text is in the first prompt of one process (measured)
    if name == "session-start" and event.wire_name == "PreCompact":
        event.source = "compact"  # no start follows a compaction (measured)
    elif name == "permission-request":
        _read_question(event, raw)
    elif name == "post-tool-use":
        event.calls = _calls(raw, event.cwd)
        if any(call.action in (EDIT, WRITE) for call in event.calls):
            # A tick is judged by what runs beside it.
            events.wait_for_hook(event.transcript, raw.get("timestamp"))
    elif name == "user-prompt-submit":
        event.prompt = _prompt(raw, event)
    elif name == "stop":
        _read_stop(event, raw)
    return event


def _read_question(event: Event, raw: Json) -> None:
    """Reads the notification that a permission dialog is open. Others concern nobody."""
    if raw.get("notification_type") != _ASKS:
        event.name = "notification"
    event.calls = [ToolCall(OTHER, "", object=values.text(raw.get("message")))]


def _calls(raw: Json, cwd: str) -> list[ToolCall]:
    """Returns the tool call of a payload, one for each file that a patch changes. Its id is not the
    client's: none of a transcript is equal to it."""
    tool, given = values.text(raw.get("tool_name")), raw.get("tool_input")
    id = values.text(raw.get("timestamp"))
    if isinstance(given, str):  # the patch of `apply_patch`, which models of OpenAI have
        names = patches.files(given)
        return [ToolCall(EDIT, _absolute(cwd, name), id, tool=tool, object=name) for name in names]
    fields = values.mapping(given)
    name = values.path(fields.get("path"))
    what = name or values.text(fields.get("command")) or values.text(fields.get("url"))
    action = claude_code.ACTIONS.get(tool, OTHER)
    return [ToolCall(action, _absolute(cwd, name) if name else "", id, tool=tool, object=what)]


def _absolute(cwd: str, name: str) -> str:
    return os.path.normpath(os.path.join(cwd, name))


def _prompt(raw: Json, event: Event) -> Prompt:
    """Returns what the user submitted. The reason of a blocked Stop comes as a prompt, too."""
    text = values.text(raw.get("prompt")).removeprefix(_PLAN_MARK)
    is_personal = True
    if not event.agent:
        events.wait_for_hook(event.transcript, raw.get("timestamp"))
        is_personal = not events.is_pushed(event.transcript)
    command = command_of(text) if is_personal else None
    return Prompt(values.text(raw.get("timestamp")), command, text, is_personal=is_personal)


def command_of(prompt: str) -> Command | None:
    """Returns the command that a prompt is, its arguments byte for byte: without a terminal it
    comes as it is typed, from a terminal as the text of its skill."""
    if not prompt.startswith(_INVOKED):
        return claude_code.typed_command(prompt.lstrip())
    name, _, rest = prompt.removeprefix(_INVOKED).partition('"')
    before, after = ARGUMENTS
    _, has_mark, behind = rest.partition(before)
    return Command(name, behind.rpartition(after)[0].strip()) if name and has_mark else None


def _read_stop(event: Event, raw: Json) -> None:
    stop = event.stop = Stop(block_cap=_BLOCK_CAP)
    stop.is_first = raw.get("stop_hook_active") is not True
    stop.turn = values.text(raw.get("timestamp"))  # that of each hook of one Stop (measured)
    if not event.agent:
        events.wait_for_hook(event.transcript, raw.get("timestamp"))
        stop.last_message = events.last_message(event.transcript)
        event.is_planning = events.is_planning(event.transcript)


def read_status(raw: Json) -> StatusLineInput:
    """Copilot CLI has no status line of ours."""
    return StatusLineInput("", os.path.abspath(os.curdir), 0, 0)


def current_session(variables: Mapping[str, str] = os.environ) -> tuple[str, str]:
    """The client sets the variable for the commands of the agent, not for hooks (measured)."""
    return values.id(variables.get("COPILOT_AGENT_SESSION_ID")), ""


def _process() -> str:
    return processes.key(processes.caller(_PROGRAM, _STEPS)[0])


def wakes(event: Event, outcome: Outcome) -> str:
    """It has no hooks that wake a session."""
    return ""


def wake(event: Event, text: str, stderr: TextIO) -> int:
    return 0


def room(event: Event, outcome: Outcome) -> int:
    """Text that is to follow a compaction waits for the next event."""
    if event.name == "stop":
        return REPLY_UNITS if outcome.reason is not None else 0
    is_silent = event.name not in TEXT_EVENTS or event.source == "compact"
    return 0 if is_silent or outcome.reason is not None else REPLY_UNITS


def render(event: Event, outcome: Outcome, text: str) -> Json | None:
    if event.name == "stop" and outcome.reason is not None:
        reason = "\n\n".join(filter(None, (outcome.reason, text)))
        return {"decision": "block", "reason": reason}
    if event.name == "user-prompt-submit" and outcome.reason is not None:
        return {"decision": "block", "reason": outcome.reason}
    return {"additionalContext": text} if text else None
