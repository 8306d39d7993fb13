"""Runs Copilot CLI offline and without its terminal, and knows its names for tools.

One prompt it gets by `-p`. For several in one process it is run as an editor runs it, over the
Agent Client Protocol, where it loads nothing more for the files that the agent views.

What hooks say to the user is shown nowhere, so scenarios that look for it are silent about that.
"""

from __future__ import annotations

import json
import subprocess
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from e2e import claude_code
from e2e.claude_code import process
from e2e.install import COPILOT
from e2e.script import Tool

Json = dict[str, Any]

NAME = "copilot"
REASON_COPIES = 1
SHOWS_MESSAGES = False

NO_FORK = "it cannot fork a session without its terminal"
LATE = "it compacts while the agent goes on, and no start follows; see test_copilot.py"
NATIVE = "it loads such a rule by itself; see test_copilot.py"

_NAMES = {
    "read": "view",
    "write": "create",
    "edit": "edit",
    "shell": "bash",
    "skill": "skill",
    "delegate": "task",
}
_FIELDS = {
    "text": "file_text",
    "old": "old_str",
    "new": "new_str",
    "name": "skill",
    "arguments": "args",
}
_ALWAYS: dict[str, Json] = {
    "shell": {"description": "scripted"},
    "delegate": {
        "description": "scripted",
        "agent_type": "general-purpose",
        "name": "helper",
        "mode": "sync",
    },
}
_MODES = {False: "sync", True: "async"}

_FLAGS = {
    ("--allowedTools", "Bash"): ["--allow-tool=shell"],
    ("--permission-mode", "plan"): ["--plan"],
    ("--permission-mode", "acceptEdits"): [],
}
"""Words of Claude Code's flags → those that do the same here."""

_ALWAYS_FLAGS = ("--allow-tool=write", "--allow-all-paths")
"""Edits are accepted in every run. Of itself it reads nothing outside of the session's folder."""


CACHE = COPILOT.folder / "cache"
"""Where it unpacks itself, 235 MB: into every new home else."""


_PLAN_MODE = "https://agentclientprotocol.com/protocol/session-modes#plan"
"""What an editor calls the mode that `--plan` is."""


def environment(home: Path) -> dict[str, str]:
    """Returns the whole environment of the client and its hooks. Only PATH is the caller's."""
    names = ("PATH", "HOME", "TMPDIR", "LANG", "SHELL")
    others = claude_code.environment(home)
    return {
        **{name: others[name] for name in names},
        "XDGCACHE_HOME": str(CACHE),
        "COPILOT_OFFLINE": "true",
        "COPILOT_AUTO_UPDATE": "false",
        "COPILOT_MODEL": "scripted",  # of a model that it knows it knows the window
        "COPILOT_PROVIDER_TYPE": "anthropic",
        "COPILOT_PROVIDER_API_KEY": "of-no-account",
        "COPILOT_PROVIDER_BASE_URL": others["ANTHROPIC_BASE_URL"],
        "COPILOT_PROVIDER_MAX_PROMPT_TOKENS": "1000000",  # as many as the other clients'
        "COPILOT_BACKGROUND_COMPACTION_THRESHOLD": "0.98",  # by itself at 80 %, before our levels
    }


def model_variables(url: str) -> dict[str, str]:
    """Returns the variables that make the client ask a model at a URL."""
    return {"COPILOT_PROVIDER_BASE_URL": url}


def furnish(home: Path) -> None:
    """The user has set nothing."""


def spell(tool: Tool, project: Path) -> Json:
    """Returns the client's name and input of a tool."""
    values = dict(tool.values)
    if "path" in values:
        names = list(project.glob(values["path"])) if "*" in values["path"] else []
        values["path"] = str(names[0] if names else project / values["path"])
    if tool.verb == "shell":
        values["mode"] = _MODES[values.pop("background")]
    fields = {_FIELDS.get(name, name): value for name, value in values.items()}
    return {"name": _NAMES[tool.verb], "input": {**fields, **_ALWAYS.get(tool.verb, {})}}


def talk(
    prompts: Sequence[str], flags: Sequence[str], folder: Path, variables: dict[str, str]
) -> list[Json]:
    """Runs one process, which gets each prompt after the answer to the one before; returns its
    events. flags: those of Claude Code."""
    words, resumed = _words(list(flags))
    if len(prompts) == 1:
        return _print(prompts[0], words, resumed, folder, variables)
    mode = _PLAN_MODE if "--plan" in words else ""
    with process([COPILOT.binary, "--acp", *words], folder, variables) as client:
        editor = _Editor(client)
        events = _converse(editor, prompts, folder, resumed, mode)
        editor.leave()
        return events


def _print(
    prompt: str, words: list[str], resumed: str, folder: Path, variables: dict[str, str]
) -> list[Json]:
    """Runs one process for one prompt."""
    session = f"--resume={resumed}" if resumed else f"--session-id={uuid.uuid4()}"
    words = ["-p", _typed(prompt), "--output-format", "json", session, *words]
    with process([COPILOT.binary, *words], folder, variables) as client:
        assert client.stdout
        events = [json.loads(line) for line in client.stdout if line.startswith("{")]
    said = [event["data"]["content"] for event in events if event["type"] == "assistant.message"]
    result = {"type": "result", "result": said[-1] if said else ""}
    return [{**result, "session_id": session.partition("=")[2]}]


def _words(flags: list[str]) -> tuple[list[str], str]:
    """Returns the client's own flags, and the session that is resumed; "" = none."""
    words, resumed = [*_ALWAYS_FLAGS], ""
    while flags:
        first, *rest = flags
        if first == "--resume":
            resumed, flags = rest[0], rest[1:]
        elif (known := _FLAGS.get((first, *rest[:1]))) is not None:  # type: ignore[arg-type]
            words, flags = [*words, *known], rest[1:]
        else:
            raise AssertionError(f"no such flag of {NAME}: {first}")
    return words, resumed


@dataclass
class _Editor:
    """The other side of the protocol. events: what the client said to it."""

    process: subprocess.Popen[str]
    events: list[Json] = field(default_factory=list)
    _serial: int = 0

    def ask(self, method: str, **params: Any) -> Json:
        """Asks the client, and answers its own questions until it has answered."""
        self._serial += 1
        self._send({"id": self._serial, "method": method, "params": params})
        assert self.process.stdout
        for line in self.process.stdout:
            message = json.loads(line)
            if message.get("id") == self._serial and "method" not in message:
                assert "result" in message, message
                return dict(message["result"])
            if "id" in message:  # it asks for a permission, and there is nobody
                refusal = {"outcome": {"outcome": "cancelled"}}
                self._send({"id": message["id"], "result": refusal})
            self.events.append(message)
        raise AssertionError("the client ended")

    def leave(self) -> None:
        """The client ends when nobody can ask it any more."""
        assert self.process.stdin
        self.process.stdin.close()

    def _send(self, message: Json) -> None:
        assert self.process.stdin
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self.process.stdin.flush()


def _converse(
    editor: _Editor, prompts: Sequence[str], folder: Path, resumed: str, mode: str
) -> list[Json]:
    editor.ask("initialize", protocolVersion=1, clientCapabilities={})
    place = {"cwd": str(folder), "mcpServers": []}
    session = resumed
    if resumed:
        editor.ask("session/load", sessionId=resumed, **place)
    else:
        session = editor.ask("session/new", **place)["sessionId"]
    if mode:
        editor.ask("session/set_mode", sessionId=session, modeId=mode)
    events: list[Json] = []
    for prompt in prompts:
        if prompt == "/clear":
            session = editor.ask("session/new", **place)["sessionId"]
            continue
        editor.events.clear()
        text = [{"type": "text", "text": _typed(prompt)}]
        editor.ask("session/prompt", sessionId=session, prompt=text)
        events.append({"type": "result", "result": _said(editor.events), "session_id": session})
    return events


def _typed(prompt: str) -> str:
    """Returns a slash command as the user types it here: without the prefix of a plugin."""
    if not prompt.startswith("/"):
        return prompt
    name, blank, arguments = prompt[1:].partition(" ")
    return f"/{name.rpartition(':')[2]}{blank}{arguments}"


def _said(events: list[Json]) -> str:
    """Returns all that the client showed of the agent's answers."""
    updates = [event["params"]["update"] for event in events if "update" in event.get("params", {})]
    texts = [each for each in updates if each["sessionUpdate"] == "agent_message_chunk"]
    return "".join(each["content"].get("text", "") for each in texts)
