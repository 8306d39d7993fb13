"""A session in a loop: its transcript, its Stops, and what each is answered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from making import ours
from ralph import lines

from sisyphus.arbiter.hooks import on_stop
from sisyphus.clients import claude_code
from sisyphus.ralph import actions, hooks, iterations, store
from sisyphus.ralph.past import history
from sisyphus.state import jsonl
from sisyphus.workspace import Workspace

if TYPE_CHECKING:
    from pathlib import Path

    from sisyphus._types import Json
    from sisyphus.clients.base import Outcome, Payload
    from sisyphus.ralph.loop import Loop

ARGS = '"do it" --completion-promise "DONE"'
PROMISE = "All is well.\n\n<promise>DONE</promise>"
NOW = 1_795_200_000.0  # a day later than the lines


class Desk:
    """A client's session "s1" in `project`; the clock stands still unless `now` is moved."""

    def __init__(self, home: Path, project: Path) -> None:
        self.home = home
        self.project = project
        self.transcript = home / ".claude" / "projects" / "p" / "s1.jsonl"
        self.now = NOW
        self.client = "claude"

    def add(self, *records: Json) -> None:
        lines.add(self.transcript, *records)

    def stop(self, message: str | None = None, **raw: object) -> Outcome:
        """One Stop. Like the real client's, the transcript lacks the last message."""
        fields = {"last_assistant_message": message} if message is not None else {}
        outcome = on_stop(self._payload("stop", **fields, **raw), self._space())
        assert outcome is not None
        return outcome

    def answer(self, message: str, **raw: object) -> Outcome:
        """The model answers and stops; a block continues the transcript as the client does."""
        outcome = self.stop(message, **raw)
        self.add(lines.said(message))
        if outcome.reason is not None:
            self.add(lines.continued(outcome.reason))
        return outcome

    def prompt(self, text: str, prompt_id: str = "p1") -> None:
        """The user speaks: the hook first, then the transcript."""
        hooks.on_user_prompt_submit(
            self._payload("user-prompt-submit", prompt=text, prompt_id=prompt_id), self._space()
        )
        self.add(lines.prompt(text, promptId=prompt_id))

    def use(self, args: str, call: str) -> None:
        """The model starts a loop; its line is not written yet."""
        payload = self._payload(
            "post-tool-use",
            tool_name="Skill",
            tool_input={"skill": "ralph-wiggum:ralph-loop", "args": args},
            tool_use_id=call,
        )
        hooks.on_post_tool_use(payload, self._space())

    def begin(self, options: str = "", args: str = ARGS, prompt_id: str = "p1") -> str:
        """The user types a loop, hook first; returns its id."""
        line = f"{args} {options}".strip()
        payload = self._payload(
            "user-prompt-submit", prompt=f"/ralph-wiggum:ralph-loop {line}", prompt_id=prompt_id
        )
        hooks.on_user_prompt_submit(payload, self._space())
        self.add(lines.typed(line, prompt_id=prompt_id))
        return self.loop.loop_id

    def nest(self, options: str = "", call: str = "toolu_7") -> str:
        """The model starts a loop with the promise INNER, hook first; returns its id."""
        args = f'"a part of it" --completion-promise "INNER" {options}'.strip()
        self.use(args, call)
        self.add(lines.skill(args, call=call), lines.result("Launching skill", call))
        return self.loop.loop_id

    def fail(self, error: str, message: str) -> Outcome | None:
        """The client could not finish the turn."""
        payload = self._payload("stop-failure", error=error, last_assistant_message=message)
        return hooks.on_stop_failure(payload, self._space())

    def cancel(self) -> None:
        """From any terminal, as `pause` and `resume`."""
        actions.cancel(self.ours, "s1", now=self.now)

    def pause(self) -> None:
        actions.pause(self.ours, "s1", now=self.now)

    def resume(self) -> None:
        actions.resume(self.ours, "s1", now=self.now)

    def start(self, source: str) -> None:
        hooks.on_session_start(self._payload("session-start", source=source), self._space())

    @property
    def ours(self) -> str:
        return str(ours(self.home, "")).rstrip("/")

    @property
    def loops(self) -> list[Loop]:
        with store.LoopStore(self.ours, "s1") as held:
            return held.loops

    @property
    def log(self) -> list[Json]:
        """The lines of the session log."""
        return list(jsonl.read(history.log_path(self.ours)))

    def rows(self, loop_id: str) -> list[Json]:
        """What was noted of the loop's iterations."""
        return iterations.rows(self.ours, loop_id)

    @property
    def loop(self) -> Loop:
        """The current one."""
        return self.loops[-1]

    def _payload(self, event: str, **raw: object) -> Payload:
        fields: dict[str, Any] = {
            "session_id": "s1",
            "transcript_path": str(self.transcript),
            "cwd": str(self.project),
            **raw,
        }
        return claude_code.read(event, fields)

    def _space(self) -> Workspace:
        return Workspace(str(self.project), now=self.now, client=self.client)
