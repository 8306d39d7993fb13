"""What our plugin for OpenCode sends and gets, as measured on 1.18.33. See `clients.base.Payload`.

The plugin forwards events and does what the reply says; everything is decided here. It sends:

    session, agent    ids; agent = the id of a subagent's own session, or ""
    cwd, transcript   the folder of the session, and the file to which the plugin writes it down
    source, reason    why a session starts, or ends; error: why a turn failed
    prompt, id        what was typed, and the client's id of it; is_ours: we have injected it
    tool, call, args  a tool call, in the client's words
    last, mode        the last message, and the client's agent, as "plan"
    can_wake          the plugin waits for `hook idle` beside this Stop

and gets: reason, text (for the model), message (for the user), alert (how to show a reason).
"""

from __future__ import annotations

import os

from sisyphus.clients import patches, values
from sisyphus.ground import processes
from sisyphus.ground.record import asdict
from sisyphus.hook.event import (
    EDIT,
    OTHER,
    READ,
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

NAME = "opencode"

ACTIONS = {
    "read": READ,
    "edit": EDIT,
    "multiedit": EDIT,
    "patch": EDIT,
    "apply_patch": EDIT,
    "write": WRITE,
}

TEXT_EVENTS = ("session-start", "user-prompt-submit", "post-tool-use")
COMMAND_PREFIX = b":"
REPLY_UNITS = 30_000
"""The longest text of one reply, in UTF-16 units. OpenCode passes on every length; this is as much
as a model should get at once."""

SESSION, PROCESS = "SISYPHUS_SESSION_ID", "SISYPHUS_CLIENT_PID"
"""Variables that the plugin sets for the commands of the agent and for our hooks."""

VARIABLES, HOME_VARIABLE = (SESSION, PROCESS), ""

_PLAN = "plan"
"""The client's agent that only plans."""

_CANCELLED = "cancelled"


def read(name: str, raw: Json) -> Event:
    event = Event(NAME, name)
    event.session = values.id(raw.get("session"))
    event.agent = values.id(raw.get("agent"))
    event.cwd = values.folder(raw.get("cwd")) or os.path.abspath(os.curdir)
    event.folder = event.cwd
    event.source = values.text(raw.get("source")) or values.text(raw.get("reason"))
    event.transcript = values.path(raw.get("transcript"))
    event.is_planning = raw.get("mode") == _PLAN
    event.find_process = _process
    if name == "post-tool-use":
        event.calls = calls(
            values.text(raw.get("tool")), raw.get("args"), event.cwd, raw.get("call")
        )
    elif name == "user-prompt-submit":
        prompt = values.text(raw.get("prompt")).lstrip()
        is_ours = raw.get("is_ours") is True
        event.prompt = Prompt(
            values.text(raw.get("id")),
            _command(prompt),
            prompt,
            is_personal=not is_ours,
            is_wake=is_ours,
        )
    elif name in ("stop", "idle", "stop-failure"):
        last = raw.get("last") if name != "stop-failure" else raw.get("error")
        host = event.process if raw.get("can_wake") is True else ""
        event.stop = Stop(last if isinstance(last, str) else None, host=host)
    return event


def calls(tool: str, args: object, cwd: str, id: object = "") -> list[ToolCall]:
    """Returns a tool call, or one for each file that a patch changes."""
    fields = args if isinstance(args, dict) else {}
    action = ACTIONS.get(tool, OTHER)
    files = patches.files(values.text(fields.get("patchText"))) or [
        values.path(fields.get("filePath"))
    ]
    named = values.text(fields.get("command")) or values.text(fields.get("url"))
    return [
        ToolCall(
            action,
            os.path.normpath(os.path.join(cwd, file)) if file else "",
            values.text(id),
            todos=todos(tool, fields),
            tool=tool,
            object=file or named,
        )
        for file in files
    ]


def todos(tool: str, fields: Json) -> list[dict[str, str]] | None:
    """Returns the list that the tool for todos writes; what was cancelled is no longer in it."""
    items = fields.get("todos")
    if tool != "todowrite" or not isinstance(items, list):
        return None
    return [
        {
            "id": values.text(item.get("id")) or str(number),
            "content": values.text(item.get("content")),
            "status": values.text(item.get("status")) or "pending",
        }
        for number, item in enumerate(items, 1)
        if isinstance(item, dict) and item.get("status") != _CANCELLED
    ]


def read_status(raw: Json) -> StatusLineInput:
    """OpenCode has no status line of ours."""
    return StatusLineInput("", os.path.abspath(os.curdir), 0, 0)


def current_session(variables: Mapping[str, str] = os.environ) -> tuple[str, str]:
    pid = values.number(variables.get(PROCESS))
    return values.id(variables.get(SESSION)), "" if pid is None else processes.key(pid)


def _process() -> str:
    return current_session()[1]


def room(event: Event, outcome: Outcome) -> int:
    is_blocked = outcome.reason is not None
    carries = is_blocked if event.name == "stop" else event.name in TEXT_EVENTS and not is_blocked
    return REPLY_UNITS if carries else 0


def wakes(event: Event, outcome: Outcome) -> str:
    """The plugin reads the reply to `hook idle` as every other one."""
    return ""


def wake(event: Event, text: str, stderr: TextIO) -> int:
    return 0


def render(event: Event, outcome: Outcome, text: str) -> Json | None:
    reply: Json = {}
    if outcome.reason is not None:
        reply["reason"] = outcome.reason
    if outcome.messages:
        reply["message"] = "\n\n".join(outcome.messages)
    if text:
        reply["text"] = text
    if outcome.alert and outcome.reason is not None:
        reply["alert"] = asdict(outcome.alert)
    return reply or None


def _command(prompt: str) -> Command | None:
    """Returns the slash command that a prompt is; the plugin writes it as `/name arguments`."""
    if not prompt.startswith("/"):
        return None
    name = prompt.split(maxsplit=1)[0]
    return Command(name[1:], prompt[len(name) :].strip())
