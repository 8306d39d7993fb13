"""A session of an enforced project: what happens to it, and what each event is answered."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

from making import ours, put, stored
from ralph import lines

from sisyphus.clients import claude_code
from sisyphus.clients.base import Outcome, Payload, merge
from sisyphus.enforce import actions, log, marks
from sisyphus.hook.routes import ROUTES
from sisyphus.workspace import Workspace

if TYPE_CHECKING:
    from pathlib import Path

    from sisyphus._types import Json

NOW = 1_795_200_000.0
DONE = "All tests pass, I am done."
NOT_DONE = "Let me look at the parser next."
MACHINE = (
    "<task-notification>\n<summary>Stop hook feedback</summary>\n</task-notification>\n"
    '<system-reminder>\nStop hook blocking error from command "Stop": go on\n</system-reminder>'
)


class Desk:
    """The clock stands still unless `now` is moved; every event asks all handlers that it has."""

    def __init__(self, home: Path, project: Path) -> None:
        self.home = home
        self.project = project
        self.now = NOW
        self.client = "claude"
        self.transcript = home / ".claude" / "projects" / "p" / "s1.jsonl"

    def set(self, **settings: object) -> None:
        """In the user's own file, which alone may."""
        lines = [f"{name} = {json.dumps(value)}" for name, value in settings.items()]
        put(ours(self.home, "config.toml"), "\n".join(["[enforce]", *lines, ""]))

    # --- the user's side ------------------------------------------------------------------------

    def on(self, session: str = "") -> Json:
        return actions.on(self.space(), session)

    def off(self) -> list[str]:
        return actions.off(self.space())

    def stops_it(self, session: str = "") -> list[str]:
        return actions.stop(self.space(), session)

    def says(self, prompt: str = "do it", session: str = "s1", **raw: object) -> Outcome:
        return self.event("user-prompt-submit", session, prompt=prompt, **raw)

    # --- the model's side -----------------------------------------------------------------------

    def stop(self, message: str | None = DONE, session: str = "s1", **raw: object) -> Outcome:
        fields = {"last_assistant_message": message} if message is not None else {}
        return self.event("stop", session, hook_event_name="Stop", **fields, **raw)

    def uses_a_tool(self, session: str = "s1", **raw: object) -> None:
        self.event("post-tool-use", session, **raw)
        path = marks.tools_path(self.ours, session)
        if os.path.exists(path) and os.stat(path).st_mtime:
            os.utime(path, (self.now, self.now))

    def looks(self, session: str = "s1", **raw: object) -> Outcome:
        """A client with a clock of its own asks."""
        return self.event("idle", session, hook_event_name="Stop", **raw)

    def ends(self, session: str = "s1", reason: str = "prompt_input_exit") -> Outcome:
        return self.event("session-end", session, reason=reason)

    def event(self, event: str, session: str = "s1", **raw: object) -> Outcome:
        payload = self.payload(event, session, **raw)
        modules = [route.partition(":") for route in ROUTES[event]]
        handlers = [getattr(__import__(m, fromlist=[f]), f) for m, _, f in modules]
        return merge(handler(payload, self.space()) for handler in handlers)

    # --- what is known --------------------------------------------------------------------------

    @property
    def ours(self) -> str:
        return str(ours(self.home, "")).rstrip("/")

    @property
    def state_path(self) -> Path:
        return self.home / os.path.relpath(marks.state_path(self.space()), self.home)

    @property
    def state(self) -> Json:
        return stored(self.state_path)

    def entry(self, session: str = "s1") -> Json:
        found = self.state["sessions"][session]
        assert isinstance(found, dict)
        return found

    @property
    def rows(self) -> list[Json]:
        return log.read(self.space(), 1_000)

    @property
    def whats(self) -> list[str]:
        return [str(row["what"]) for row in self.rows]

    def status(self, session: str = "s1") -> Json:
        [found] = actions.status(self.space(), session)["sessions"]
        assert isinstance(found, dict)
        return found

    def payload(self, event: str, session: str = "s1", **raw: object) -> Payload:
        fields = {
            "session_id": session,
            "transcript_path": str(self.transcript),
            "cwd": str(self.project),
            **raw,
        }
        return claude_code.read(event, fields)

    def space(self) -> Workspace:
        return Workspace(str(self.project), now=self.now, client=self.client)

    def add(self, *records: Json) -> None:
        """To the transcript, written at the moment that it is now."""
        lines.add(self.transcript, *records)
        os.utime(self.transcript, (self.now, self.now))
