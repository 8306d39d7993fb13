"""The client's hook contract: what a payload says, what an outcome is, how a reply is spelled.

The client's own words stand here and nowhere else. Shapes are those of Claude Code 2.1.329.
"""

from __future__ import annotations

import os

from sisyphus.paths import is_safe_id

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sisyphus._types import Json, Piece, Reply, Toast

EVENTS = {
    "session-start": "SessionStart",
    "session-end": "SessionEnd",
    "user-prompt-submit": "UserPromptSubmit",
    "post-tool-use": "PostToolUse",
    "post-tool-use-failure": "PostToolUseFailure",
    "post-tool-batch": "PostToolBatch",
    "stop": "Stop",
    "stop-failure": "StopFailure",
    "subagent-stop": "SubagentStop",
    "pre-compact": "PreCompact",
    "post-compact": "PostCompact",
    "notification": "Notification",
    "idle": "Stop",  # a second, asynchronous entry, of StopFailure as well
}
"""Names on our command line -> names of the client."""

PREFIX, PLUGIN = "/sisyphus:", "CLAUDE_PLUGIN_ROOT"
"""Before the names of a plugin's commands (texts of ours spell all of them so, and whoever prints
one for people respells it); in the environment of a plugin's hooks alone."""

KEEP = "pre-compact"
"""The event whose output, whatever it is, is added to what the client asks its summariser for."""

_KEPT = "keep in the summary"

_CARRY_TEXT = {"session-start", "user-prompt-submit", "post-tool-use", "post-tool-batch"}

READ, EDIT, WRITE, SHELL, SKILL, TODO, ASK, AGENT = (
    "read", "edit", "write", "shell", "skill", "todo", "ask", "agent",
)  # fmt: skip
"""Kinds of tools. Of any other tool the kind is ""."""

PATH_CHARACTERS = 4_096
"""Linux opens none longer, and to resolve the links of a path of megabytes takes minutes."""

_PLAN_MODE = "plan"
_MACHINE = "<task-notification>"
"""How prompts begin that the client makes itself."""

_WAKING = f"{_MACHINE}\n<summary>Stop hook feedback</summary>"
"""And of those the ones by which an asynchronous hook wakes a session."""

UNUSABLE = "?"
"""Stands for a subagent's id that cannot name a file."""


class Payload:
    """One event's payload, as tolerant as it must be: every attribute has its type whatever came.

    Texts are "" where they are missing or no text, lists are [] and objects {}.
    """

    __slots__ = (
        "agent", "background", "crons", "cwd", "error", "event", "last_message", "named",
        "permission_mode", "prompt", "prompt_id", "reason", "session", "source", "tool",
        "tool_answer", "tool_calls", "tool_input", "tool_path", "tool_use_id", "transcript",
    )  # fmt: skip

    def __init__(self, event: str, raw: Json) -> None:
        self.event = event
        self.named = as_text(raw.get("hook_event_name"))  # the event in the client's words
        self.session = _safe(raw.get("session_id"))
        self.agent = (_safe(raw.get("agent_id")) or UNUSABLE) if raw.get("agent_id") else ""
        self.cwd = _folder(raw.get("cwd"))
        self.transcript = _path(raw.get("transcript_path"))
        self.source = as_text(raw.get("source"))
        self.reason = as_text(raw.get("reason"))
        self.error = as_text(raw.get("error"))  # why a turn failed, by its kind
        self.prompt = as_text(raw.get("prompt"))
        self.prompt_id = as_text(raw.get("prompt_id"))
        self.permission_mode = as_text(raw.get("permission_mode"))
        message = raw.get("last_assistant_message")
        self.last_message: str | None = message if isinstance(message, str) else None
        self.background: list[object] = as_list(raw.get("background_tasks"))
        self.crons: list[object] = as_list(raw.get("session_crons"))
        self.tool = as_text(raw.get("tool_name"))
        self.tool_use_id = as_text(raw.get("tool_use_id"))
        self.tool_calls = _calls(raw)
        self.tool_input = as_object(raw.get("tool_input"))
        self.tool_answer = as_object(raw.get("tool_response"))
        self.tool_path = self._touched()

    @property
    def is_subagent(self) -> bool:
        return bool(self.agent) or self.event == "subagent-stop"

    @property
    def plans_only(self) -> bool:
        """Whether the session is in plan mode, where nothing is done but planned."""
        return self.permission_mode == _PLAN_MODE

    @property
    def is_machines(self) -> bool:
        """Whether the client made this prompt, and not the user."""
        return self.prompt.startswith(_MACHINE)

    @property
    def is_waking(self) -> bool:
        """Whether that is the one by which an asynchronous hook wakes the session."""
        return self.prompt.startswith(_WAKING)

    @property
    def is_fresh(self) -> bool:
        """Whether the model's context begins empty here: nothing that was sent is in it."""
        return self.event == "session-start" and self.source not in ("resume", "fork")

    @property
    def key(self) -> str:
        """Names the files that belong to this session, or to this subagent of it; "" = none."""
        if not self.session or self.agent == UNUSABLE:
            return ""
        return f"{self.session}@{self.agent}" if self.agent else self.session

    @property
    def follows_stop(self) -> bool:
        """Of our event `idle`: whether the session has come to rest, and not failed."""
        return self.named == EVENTS["stop"]

    @property
    def follows_failure(self) -> bool:
        """Of our event `idle`, which began as that of a failure alone: whether a turn failed."""
        return self.named in ("", EVENTS["stop-failure"])

    @property
    def is_batch(self) -> bool:
        """Whether all tool calls of an answer have ended."""
        return self.event == "post-tool-batch"

    @property
    def succeeded(self) -> list[Json]:
        """The tool call that this event is the success of, as `work.read_file` takes it."""
        if self.event != "post-tool-use" or not self.tool_use_id:
            return []
        call = {"id": self.tool_use_id, "name": self.tool, "input": self.tool_input}
        return [{**call, "answer": self.tool_answer}]

    def _touched(self) -> str:
        path = tool_path(self.tool_input)
        return os.path.normpath(os.path.join(self.cwd, path)) if path else ""


class Outcome:
    """What a handler asks for. A handler without an opinion returns None instead."""

    __slots__ = (
        "announced", "keep", "messages", "notes", "pieces", "reason", "texts", "toasts",
        "wake_after",
    )  # fmt: skip

    def __init__(
        self,
        reason: str | None = None,
        pieces: Sequence[Piece] = (),
        messages: Sequence[str] = (),
        notes: Sequence[str] = (),
        announced: Sequence[str] = (),
    ) -> None:
        self.reason = reason  # Stop: go on, because …; UserPromptSubmit: the answer to the user
        self.pieces = list(pieces)  # for the model
        self.messages = list(messages)  # for the user
        self.notes = list(notes)  # for the journal, in plain words
        self.announced = list(announced)  # for the user, where pieces are sent or wait
        self.keep: list[str] = []  # PreCompact: for the summariser, one item each
        self.wake_after: float | None = None  # Stop: seconds until `idle` is to be asked
        self.toasts: list[Toast] = []  # for the user, where the client has such
        self.texts: list[str] = []  # kind and file of each text that went out: "rules a.md", "loop"


def _calls(raw: Json) -> list[str]:
    """The ids of the tool calls that this event is about."""
    batch = [as_text(as_object(call).get("tool_use_id")) for call in as_list(raw.get("tool_calls"))]
    return [call for call in (as_text(raw.get("tool_use_id")), *batch) if call]


def tool_path(given: Json) -> str:
    """The file that a tool call names, "" where it names none."""
    return _path(given.get("file_path") or given.get("notebook_path"))


def session_folder(payload: Payload) -> str:
    """The folder where the session began. `cwd` moves with every `cd` of the agent."""
    named = _path(os.environ.get("CLAUDE_PROJECT_DIR"))
    return named if os.path.isabs(named) and os.path.isdir(named) else payload.cwd


def merge(outcomes: Iterable[Outcome | None]) -> Outcome:
    """Many outcomes as one: the first reason and the soonest waking stand; pieces, notes and
    toasts follow each other in order; a message is said once."""
    merged = Outcome()
    for outcome in outcomes:
        if outcome is None:
            continue
        if merged.reason is None:
            merged.reason = outcome.reason
        merged.pieces += outcome.pieces
        merged.notes += outcome.notes
        merged.keep += outcome.keep
        merged.announced += outcome.announced
        merged.toasts += outcome.toasts
        merged.wake_after = _sooner(merged.wake_after, outcome.wake_after)
        merged.messages = list(dict.fromkeys([*merged.messages, *outcome.messages]))
    return merged


def _sooner(one: float | None, other: float | None) -> float | None:
    if one is None or other is None:
        return other if one is None else one
    return min(one, other)


def can_carry_text(event: str, reason: str | None) -> bool:
    """Whether text for the model reaches it with this reply and does nothing else.

    At Stop a text alone would make the session go on, so it rides on a block only; a prompt that
    is answered by us never reaches the model.
    """
    return reason is not None if event == "stop" else event in _CARRY_TEXT and reason is None


def render(event: str, reason: str | None, text: str, messages: Sequence[str]) -> Reply | None:
    """The reply in the client's words; None where there is nothing to say."""
    reply: Reply = {}
    if reason is not None:
        reply["decision"] = "block"
        reply["reason"] = reason
    if messages:
        reply["systemMessage"] = "\n\n".join(messages)
    if text:
        reply["hookSpecificOutput"] = {
            "hookEventName": EVENTS[event],
            "additionalContext": text,
        }
    return reply or None


def render_keep(items: Sequence[str]) -> Json | None:
    """The reply to a PreCompact. Claude Code 2.1.329 knows no field that carries instructions; it
    appends what a hook prints as it stands, an object with a key of ours as well, and would append
    a message to the user, too."""
    reply: Json = {_KEPT: list(items)}
    return reply if items else None


def said_to_model(reply: Json) -> str:
    """What the model reads of a reply: why it must go on, and our texts."""
    specific = reply.get("hookSpecificOutput") or {}
    said = [str(reply.get("reason", "")), str(specific.get("additionalContext", ""))]
    return "\n\n".join(text for text in said if text)


def said_to_user(reply: Json) -> str:
    """What the user reads of a reply."""
    return str(reply.get("systemMessage", ""))


def _here() -> str:
    try:
        return os.getcwd()
    except FileNotFoundError:  # somebody removed the folder we stand in
        return os.sep


def as_text(value: object) -> str:
    return value if isinstance(value, str) else ""


def as_list(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def as_object(value: object) -> Json:
    return value if isinstance(value, dict) else {}


def _safe(value: object) -> str:
    text = as_text(value)
    return text if is_safe_id(text) else ""


def _path(value: object) -> str:
    text = as_text(value)
    try:
        os.fsencode(text)
    except UnicodeEncodeError:  # half of a surrogate pair, which JSON can spell
        return ""
    return "" if "\0" in text or len(text) > PATH_CHARACTERS else text


def _folder(value: object) -> str:
    path = _path(value)
    return path if os.path.isabs(path) else os.path.normpath(os.path.join(_here(), path))


def spelled(said: Json) -> Json:
    """A reply with our commands as they are called where we are no plugin. Texts of others stay as
    they are."""
    return {
        name: value.replace(PREFIX, "/") if isinstance(value, str) else value
        for name, value in said.items()
    }
