"""Plays the plugin: tells of a session of OpenCode in the plugin's words, to the real command."""

from __future__ import annotations

import json
import os
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from making import COMMAND, HANG_SECONDS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sisyphus._types import Json

RECORDED = Path(__file__).parents[1] / "data" / "opencode"
SESSION = "ses_e030db052ffeeIN8wYgRPp24WF"
CHILD = "ses_e030da245ffeTPkCeQ6FXy6KeG"
WINDOW = 200_000
MODEL = {"providerID": "fake", "modelID": "fake"}

_TOKENS = {"input": 10, "output": 5, "reasoning": 0, "cache": {"read": 0, "write": 0}}


def recorded(name: str) -> Json:
    """A message that the plugin has sent."""
    value: Json = json.loads((RECORDED / f"{name}.json").read_text("utf-8"))
    return value


def ask(event: str, message: Json | bytes, cwd: Path, **environment: str) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of the command, started as the plugin starts it."""
    done = subprocess.run(
        [COMMAND, "hook", event, "--client", "opencode"],
        input=message if isinstance(message, bytes) else json.dumps(message).encode(),
        capture_output=True,
        timeout=HANG_SECONDS,
        check=False,
        cwd=cwd,
        env={**os.environ, **environment},
    )
    return done.returncode, done.stdout.decode(), done.stderr.decode()


class Answers:
    """One reply, as the plugin reads it."""

    def __init__(self, reply: Json) -> None:
        self.reply = reply

    @property
    def text(self) -> str:
        """For the model."""
        return str(self.reply.get("hookSpecificOutput", {}).get("additionalContext", ""))

    @property
    def reason(self) -> str:
        """Why the session goes on; of a prompt the answer to the user."""
        return str(self.reply["reason"]) if self.reply.get("decision") == "block" else ""

    @property
    def told(self) -> str:
        """For the user."""
        return str(self.reply.get("systemMessage", ""))

    @property
    def extras(self) -> Json:
        found: Json = self.reply.get("opencode", {})
        return found


class StandIn:
    """A session in `project`; `main` is the one that a subagent works for."""

    def __init__(
        self, project: Path, session: str = SESSION, main: StandIn | None = None, **fields: Any
    ) -> None:
        self.project = project
        self.session = session
        self.main = main
        self.agent = fields.get("agent", "general" if main else "build")
        self.window = fields.get("window", WINDOW)
        self.environment: Mapping[str, str] = fields.get("environment", {})
        self.text = ""
        self.begun = False
        self.lines: list[Json] = []
        self.others: dict[str, list[Json]] = {}
        self._made = 0

    # --- what the plugin notes ------------------------------------------------------------------

    def note(self, kind: str, **fields: Any) -> None:
        self._made += 1
        self.lines.append({"kind": kind, "at": round(time.time() * 1_000), **fields})

    def uses_up(self, tokens: int, cached: int = 0) -> None:
        """The end of a step of the model, which has read so many tokens."""
        cache = {"read": cached, "write": 0}
        told = {**_TOKENS, "input": tokens, "cache": cache}
        self.note("usage", id=self._id("msg"), model=MODEL["modelID"], tokens=told)

    # --- what it asks ---------------------------------------------------------------------------

    def begins(self, source: str = "startup") -> Answers:
        self.begun = True
        return self.asks("session-start", source=source)

    def hears(self, prompt: str) -> list[Answers]:
        """The user's prompt; the first one begins the session."""
        name, self.text = self._id("msg"), ""
        self.note("prompt", id=name, text=prompt)
        started = [] if self.begun else [self.begins()]
        return [*started, self.asks("user-prompt-submit", prompt=prompt, prompt_id=name)]

    def types(self, command: str, arguments: str = "") -> Answers:
        """One of our commands; where it is answered, the model never sees it."""
        if not self.begun:
            self.begins()
        prompt = f"/sisyphus:{command} {arguments}".rstrip()
        answers = self.asks("user-prompt-submit", prompt=prompt, prompt_id="")
        if not answers.reason:
            given = {"name": command, "arguments": arguments}
            self.note("prompt", id=self._id("msg"), text="(the template)", command=given)
        return answers

    def uses(self, tool: str, args: Json, output: str = "", **metadata: Any) -> Answers:
        call = self._id("call")
        told = {"call": call, "tool": tool, "args": args}
        self.note("tool", id=self._id("msg"), **told)
        answers = self.asks("post-tool-use", {**told, "output": output, "metadata": metadata})
        self.note("result", **told, text=output, metadata=metadata, failed=False)
        return answers

    def fails(self, tool: str, args: Json, error: str) -> None:
        """A tool that throws: OpenCode calls no hook after it."""
        told = {"call": self._id("call"), "tool": tool, "args": args}
        self.note("tool", id=self._id("msg"), **told)
        self.note("result", **told, text=error, failed=True)

    def says(self, text: str, tokens: int = 10) -> None:
        self.text = text
        self.note("text", id=f"msg_{self._made}", part=self._id("prt"), text=text)
        self.uses_up(tokens)

    def stops(self, text: str = "", tokens: int = 10) -> Answers:
        """The model ends its turn, with an answer where there is one."""
        if text:
            self.says(text, tokens)
        return self.asks("stop", hook_event_name="Stop")

    def goes_on(self, answers: Answers) -> None:
        """The plugin sends the reason as a prompt of its own."""
        assert answers.reason
        self.text = ""
        self.note("prompt", id=self._id("msg"), text=answers.reason, ours=True)

    def compacts(self) -> tuple[Answers, Answers]:
        before = self.asks("pre-compact", trigger="auto")
        self.note("compacted")
        return before, self.begins("compact")

    def asks(self, event: str, tool: Json | None = None, **fields: Any) -> Answers:
        code, stdout, stderr = ask(
            event, self.message(tool, **fields), self.project, **self.environment
        )
        assert (code, stderr) == (0, ""), stderr
        return Answers(json.loads(stdout) if stdout else {})

    def message(self, tool: Json | None = None, **fields: Any) -> Json:
        """What stdin holds."""
        main = self.main or self
        told: Json = {"agent": self.agent, "model": MODEL, "window": main.window}
        told |= {"text": self.text, "lines": self._drained()}
        if tool:
            told["tool"] = tool
        if self.main is None:
            told["others"], self.others = self.others, {}
        whole: Json = {"session_id": main.session, "cwd": str(self.project), **fields}
        whole["opencode"] = told
        return {**whole, "agent_id": self.session} if self.main else whole

    def ends_below(self) -> None:
        """The end of a subagent: what it did since its last hook travels with its main session."""
        assert self.main is not None
        self.main.others[self.session] = self._drained()

    def _drained(self) -> list[Json]:
        lines, self.lines = self.lines, []
        return lines

    def _id(self, kind: str) -> str:
        self._made += 1
        return f"{kind}_{self._made:04}"
