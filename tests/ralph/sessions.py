"""A client's session as our hooks hear of it; the clock stands still unless `now` is moved."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from making import ours

from ralph import lines
from sisyphus.arbiter.hooks import on_stop
from sisyphus.clients import claude_code
from sisyphus.clients.base import Outcome, Payload
from sisyphus.ralph import hooks, store
from sisyphus.state import jsonl
from sisyphus.times import iso
from sisyphus.workspace import Workspace

if TYPE_CHECKING:
    from pathlib import Path

    from sisyphus._types import Json
    from sisyphus.ralph.loop import Loop
    from sisyphus.ralph.memory import Memory

ARGS = '"do it" --completion-promise "DONE"'
TYPED = f"/ralph-wiggum:ralph-loop {ARGS}"
PROMISE = "<promise>DONE</promise>"
NOW = 1_795_200_000.0


class Session:
    """Whose prompts have no ids where `has_ids` is unset, as with clients of before."""

    def __init__(self, home: Path, project: Path, name: str = "s1") -> None:
        self.home = home
        self.project = project
        self.name = name
        self.transcript = home / ".claude" / "projects" / "p" / f"{name}.jsonl"
        self.now = NOW
        self.has_ids = True
        self._prompts = 0

    @property
    def ours(self) -> str:
        return str(ours(self.home, ""))

    @property
    def space(self) -> Workspace:
        return Workspace(str(self.project), now=self.now)

    def submits(self, text: str) -> Outcome | None:
        """The user enters a prompt; nobody has written it down yet."""
        self._prompts += 1
        return hooks.on_user_prompt_submit(
            self._payload("user-prompt-submit", prompt=text, prompt_id=self._prompt_id), self.space
        )

    def types(self, args: str = ARGS) -> None:
        """The user starts a loop, and the client writes that down."""
        self.submits(f"/ralph-wiggum:ralph-loop {args}")
        self.writes(lines.typed(args, prompt_id=self._prompt_id, timestamp=iso(self.now)))

    def writes(self, *records: Json) -> None:
        lines.add(self.transcript, *records)

    def calls(self, args: str = ARGS, call: str = "toolu_1") -> Outcome | None:
        """The model starts a loop, and the client writes that down."""
        payload = self._payload(
            "post-tool-use",
            tool_name="Skill",
            tool_input={"skill": "ralph-wiggum:ralph-loop", "args": args},
            tool_use_id=call,
        )
        outcome = hooks.on_post_tool_use(payload, self.space)
        self.writes({**lines.skill(args, call=call), "timestamp": iso(self.now)})
        return outcome

    def stops(self, message: str = "Not yet.") -> Outcome:
        """The model's turn ends; its last message is not written down yet."""
        payload = self._payload("stop", last_assistant_message=message)
        outcome = on_stop(payload, self.space)
        self.writes(lines.said(message))
        if outcome and outcome.reason is not None:
            self.writes(lines.continued(outcome.reason))
        return outcome or Outcome()

    def begins(self, source: str) -> Outcome | None:
        return hooks.on_session_start(self._payload("session-start", source=source), self.space)

    def ends(self, reason: str) -> Outcome | None:
        return hooks.on_session_end(self._payload("session-end", reason=reason), self.space)

    def fails(self, error: str = "rate_limit", message: str = "API Error: 429") -> Outcome | None:
        payload = self._payload("stop-failure", error=error, last_assistant_message=message)
        return hooks.on_stop_failure(payload, self.space)

    def has(self, *loops: Loop) -> None:
        with store.LoopStore(self.ours, self.name) as held:
            held.save(loops)

    @property
    def loops(self) -> list[Loop]:
        with store.LoopStore(self.ours, self.name) as held:
            return held.loops

    @property
    def memory(self) -> Memory:
        return store.glance(self.ours, self.name)

    @property
    def log(self) -> list[str]:
        """What the history says, in order: `active`, or how a loop ended."""
        found = jsonl.read(str(ours(self.home, "logs/sessions.jsonl")))
        return [str(line.get("outcome", line["status"])) for line in found]

    @property
    def _prompt_id(self) -> str:
        return f"{self.name} prompt {self._prompts}" if self.has_ids else ""

    def _payload(self, event: str, **raw: Any) -> Payload:
        fields = {
            "session_id": self.name,
            "transcript_path": str(self.transcript),
            "cwd": str(self.project),
            **raw,
        }
        return claude_code.read(event, fields)
