"""Claude Code's hook contract: its payloads in our words, our outcomes in its own.

Shapes are those of 2.1.329. What it writes to disk is known to `claude_code_files`.
"""

from __future__ import annotations

import os

from sisyphus.clients.base import (
    AGENT,
    ASK,
    EDIT,
    READ,
    SHELL,
    SKILL,
    TODO,
    UNUSABLE,
    WRITE,
    Payload,
    Status,
    ToolCall,
    as_folder,
    as_id,
    as_list,
    as_object,
    as_path,
    as_text,
    without_prefix,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from sisyphus._types import Json, Kept
    from sisyphus.clients.base import Outcome

NAME = "claude"
HAS_PROCESS = True
HAS_TOASTS = False
WAKES_BY_EXIT = True
CLEARS = True
LOADS_RULES = True
KEPT: tuple[Kept, ...] = ()

SESSION_VARIABLE = "CLAUDE_CODE_SESSION_ID"
"""In the shell of a session: which it is."""

CAP_VARIABLE, CAP = "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP", 8
"""It overrides the ninth block in a row without a tool call."""

ENTRY_VARIABLE, TERMINAL = "CLAUDE_CODE_ENTRYPOINT", "cli"
"""It sets this for its hooks. Without a terminal (`sdk-cli`) it waits for its asynchronous hooks
before it ends, and cannot be woken by them."""

HOOK_VARIABLES = (
    "CLAUDE_ENV_FILE", "CLAUDE_PLUGIN_DATA", "CLAUDE_PLUGIN_ROOT", "CLAUDE_PROJECT_DIR",
)  # fmt: skip
"""What it tells a hook and not the model's shell."""

_DIGITS = 9
_PID_DIGITS = 10
_PROGRAMS = ("claude", "claude.exe")
_PACKAGE = "claude-code"
_INTERPRETERS = ("node", "node.exe", "bun")

KINDS = {
    "Read": READ,
    "Edit": EDIT,
    "MultiEdit": EDIT,  # of earlier versions
    "NotebookEdit": EDIT,
    "Write": WRITE,
    "Bash": SHELL,
    "PowerShell": SHELL,
    "Skill": SKILL,
    "TodoWrite": TODO,
    "TaskCreate": TODO,
    "TaskUpdate": TODO,
    "AskUserQuestion": ASK,
    "Agent": AGENT,
    "Task": AGENT,  # of earlier versions
}

_FILE_TOOLS = ("Edit", "MultiEdit", "Write")
"""They write what `file_path` names. NotebookEdit would leave it alone."""

CLIENT_EVENTS = {
    "session-start": "SessionStart",
    "session-end": "SessionEnd",
    "user-prompt-submit": "UserPromptSubmit",
    "permission-request": "PermissionRequest",
    "post-tool-use": "PostToolUse",
    "stop": "Stop",
    "stop-failure": "StopFailure",
    "subagent-stop": "SubagentStop",
    "pre-compact": "PreCompact",
    "post-compact": "PostCompact",
    "notification": "Notification",
    "idle": "Stop",  # a second, asynchronous entry, of StopFailure as well
}
"""Our names of events -> its own."""

BATCH, FAILED_CALL = "PostToolBatch", "PostToolUseFailure"
"""What else `post-tool-use` answers: all calls of an answer, and a single one that failed."""

SETTINGS, LOCAL_SETTINGS = "settings.json", "settings.local.json"

_PLAN_MODE = "plan"
_ACCEPTING_MODES = ("acceptEdits", "auto")
_MACHINE = "<task-notification>"
"""How prompts begin that the client makes itself."""

_WAKING = f"{_MACHINE}\n<summary>Stop hook feedback</summary>"
"""And of those the ones by which an asynchronous hook wakes a session."""

CONTEXT_COUNTS = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
"""What an answer found in the context."""

_MOST_TOKENS = 10**9
_KEPT = "keep in the summary"
_CREATED, _CREATED_END = "Task #", " created successfully"
FAILURE = "<tool_use_error>"
"""How the text of a call begins that the client refused."""


def read(event: str, raw: Json, ours: str = "") -> Payload:  # noqa: ARG001  # Client's
    """One event's payload: every attribute has its type whatever came."""
    found = Payload(NAME, event)
    found.named = as_text(raw.get("hook_event_name"))
    found.session = as_id(raw.get("session_id"))
    found.agent = (as_id(raw.get("agent_id")) or UNUSABLE) if raw.get("agent_id") else ""
    found.cwd = as_folder(raw.get("cwd"))
    found.folder = _session_folder(found.cwd)
    found.transcript = as_path(raw.get("transcript_path"))
    found.source = as_text(raw.get("source"))
    found.reason = as_text(raw.get("reason"))
    found.error = as_text(raw.get("error"))
    found.prompt = as_text(raw.get("prompt"))
    found.prompt_id = as_text(raw.get("prompt_id"))
    found.is_machines = found.prompt.startswith(_MACHINE)
    found.is_waking = found.prompt.startswith(_WAKING)
    mode = raw.get("permission_mode")
    found.plans_only = mode == _PLAN_MODE
    found.accepts_edits = mode in _ACCEPTING_MODES
    message = raw.get("last_assistant_message")
    found.last_message = message if isinstance(message, str) else None
    found.background = as_list(raw.get("background_tasks"))
    found.crons = as_list(raw.get("session_crons"))
    found.follows_stop = found.named == CLIENT_EVENTS["stop"]
    found.follows_failure = found.named in ("", CLIENT_EVENTS["stop-failure"])
    if event == "post-tool-use":
        _read_calls(found, raw)
    elif event == "permission-request":  # a call that may be made yet: its id is no news
        asked = {name: raw.get(name) for name in ("tool_name", "tool_input")}
        call = tool_call(asked, found.cwd, {}, failed=False)
        named = call.input.get("file_path")  # the client asks about plain paths alone
        call.path = call.path if call.tool in _FILE_TOOLS and call.path == named else ""
        found.calls = [call]
    return found


def _read_calls(found: Payload, raw: Json) -> None:
    found.is_batch = "tool_calls" in raw or found.named == BATCH
    if found.is_batch:
        calls = [as_object(call) for call in as_list(raw.get("tool_calls"))]
        found.calls = [_batched(call, found.cwd) for call in calls if call]
    elif raw.get("tool_name") or raw.get("tool_use_id"):
        failed = found.named == FAILED_CALL
        answer = as_object(raw.get("tool_response"))
        found.calls = [tool_call(raw, found.cwd, answer, failed=failed)]


def tool_call(raw: Json, cwd: str, answer: Json, *, failed: bool) -> ToolCall:
    given, tool = as_object(raw.get("tool_input")), as_text(raw.get("tool_name"))
    named = tool_path(given)
    path = os.path.normpath(os.path.join(cwd, named)) if named else ""
    call, kind = as_text(raw.get("tool_use_id")), KINDS.get(tool, "")
    return ToolCall(call, tool, kind, given, path=path, answer=answer, failed=failed)


def tool_path(given: Json) -> str:
    """The file that a tool call names, "" where it names none."""
    return as_path(given.get("file_path") or given.get("notebook_path"))


def _batched(raw: Json, cwd: str) -> ToolCall:
    """Of a batch the result is the text that the model gets. A created task's id stands only
    there, and only a failed edit is marked."""
    said = _said(raw.get("tool_response"))
    task, created, _ = said.removeprefix(_CREATED).partition(_CREATED_END)
    is_task = created and said.startswith(_CREATED)
    answer = {"task": {"id": task}} if is_task else {}
    return tool_call(raw, cwd, answer, failed=said.startswith(FAILURE))


def _said(response: object) -> str:
    """The text of a result: one, or in blocks."""
    if isinstance(response, list):
        blocks = [as_text(as_object(block).get("text")) for block in response]
        return "\n".join(filter(None, blocks))
    return as_text(response)


def _session_folder(cwd: str) -> str:
    named = as_path(os.environ.get("CLAUDE_PROJECT_DIR"))
    return named if os.path.isabs(named) and os.path.isdir(named) else cwd


def render(
    payload: Payload,
    outcome: Outcome,
    text: str,
    setting: Callable[[str], object],  # noqa: ARG001
) -> Json | None:
    """The reply in its words; None where there is nothing to say.

    At PreCompact it knows no field that carries instructions: it appends what a hook prints as it
    stands to what it asks its summariser for, a message to the user, too.
    """
    if payload.event == "pre-compact":
        return {_KEPT: outcome.keep} if outcome.keep else None
    if payload.event == "permission-request":
        return _allowed() if outcome.allows else None
    reply: Json = {}
    if outcome.reason is not None:
        reply["decision"] = "block"
        reply["reason"] = outcome.reason
    if outcome.messages:
        reply["systemMessage"] = "\n\n".join(outcome.messages)
    if text:
        reply["hookSpecificOutput"] = {
            "hookEventName": BATCH if payload.is_batch else CLIENT_EVENTS[payload.event],
            "additionalContext": text,
        }
    if not reply:
        return None
    return reply if plugin_folder() else without_prefix(reply)


def _allowed() -> Json:
    decision = {"behavior": "allow"}
    event = CLIENT_EVENTS["permission-request"]
    return {"hookSpecificOutput": {"hookEventName": event, "decision": decision}}


def heard(reply: Json) -> tuple[str, str]:
    """What the model and what the user reads of a reply."""
    specific = as_object(reply.get("hookSpecificOutput"))
    said = [as_text(reply.get("reason")), as_text(specific.get("additionalContext"))]
    return "\n\n".join(filter(None, said)), as_text(reply.get("systemMessage"))


def read_status(raw: Json) -> Status:
    """What the payload of its `statusLine` says."""
    context = as_object(raw.get("context_window"))
    usage = as_object(context.get("current_usage"))
    named = (as_object(raw.get("workspace")).get("project_dir"), raw.get("cwd"))
    return Status(
        as_id(raw.get("session_id")),
        [path for path in named if isinstance(path, str)],
        as_text(as_object(raw.get("model")).get("id")),
        sum(_tokens(usage.get(name)) for name in CONTEXT_COUNTS),
        _tokens(context.get("context_window_size")),
    )


def _tokens(value: object) -> int:
    return value if type(value) is int and 0 < value < _MOST_TOKENS else 0


def block_cap() -> int:
    named = os.environ.get(CAP_VARIABLE, "")
    is_number = named.isascii() and named.isdigit() and len(named) <= _DIGITS
    return int(named) if is_number else CAP


def can_be_woken() -> bool:
    return os.environ.get(ENTRY_VARIABLE) == TERMINAL


def is_inside() -> bool:
    """Whether this is a command of a session's shell."""
    return bool(os.environ.get("CLAUDECODE"))


def process_id() -> int:
    """Of the client that this hook is of; 0 = it does not say."""
    named = os.environ.get("CLAUDE_PID", "")
    return int(named) if named.isascii() and named.isdigit() and len(named) <= _PID_DIGITS else 0


def is_program(words: Sequence[str]) -> bool:
    """Whether a command line starts it: its own program, or a script of it that an interpreter
    runs."""
    program = os.path.basename(words[0])
    if program not in _INTERPRETERS:
        return program in _PROGRAMS
    script = next((word for word in words[1:] if not word.startswith("-")), "")
    parts = script.replace("\\", "/").split("/")
    return parts[-1] in _PROGRAMS or _PACKAGE in parts


def plugin_folder() -> str:
    """Where the plugin lies whose hook we are; "" = settings call us."""
    return os.environ.get("CLAUDE_PLUGIN_ROOT", "")


def settings_paths(home: str, folder: str, root: str) -> list[str]:
    """The settings files of a session that began in `folder` of the project `root`, the weakest
    first. `home` is the client's own folder."""
    found = (
        os.path.join(home, SETTINGS),
        os.path.join(folder, ".claude", SETTINGS),
        os.path.join(root, ".claude", LOCAL_SETTINGS),
        os.path.join(folder, ".claude", LOCAL_SETTINGS),
    )
    return list(dict.fromkeys(found))


def wired(settings: Json) -> Iterator[tuple[str, str, Json]]:
    """Event, matcher and fields of each hook in a settings file, whatever else that holds."""
    for event, groups in as_object(settings.get("hooks")).items():
        for group in map(as_object, as_list(groups)):
            for hook in map(as_object, as_list(group.get("hooks"))):
                yield event, as_text(group.get("matcher")), hook
