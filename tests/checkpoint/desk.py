"""A session whose context fills up: its transcript, its hooks, and what each is answered."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from making import HANG_SECONDS, ours, put, stored
from ralph import lines

from checkpoint.telling import answer
from sisyphus.checkpoint import handoffs, store
from sisyphus.checkpoint.size import gauge
from sisyphus.clients import claude_code
from sisyphus.clients.base import Outcome, Payload, merge
from sisyphus.hook.routes import ROUTES
from sisyphus.ralph.store import LoopStore
from sisyphus.times import iso
from sisyphus.workspace import Workspace

if TYPE_CHECKING:
    import pytest

    from sisyphus._types import Checkpoint, Json
    from sisyphus.ralph.loop import Loop

NOW = 1_795_200_000.0  # a day later than the lines
DAY = 86_400
SMALL, LARGE = 200_000, 1_000_000
MODEL = "claude-sonnet-4-5"
PLAN = "# Ship it\n\n- [x] one\n- [ ] two\n- [ ] three\n"
LOOP = '"do it" --completion-promise "DONE"'
PROMISE = "All is well.\n\n<promise>DONE</promise>"
RESUME = "CONTEXT CHECKPOINT RESUME"


class Desk:
    """The session "s1" of a model with a window of 200,000 tokens in `project`.

    The clock stands still unless `now` is moved; every event asks all handlers that it has.
    """

    def __init__(self, home: Path, project: Path) -> None:
        self.home = home
        self.project = project
        self.now = NOW
        self._calls = 0

    # --- the client's side ----------------------------------------------------------------------

    def transcript(self, session: str = "s1") -> Path:
        return self.home / ".claude" / "projects" / "p" / f"{session}.jsonl"

    def add(self, *records: object, session: str = "s1") -> None:
        lines.add(self.transcript(session), *records)
        os.utime(self.transcript(session), (self.now, self.now))

    def fill(
        self, percent: float, *, window: int = SMALL, session: str = "s1", **fields: Any
    ) -> str:
        """An answer that calls a tool and finds so much of the window in use; the call's id."""
        self._calls += 1
        call = f"toolu_{self._calls}"
        record = lines.used("Read", call, file_path=str(self.project / "a.py"))
        record["message"]["usage"] = answer(round(window * percent / 100))["message"]["usage"]
        record["message"] |= {"id": f"m{self._calls}", "model": MODEL}
        self.add({**record, "timestamp": iso(self.now), **fields}, session=session)
        return call

    def reach(self, percent: float, session: str = "s1", **fields: Any) -> Outcome:
        """A tool was called by an answer that finds the context so full."""
        return self.batch(self.fill(percent, session=session, **fields), session=session)

    def batch(self, *calls: str, session: str = "s1", **raw: object) -> Outcome:
        """All tools of one answer are through."""
        rows = [{"tool_name": "Read", "tool_use_id": call} for call in calls]
        return self.ask("post-tool-use", session, tool_calls=rows, **raw)

    def prompt(self, text: str = "go on", session: str = "s1", **raw: object) -> Outcome:
        return self.ask("user-prompt-submit", session, **{"prompt": text, "prompt_id": "p9", **raw})

    def stop(self, message: str = "I stop here.", session: str = "s1", **raw: object) -> Outcome:
        return self.ask("stop", session, last_assistant_message=message, **raw)

    def start(self, source: str = "startup", session: str = "s1", **raw: object) -> Outcome:
        return self.ask("session-start", session, source=source, **raw)

    def compact(self, session: str = "s1", **raw: object) -> Outcome:
        return self.ask("pre-compact", session, trigger="auto", **raw)

    def end(self, session: str = "s1", reason: str = "other") -> Outcome:
        return self.ask("session-end", session, reason=reason)

    def ask(self, event: str, session: str = "s1", **raw: object) -> Outcome:
        """What the handlers of the event want, as one."""
        return merge(self._handlers(event, self.payload(event, session, **raw)))

    def payload(self, event: str, session: str = "s1", **raw: object) -> Payload:
        return claude_code.read(event, self.raw(session, **raw))

    def raw(self, session: str = "s1", **raw: object) -> Json:
        return {
            "session_id": session,
            "transcript_path": str(self.transcript(session)),
            "cwd": str(self.project),
            **raw,
        }

    def _handlers(self, event: str, payload: Payload) -> list[Outcome | None]:
        space = self.space()
        outcomes = []
        for route in ROUTES[event]:
            module, _, function = route.partition(":")
            __import__(module)
            outcomes.append(getattr(sys.modules[module], function)(payload, space))
        with space.memory.transaction():
            for outcome in filter(None, outcomes):
                for change in outcome.changes:
                    change.apply(space.memory)
        return outcomes

    def write_late(self, percent: float, monkeypatch: pytest.MonkeyPatch) -> list[float]:
        """The next answer is written as soon as somebody waits for it; who waited, and how long."""
        waited: list[float] = []

        def wait(seconds: float) -> None:
            waited.append(seconds)
            self.fill(percent)

        monkeypatch.setattr(gauge, "LATE_SECONDS", HANG_SECONDS)
        monkeypatch.setattr(time, "sleep", wait)
        return waited

    # --- the user's side ------------------------------------------------------------------------

    def begin_loop(self, session: str = "s1", args: str = LOOP) -> Loop:
        """The user types a loop, hook first."""
        self.prompt(f"/ralph-wiggum:ralph-loop {args}", session, prompt_id="p1")
        self.add(lines.typed(args, prompt_id="p1"), session=session)
        return self.loop(session)

    def begin_plan(self, session: str = "s1") -> None:
        put(self.project / ".claude" / "PLAN.md", PLAN)
        self.start(session=session)

    # --- what is left behind --------------------------------------------------------------------

    @property
    def ours(self) -> str:
        return str(ours(self.home, "")).rstrip("/")

    def space(self) -> Workspace:
        return Workspace(str(self.project), now=self.now)

    def loop(self, session: str = "s1") -> Loop:
        with LoopStore(self.ours, session) as held:
            return held.loops[-1]

    def known(self, session: str = "s1") -> Json:
        return store.glance(self.ours, session)

    @property
    def index(self) -> Path:
        """The project's `handoffs.json`."""
        return Path(handoffs.path(self.ours, self.space().root))

    @property
    def entries(self) -> list[Checkpoint]:
        return handoffs.read(self.ours, self.space().root)

    @property
    def waiting(self) -> list[Checkpoint]:
        return handoffs.active(self.ours, self.space().root)

    @property
    def files(self) -> list[Path]:
        """The handoffs in the project; a second one of a minute is called `…-2.md`."""
        found = (self.project / ".claude" / "handoffs").glob("*.md")
        return sorted(found, key=lambda path: (len(path.name), path.name))

    def book(self) -> Json:
        return stored(self.index)


def model(outcome: Outcome) -> str:
    """What the model is given, reasons aside."""
    return "\n\n".join(piece.body for piece in outcome.texts if piece.kind == "checkpoint")


def first_line(outcome: Outcome) -> str:
    return model(outcome).partition("\n")[0]


def user(outcome: Outcome) -> str:
    return "\n\n".join(outcome.messages)
