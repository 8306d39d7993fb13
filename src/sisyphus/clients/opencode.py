"""OpenCode's plugin contract: what our plugin sends in our words, our outcomes in its own.

The plugin forwards events in the words of Claude Code's hooks where there are such (`session_id`,
`agent_id`, `cwd`, `source`, `prompt`, `reason`, `error`); what is OpenCode's own stands in
`opencode`:

    agent, model, window       who works, and how many tokens its model holds
    text                       the last thing that the model said
    tool                       of a tool call: tool, call, args, output, metadata
    lines                      what happened since the plugin last spoke (see `opencode_files`)
    others                     the same of subagents, by their ids

Our reply carries there what a hook has no words for: toasts [{variant, title, message, seconds,
countdown}], wake_after (seconds of rest after which the plugin asks `hook idle`), abort_seconds and
stability_seconds (how long nothing is asked after an abort, and nothing may have changed), keep
(what a summary must keep). Shapes are those of OpenCode 1.18.33.
"""

from __future__ import annotations

import os

from sisyphus.clients import claude_code
from sisyphus.clients.base import as_id, as_list, as_object, as_text, without_prefix
from sisyphus.state import debug

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from sisyphus._types import Json, Kept
    from sisyphus.clients.base import Outcome, Payload, ToolCall

NAME = "opencode"
HAS_PROCESS = False
HAS_TOASTS = True
WAKES_BY_EXIT = False
CLEARS = False
LOADS_RULES = False

_TRANSCRIPTS = "OpenCode transcripts"
KEPT: tuple[Kept, ...] = (
    {"path": "opencode/SESSION.jsonl", "kind": _TRANSCRIPTS},
    {"path": "opencode/SESSION/subagents/agent-*.jsonl", "kind": _TRANSCRIPTS, "folders": 2},
)

_PLAN = "plan"
"""The agent that only plans."""

_MOST_TOKENS = 10**9
_GUARDS = ("abort_seconds", "stability_seconds")


def read(event: str, raw: Json, ours: str) -> Payload:
    """One event's payload. What happened since the plugin spoke last is kept as a transcript."""
    own = as_object(raw.get(NAME))
    found = claude_code.read(event, {k: v for k, v in raw.items() if v is not None}, ours)
    found.client = NAME
    found.folder = found.cwd
    found.transcript = found.transcript or transcript_path(ours, found.session)
    found.plans_only = found.plans_only or own.get("agent") == _PLAN
    window = own.get("window")
    found.window = window if type(window) is int and 0 < window < _MOST_TOKENS else 0
    if text := as_text(own.get("text")):
        found.last_message = text
    if tool := as_object(own.get("tool")):
        found.calls = [_tool_call(tool, found.cwd)]
    try:
        _keep(found, own, ours)
    except Exception as error:  # noqa: BLE001  # the event itself is answered all the same
        debug.log(f"opencode: not kept: {type(error).__name__}: {error}")
    return found


def transcript_path(ours: str, session: str, agent: str = "") -> str:
    """Where we keep what happened in a session, or in a subagent of it; "" = nowhere.

    Claude Code lays its own transcripts out like this.
    """
    if not as_id(session) or (agent and not as_id(agent)):
        return ""
    whole = os.path.join(ours, NAME, f"{session}.jsonl")
    if not agent:
        return whole
    return os.path.join(whole.removesuffix(".jsonl"), "subagents", f"agent-{agent}.jsonl")


def _tool_call(told: Json, cwd: str) -> ToolCall:
    from sisyphus.clients import opencode_tools as tools

    tool, args = as_text(told.get("tool")), as_object(told.get("args"))
    metadata = as_object(told.get("metadata"))
    answer = tools.answer(tool, args, as_text(told.get("output")), metadata)
    raw = {
        "tool_name": tools.name(tool),
        "tool_use_id": told.get("call"),
        "tool_input": tools.given(tool, args, cwd),
    }
    return claude_code.tool_call(raw, cwd, answer, failed=False)


def _keep(found: Payload, own: Json, ours: str) -> None:
    spoken = {found.agent: as_list(own.get("lines"))}
    spoken |= {k: as_list(lines) for k, lines in as_object(own.get("others")).items() if k}
    for speaker, lines in spoken.items():
        path = transcript_path(ours, found.session, speaker)
        if path and lines:
            from sisyphus.clients.opencode_files import append, records

            append(path, records(lines, found.session, speaker, found.cwd))


def block_cap() -> int:
    return 0


def can_be_woken() -> bool:
    return True


def render(
    payload: Payload, outcome: Outcome, text: str, setting: Callable[[str], object]
) -> Json | None:
    """The reply in the words of Claude Code's hooks, and what is OpenCode's own."""
    is_summary = payload.event == "pre-compact"
    reply = {} if is_summary else claude_code.render(payload, outcome, text, setting) or {}
    own: Json = {}
    if outcome.toasts:
        own["toasts"] = outcome.toasts
    if outcome.keep:
        own["keep"] = outcome.keep
    if outcome.wake_after is not None:
        own["wake_after"] = outcome.wake_after
    if outcome.wake_after is not None or outcome.reason is not None:
        own |= {name: setting(f"enforce.{name}") for name in _GUARDS}
    return {**without_prefix(reply), **({NAME: own} if own else {})} or None
