"""Codex's payloads and replies, as measured on 0.169.0. See `clients.base.Payload`.

They are much like Claude Code's, but Codex drops a whole reply for one key that it does not know,
and gives the model the reason of a blocked Stop with `&`, `<` and `>` escaped, cut at 10,000 bytes.
"""

from __future__ import annotations

import os

from sisyphus.clients import escaped_tags, patches, values
from sisyphus.clients.codex import rollout, touched
from sisyphus.ground import processes
from sisyphus.ground.partial import partial
from sisyphus.ground.text import shorten
from sisyphus.hook.event import OTHER, Command, Event, Prompt, StatusLineInput, Stop, ToolCall

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, TextIO

    from sisyphus.hook.outcome import Outcome

    Json = dict[str, Any]

NAME = "codex"
VARIABLES, HOME_VARIABLE = ("CODEX_",), "CODEX_HOME"

WIRE_NAMES = {
    "session-start": "SessionStart",
    "user-prompt-submit": "UserPromptSubmit",
    "permission-request": "PermissionRequest",
    "post-tool-use": "PostToolUse",
    "stop": "Stop",
    "pre-compact": "PreCompact",
    "session-end": "SessionEnd",
    "interrupt": "Interrupt",
}
"""The events that `sisyphus install` wires."""

TEXT_EVENTS = ("session-start", "user-prompt-submit", "post-tool-use")

COMMAND_PREFIX = b""
"""The user types `$name`, that of a plugin as `$plugin:name`."""

REPLY_UNITS = 10_000
"""The longest text that we send. It reaches the model whole because our entries in hooks.json set
`additionalContextLimit`."""

_STOP_BYTES = 10_000
"""The longest reason of a blocked Stop that reaches the model whole (measured: of a longer one the
middle is missing)."""

_UNIT_BYTES = 3
"""The most bytes of a UTF-16 unit in UTF-8."""

_PROGRAM, _SERVER = "codex", "app-server"
"""By default the terminals share a server, which runs the hooks and lives on when they are closed
(measured). It says of no session which terminal shows it, or whether one does."""

_ALONE = ("--no-daemon", "--dangerously-bypass-hook-trust")
"""Options of a terminal that has no server (measured)."""

_HEADLESS = ("exec", "e")
"""The command that works without a terminal: it ends when it is idle."""

_STEPS = 2
"""A shell may stand between the client and us."""

_WAKE_MARK = "[sisyphus woke this session]"
"""How a prompt starts that wakes a session: it comes back as one that the user typed."""

_CUT = "\n[Cut here: Codex takes no more at once.]"

_SPOKEN_TAG = r"`?<(promise|blocked)>([^<\n]*)</\1>`?"

_SLASHED = (
    r"(?<![\w/.~-])/(?:sisyphus:)?"
    r"(?=boulder-|ralph|cancel-ralph|list-ralph|checkpoint|enforce|start-work)"
)
"""The slash of a command of ours in what we say."""

_COMMAND = r"\$((?:[a-z][a-z0-9-]*:)?[a-z][a-z0-9-]*)(?=\s|$)"
"""A skill that the user types as `$name`. A `/name` is a prompt like others."""


def read(name: str, raw: Json) -> Event:
    event = Event(NAME, name)
    event.session = values.id(raw.get("session_id"))
    if agent := raw.get("agent_id"):
        event.agent = values.id(agent) or "unknown"
    event.cwd = event.folder = values.folder(raw.get("cwd")) or os.path.abspath(os.curdir)
    if name == "post-tool-use":  # its `cwd` is the folder in which the tool works; ours is the
        event.folder = os.path.abspath(os.curdir)  # session's (measured)
    event.source = values.text(raw.get("source"))
    event.wire_name = values.text(raw.get("hook_event_name")) or WIRE_NAMES.get(name, "")
    event.transcript = values.path(raw.get("transcript_path"))
    event.find_process = _process
    event.leaves_silently = True  # after /clear, SessionEnd comes a minute later (measured)
    if name == "permission-request":
        event.calls = [_request(raw)]
    elif name == "post-tool-use":
        event.calls = touched.calls(raw, event.transcript, event.cwd)
    elif name == "user-prompt-submit":
        prompt = values.text(raw.get("prompt")).lstrip()
        event.prompt = Prompt(
            values.text(raw.get("turn_id")),
            command_of(prompt),
            prompt,
            is_personal=not is_wake(prompt),
            is_wake=is_wake(prompt),
        )
    elif name in ("stop", "idle"):
        last = raw.get("last_assistant_message")
        pid, words = _client()
        event.find_process = partial(_name, pid, words)
        event.stop = Stop(escaped_tags.unescaped(last) if isinstance(last, str) else None)
        if name == "idle" and _SERVER in words:
            event.stop.host = _terminal(event.folder)
        elif not any(word in _HEADLESS for word in words[1:]):
            event.stop.host = event.process
        event.stop.turn = values.text(raw.get("turn_id"))
        event.stop.is_first = raw.get("stop_hook_active") is not True
        event.is_planning = rollout.is_planning(event.transcript)
    return event


def _client() -> tuple[int, list[str]]:
    """Returns the client above us, with its command line."""
    return processes.caller(_PROGRAM, _STEPS)


def _process() -> str:
    return _name(*_client())


def _name(pid: int, words: list[str]) -> str:
    """Returns the client's process; "" where the server of several runs the session."""
    return "" if _SERVER in words else processes.key(pid)


def _terminal(folder: str) -> str:
    """Returns the one terminal of the server that was opened in a folder; "" if there is none, or
    there are several: then nobody knows whether that of a session is still open."""
    others = {_SERVER, *_ALONE, *_HEADLESS}
    found = processes.in_terminals(_PROGRAM, folder)
    pids = [pid for pid, words in found.items() if not others & {*words[1:]}]
    return processes.key(pids[0]) if len(pids) == 1 else ""


def is_wake(prompt: str) -> bool:
    """Tells whether we have queued a prompt, to wake the session."""
    return prompt.startswith(_WAKE_MARK)


def command_of(prompt: str) -> Command | None:
    """Returns the skill that a prompt calls, its arguments byte for byte."""
    if not prompt.startswith("$"):
        return None
    import re  # imported late: hardly any prompt is one

    found = re.match(_COMMAND, prompt)
    return Command(found[1], prompt[found.end() :].strip()) if found else None


def read_status(raw: Json) -> StatusLineInput:
    """Codex has no status line of ours."""
    return StatusLineInput("", os.path.abspath(os.curdir), 0, 0)


def current_session(variables: Mapping[str, str] = os.environ) -> tuple[str, str]:
    """The client sets the variable for the commands of the agent, not for hooks (measured)."""
    return values.id(variables.get("CODEX_SESSION_ID")), ""


def wakes(event: Event, outcome: Outcome) -> str:
    return outcome.reason or "" if event.name == "idle" else ""


def wake(event: Event, text: str, stderr: TextIO) -> int:
    """The client's own program queues the text, on Linux also if an update has replaced its
    file."""
    from sisyphus.clients.codex import queue  # imported late: only a session that is woken needs it

    queue.send(processes.program(event.stop.host), event.session, f"{_WAKE_MARK}\n\n{text}")
    return 0


def room(event: Event, outcome: Outcome) -> int:
    """A reason and the texts after it are one string at a Stop; what has no room there waits."""
    if event.name == "stop" and outcome.reason is not None:
        free = _STOP_BYTES - len(_spoken(outcome.reason).encode("utf-8", "replace")) - 2
        return max(0, free // _UNIT_BYTES)
    carries = event.name in TEXT_EVENTS and outcome.reason is None
    return REPLY_UNITS if carries else 0


def render(event: Event, outcome: Outcome, text: str) -> Json | None:
    """Writes only keys that the event's schema knows."""
    reply: Json = {}
    if event.name not in WIRE_NAMES or event.name == "session-end":
        return None
    if outcome.messages:
        reply["systemMessage"] = _as_skills("\n\n".join(outcome.messages))
    if event.name == "stop" and outcome.reason is not None:
        reason = _fitting(_spoken(outcome.reason))
        reply |= {"decision": "block", "reason": "\n\n".join(filter(None, (reason, text)))}
    elif event.name == "user-prompt-submit" and outcome.reason is not None:
        reply |= {"decision": "block", "reason": _as_skills(outcome.reason)}
    elif event.name in TEXT_EVENTS and text:
        reply["hookSpecificOutput"] = {
            "hookEventName": event.wire_name,
            "additionalContext": text,
        }
    return reply or None


def _request(raw: Json) -> ToolCall:
    """Returns the call that needs a permission. We grant none: what Codex does with such a reply is
    not measured."""
    fields = values.mapping(raw.get("tool_input"))
    tool = values.text(raw.get("tool_name"))
    text = values.text(fields.get("command"))
    what = ", ".join(patches.files(text)) if tool == touched.PATCH else text
    return ToolCall(OTHER, "", tool=tool, object=what)


def _as_skills(text: str) -> str:
    """Returns a text of ours in which commands are named as the user types them here."""
    if "/" not in text:
        return text
    import re

    return re.sub(_SLASHED, "$", text)


def _spoken(reason: str) -> str:
    """Returns a reason in which tags are named in words: the model would see, and repeat, escaped
    ones. It was told the tag itself when its loop began."""
    if "<" in reason:
        import re

        reason = re.sub(_SPOKEN_TAG, r"\2 (inside a \1 tag)", reason)
    return _as_skills(reason)


def _fitting(reason: str) -> str:
    is_short = len(reason.encode("utf-8", "replace")) <= _STOP_BYTES
    return reason if is_short else shorten(reason, _STOP_BYTES // _UNIT_BYTES, _CUT)
