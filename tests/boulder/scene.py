"""A home, projects with plans, and sessions that work on them: hooks called as the client calls
them, files as old as the story wants them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from making import know_session, put, stored

from sisyphus.boulder import hooks
from sisyphus.boulder.in_use import global_path
from sisyphus.boulder.store import book_path, history_path, own_record_path, record_in_project
from sisyphus.clients import claude_code
from sisyphus.clients.base import Outcome
from sisyphus.workspace import Workspace

if TYPE_CHECKING:
    from pathlib import Path

    from sisyphus._types import Json

DAY = 86_400
PLAN = "# Ship it\n\n- [x] one\n- [ ] two\n- [ ] three\n"
DONE = PLAN.replace("[ ]", "[x]")
CONTINUATION = """\
[BOULDER STATE DETECTED]

Active plan: Ship it
Progress: 1/3 tasks complete
Plan location: .claude/PLAN.md

Continuing from where you left off."""
ENABLED = "Boulder state tracking enabled for this plan"


class Scene:
    """The clock of sessions is `now`; each write of a plan is a second later than the one before,
    and long ago for the file system, so that it has settled."""

    def __init__(self, home: Path, project: Path) -> None:
        self.home = home / ".claude"
        self.project = project
        self.now = 1_000_000_000.0

    def write(self, text: str, name: str = ".claude/PLAN.md", project: Path | None = None) -> Path:
        """Writes a plan by other means than the client's tools."""
        self.now += 1
        path = put((project or self.project) / name, text)
        os.utime(path, (self.now, self.now))
        return path

    def start(self, session: str = "s1", source: str = "startup", **raw: object) -> Outcome:
        return self._ask("session-start", session, source=source, **raw)

    def prompt(self, text: str = "go on", session: str = "s1", **raw: object) -> Outcome:
        return self._ask("user-prompt-submit", session, prompt=text, **raw)

    def stop(self, session: str = "s1", **raw: object) -> Outcome:
        return self._ask("stop", session, **raw)

    def end(self, session: str = "s1", **raw: object) -> Outcome:
        return self._ask("session-end", session, **raw)

    def compact(self, session: str = "s1", **raw: object) -> Outcome:
        return self._ask("pre-compact", session, **raw)

    def after_clear(self, session: str, before: str) -> Outcome:
        """The client of the session `before` goes on as `session`."""
        know_session(self.home / ".sisyphus", session, before=before)
        return self.start(session, "clear")

    def todo(self, *contents: str, session: str = "s1", **statuses: str) -> Outcome:
        """The model writes its todo list; `statuses` are those of contents that are one word."""
        todos = [{"content": c, "status": statuses.get(c, "pending")} for c in contents]
        return self._ask(
            "post-tool-use", session, tool_name="TodoWrite", tool_input={"todos": todos}
        )

    def tool(self, path: Path, session: str = "s1", **raw: object) -> Outcome:
        """The client wrote `path` by one of its tools."""
        fields = {"tool_name": "Edit", "tool_input": {"file_path": str(path)}, **raw}
        return self._ask("post-tool-use", session, **fields)

    def edit(self, text: str, name: str = ".claude/PLAN.md", **raw: object) -> Outcome:
        return self.tool(self.write(text, name), **raw)  # type: ignore[arg-type]  # raw is free

    def _ask(self, event: str, session: str, **raw: object) -> Outcome:
        payload = claude_code.read(event, {"session_id": session, "cwd": str(self.project), **raw})
        handler = getattr(hooks, f"on_{event.replace('-', '_')}")
        outcome = handler(payload, self.space(payload.cwd))
        return Outcome() if outcome is None else outcome

    def space(self, cwd: str = "") -> Workspace:
        return Workspace(cwd or str(self.project), now=self.now)

    @property
    def in_use(self) -> Json | None:
        """`.boulder.json`."""
        path = self.home / ".boulder.json"
        return stored(path) if path.exists() else None

    @property
    def plan_in_use(self) -> str:
        return str(self.in_use["active_plan"]) if self.in_use else ""

    def book(self, project: Path | None = None) -> Json:
        """The project's `plans.json`."""
        return stored(self.path(book_path(str(self.home), str(project or self.project))))

    def record(self, path: Path, project: Path | None = None) -> Json | None:
        found: Json | None = self.book(project)["plans"].get(str(path))
        return found

    def history(self) -> list[str]:
        path = self.path(history_path(str(self.home), str(self.project)))
        return path.read_text().splitlines() if path.exists() else []

    @property
    def theirs(self) -> Path:
        """The record that the project may hold."""
        return self.path(record_in_project(str(self.project)))

    @property
    def own(self) -> Path:
        """The record where the project holds none."""
        return self.path(own_record_path(str(self.home), str(self.project)))

    def by_hand(self, path: Path, **fields: object) -> None:
        """Somebody edits a record: `fields` are new, those that are None go."""
        import json

        found = {**(stored(path) if path.exists() else {}), **fields}
        put(path, json.dumps({name: value for name, value in found.items() if value is not None}))
        self.now += 1
        os.utime(path, (self.now, self.now))

    def checkpoint(self, path: Path) -> str:
        """The message of a record's checkpoint, "" where it has none."""
        found = stored(path).get("checkpoint") or {}
        return str(found.get("message", ""))

    def events(self) -> list[str]:
        """What the history tells, one word a line."""
        import json

        return [json.loads(line)["outcome"] for line in self.history()]

    def use(self, record: object) -> None:
        """Another tool writes `.boulder.json`."""
        import json

        put(self.path(global_path(str(self.home))), json.dumps(record))

    def path(self, name: str) -> Path:
        return self.home / name


def model(outcome: Outcome) -> str:
    """What the model would be given."""
    return "\n\n".join(piece.body for piece in outcome.texts)


def user(outcome: Outcome) -> str:
    return "\n\n".join(outcome.messages)


def is_silent(outcome: Outcome) -> bool:
    return not (outcome.texts or outcome.messages or outcome.reason)
