"""Sessions of any course: what they are answered is what a model of a few lines says."""

from __future__ import annotations

import tempfile
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from making import configure, ours
from ralph.lines import result, used

from arbiter.desk import Desk
from sisyphus.ralph.turn import DEEPEST

if TYPE_CHECKING:
    from collections.abc import Sequence

CAP = 8
LIMIT = 4


class Expected:
    """A loop as it should be."""

    def __init__(self, promise: str) -> None:
        self.promise = promise
        self.iteration = 1
        self.paused_by = ""

    def __repr__(self) -> str:
        return f"{self.promise} {self.iteration} {self.paused_by}".strip()


class Session:
    """Does everything twice: to a real desk, and to a stack of loops."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.stack: list[Expected] = []
        self.blocks = 0
        self.number = 0

    def do(self, name: str) -> None:
        self.number += 1
        self.desk.now += 1
        getattr(self, name)()
        found = [f"{x.completion_promise} {x.iteration} {x.paused_by}" for x in self.desk.loops]
        assert [words.strip() for words in found] == [repr(loop) for loop in self.stack]

    # --- what the user does ---

    def types(self) -> None:
        promise = f"T{self.number}"
        args = f'"task" --completion-promise {promise} --max-iterations {LIMIT}'
        self.desk.begin(args=args, prompt_id=f"p{self.number}")
        self.stack, self.blocks = [Expected(promise)], 0

    def speaks(self) -> None:
        self.desk.prompt("go on", f"p{self.number}")
        self.blocks = 0
        if self.stack and self.stack[-1].paused_by == "host cap":
            self.stack[-1].paused_by = ""

    def cancels(self) -> None:
        if self.stack:
            self.desk.cancel()
            self.stack = []

    def pauses(self) -> None:
        if self.stack:
            self.desk.pause()
            self.stack[-1].paused_by = self.stack[-1].paused_by or "user"

    def resumes(self) -> None:
        if self.stack and self.stack[-1].paused_by:
            self.desk.resume()
            self.stack[-1].paused_by, self.blocks = "", 0

    def removes(self) -> None:
        """By hand, the file of the current loop."""
        if self.stack:
            folder = ours(self.desk.home, "ralph/loops")
            current = folder / "ralph-loop.s1.local.md"
            waiting = folder / f"ralph-loop.s1.{self.desk.loop.loop_id}.outer.md"
            (current if current.exists() else waiting).unlink()
            self.stack.pop()

    def compacts(self) -> None:
        self.desk.start("compact")

    # --- what the model does ---

    def nests(self) -> None:
        promise, call = f"N{self.number}", f"toolu_{self.number}"
        args = f'"part" --completion-promise {promise} --max-iterations {LIMIT}'
        self.desk.use(args, call)
        self.desk.add(used("Skill", call, skill="ralph-wiggum:ralph-loop", args=args))
        if len(self.stack) <= DEEPEST:
            self.stack.append(Expected(promise))
        self.blocks = 0  # a tool was called

    def uses_a_tool(self) -> None:
        self.desk.add(used("Read", f"toolu_{self.number}"), result("x", f"toolu_{self.number}"))
        self.blocks = 0

    def works(self) -> None:
        self._stops([])

    def keeps(self) -> None:
        self._stops([loop.promise for loop in self.stack[-1:]])

    def keeps_both(self) -> None:
        self._stops([loop.promise for loop in self.stack[-2:]])

    def keeps_the_outer(self) -> None:
        self._stops([loop.promise for loop in self.stack[-2:-1]])

    def waits(self) -> None:
        self._stops([], is_waiting=True)

    def _stops(self, promises: Sequence[str], *, is_waiting: bool = False) -> None:
        said = "\n\n".join(["words", *(f"<promise>{promise}</promise>" for promise in promises)])
        tasks = [{"id": f"b{self.number}"}] if is_waiting else []
        blocked = self.desk.answer(said, background_tasks=tasks).reason is not None
        assert blocked == self._is_held(promises, is_waiting=is_waiting)
        if not blocked:  # nothing goes on before the user has spoken
            self.speaks()

    def _is_held(self, promises: Sequence[str], *, is_waiting: bool) -> bool:
        stack = self.stack
        while stack and not stack[-1].paused_by and stack[-1].promise in promises:
            stack.pop()
        if is_waiting:
            return False
        while stack and not stack[-1].paused_by and stack[-1].iteration >= LIMIT:
            stack.pop()
        if not stack or stack[-1].paused_by:
            return False
        if self.blocks + 1 >= CAP:
            stack[-1].paused_by = "host cap"
            return False
        self.blocks += 1
        stack[-1].iteration += 1
        return True


DEEDS = [name for name, deed in vars(Session).items() if callable(deed) and name[0] != "_"]
DEEDS.remove("do")


@settings(max_examples=60)
@given(st.lists(st.sampled_from([*DEEDS, "works", "works", "keeps", "nests"]), max_size=30))
def test_a_session_of_any_course_is_answered_as_it_should_be(deeds: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        home, project = Path(folder, "home"), Path(folder, "project")
        (project / ".git").mkdir(parents=True)
        patch.setenv("CLAUDE_CONFIG_DIR", str(home / ".claude"))
        configure("ralph.no_progress", 0)
        configure("ralph.same_error", 0)
        session = Session(Desk(home, project))
        for deed in deeds:
            session.do(deed)
        _assert_sound(session)


def _assert_sound(session: Session) -> None:
    """Each loop was logged once where it began and at most once where it ended."""
    log = session.desk.log
    began = Counter(line["loop_id"] for line in log if line["status"] == "active")
    ended = Counter(line["loop_id"] for line in log if line["status"] == "completed")
    assert set(began.values()) <= {1}
    assert set(ended.values()) <= {1}
    assert ended.keys() <= began.keys()
    left = {loop.loop_id for loop in session.desk.loops}
    assert left.isdisjoint(ended)
    for loop_id in began:
        numbers = [row["iteration"] for row in session.desk.rows(loop_id)]
        assert numbers == sorted(numbers)
