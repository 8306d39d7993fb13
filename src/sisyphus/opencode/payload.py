"""What the plugin sends, made a payload of Claude Code's, so that every feature understands it.

The plugin speaks in Claude Code's words where it can (`session_id`, `agent_id`, `cwd`, `source`,
`prompt`, `reason`, `error`); what is OpenCode's own stands in `opencode`:

    agent, model, window       who works, and how many tokens its model holds
    text                       the last thing that the model said
    tool                       of a tool call: tool, call, args, output, metadata
    lines                      what happened since the plugin last spoke (see `lines`)
    others                     the same of subagents, by their ids

Whatever is there already in Claude Code's words is left as it is.
"""

from __future__ import annotations

import os

from sisyphus.clients.base import UNUSABLE, as_list, as_object, as_text
from sisyphus.opencode import tools
from sisyphus.paths import is_safe_id

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus._types import Json

CLIENT = "opencode"
"""What `--client` names, and the folder of ours with the transcripts of its sessions."""

PLAN = "plan"
"""The agent that only plans has the name of the mode in which Claude Code does."""

_MOST_TOKENS = 10**9


class Told:
    """The part of a message that is OpenCode's own, and whom it is about, as tolerant as it must
    be. `speaker`: the subagent that it is of, "" = none."""

    __slots__ = ("agent", "cwd", "lines", "others", "session", "speaker", "text", "tool", "window")

    def __init__(self, raw: Json) -> None:
        own = as_object(raw.get(CLIENT))
        self.session = as_text(raw.get("session_id"))
        self.speaker = (as_text(raw.get("agent_id")) or UNUSABLE) if raw.get("agent_id") else ""
        self.cwd = as_text(raw.get("cwd"))
        self.agent = as_text(own.get("agent"))
        self.text = as_text(own.get("text"))
        self.tool = as_object(own.get("tool"))
        self.lines = as_list(own.get("lines"))
        self.others = {k: as_list(found) for k, found in as_object(own.get("others")).items() if k}
        window = own.get("window")
        self.window = window if type(window) is int and 0 < window < _MOST_TOKENS else 0


def translate(raw: Json, told: Told, ours: str) -> Json:
    """The payload; `ours`: our folder."""
    found: Json = {"transcript_path": transcript(ours, told.session)}
    if told.agent == PLAN:
        found["permission_mode"] = PLAN
    if told.text:
        found["last_assistant_message"] = told.text
    if told.tool:
        found |= _tool(told.tool, told.cwd)
    return {**found, **{name: value for name, value in raw.items() if value is not None}}


def transcript(ours: str, session: str, agent: str = "") -> str:
    """Where we keep what happened in a session, or in a subagent of it; "" = nowhere.

    Claude Code lays its own transcripts out like this.
    """
    if not is_safe_id(session) or (agent and not is_safe_id(agent)):
        return ""
    whole = os.path.join(ours, CLIENT, f"{session}.jsonl")
    if not agent:
        return whole
    return os.path.join(whole.removesuffix(".jsonl"), "subagents", f"agent-{agent}.jsonl")


def _tool(told: Json, cwd: str) -> Json:
    name, args, metadata = (
        as_text(told.get("tool")),
        as_object(told.get("args")),
        told.get("metadata"),
    )
    answer = tools.answer(name, args, as_text(told.get("output")), as_object(metadata))
    return {
        "tool_name": tools.name(name),
        "tool_use_id": as_text(told.get("call")),
        "tool_input": tools.given(name, args, cwd),
        "tool_response": answer,
    }
