"""A past as hooks leave it behind: many loops that ended, some that have not, journals, plans.

The same for the same arguments. The doors that hooks write through are used, so that what is read
back is what they write.
"""

from __future__ import annotations

import json
import os
import random
from typing import TYPE_CHECKING

from making import run_hook

from sisyphus.memory import open_memory
from sisyphus.ralph import iterations, statefile, store
from sisyphus.ralph import loop as lp
from sisyphus.ralph.checklists import checklist_store, criteria
from sisyphus.ralph.loop import Loop
from sisyphus.ralph.past import history
from sisyphus.session import store as sessions
from sisyphus.state.files import ensure_folder, write_text
from sisyphus.times import epoch, iso

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from sisyphus._types import Json

NAMES = ("shop", "billing", "search", "docs-site", "mailer", "importer", "api", "mobile")
TOLD = 200
"""So many of the loops that ended last have rows, texts and a journal."""

_OUTCOMES = (
    *[(lp.SUCCESS, "")] * 7,
    (lp.MAX_ITERATIONS, "iteration 40 of 40"),
    (lp.CANCELLED, ""),
    (lp.LIMIT, "240 minutes are over"),
    (lp.STUCK, "5 stops in a row without progress: 2 failing tests stayed the same"),
    (lp.ABANDONED, "its session began anew"),
)  # fmt: skip
_WENT_ON = ("blocked", "the promise was not made")
_LAST = {lp.SUCCESS: ("ended", "promise kept")}
"""What was decided at the last Stop of a loop that ended so; of any other, why it ended."""
_VERBS = ("Build", "Fix", "Migrate", "Test", "Document", "Speed up", "Rewrite", "Translate")
_THINGS = ("the cart", "the invoice export", "the login page", "the importer of prices",
           "the search index", "the mail queue", "the settings screen")  # fmt: skip
_TAILS = ("until all tests pass.", "as the plan says.", "without a new dependency.",
          "and keep the old interface.")  # fmt: skip
_SAID = """\
I looked at the failing tests first. Two of them share a fixture that is set up twice, so the second
one reads what the first one wrote.

Next I moved the fixture into the module and ran the suite again: 41 passed, 2 failed. The rest is
about rounding.
"""
_EVENTS = ("user-prompt-submit", "post-tool-use", "post-tool-use", "post-tool-batch", "stop")
_BETWEEN = 1_740.0  # seconds from one loop's start to that of the next


class Past:
    """`ours`: our folder in the client's; `now`: epoch seconds; `roots`: the projects' folders."""

    def __init__(self, ours: str, now: float, roots: Sequence[str]) -> None:
        self.ours = ours
        self.now = now
        self.roots = roots
        self._dice = random.Random(0)  # noqa: S311  # no secret

    def write(self, ended: int, active: int) -> list[Loop]:
        """Returns the loops that have not ended, the oldest first."""
        for back in range(ended, 0, -1):
            self._ended(back, is_told=back <= TOLD)
        return [self._active(number) for number in range(active)]

    def go_on(self, loop: Loop) -> None:
        """One more iteration of a loop, as a Stop leaves it."""
        loop.advance()
        self._save(loop)

    def _ended(self, back: int, *, is_told: bool) -> None:
        loop = self._loop(f"e{back:04x}", self.now - 7_200 - back * _BETWEEN)
        loop.iteration = 1 + int(self._dice.triangular(0, 39, 3))
        seconds = loop.iteration * self._dice.uniform(40, 600)
        outcome, why = self._dice.choice(_OUTCOMES)
        history.started(self.ours, loop, store.loop_path(self.ours, loop.session_id))
        history.ended(self.ours, loop, outcome, epoch(loop.started_at) + seconds, why)
        if is_told:
            self._tell(loop, seconds, last=_LAST.get(outcome, ("ended", why)))

    def _active(self, number: int) -> Loop:
        loop = self._loop(f"a{number:04x}", self.now - 6_000 + number)
        loop.iteration = 1 + number % 12
        if number % 10 == 9:
            loop.pause(lp.BY_USER, self.now - 60)
        history.started(self.ours, loop, store.loop_path(self.ours, loop.session_id))
        self._tell(loop, 5_000)
        self._save(loop)
        return loop

    def _loop(self, loop_id: str, began: float) -> Loop:
        task = " ".join(map(self._dice.choice, (_VERBS, _THINGS, _TAILS)))
        loop = Loop(f"5e551017-0000-4000-8000-0000000{loop_id}", loop_id, task)
        loop.project = self._dice.choice(self.roots)
        loop.started_at = loop.turned_at = iso(began)
        loop.max_iterations = self._dice.choice((40, 100))
        loop.completion_promise = self._dice.choice(("DONE", "ALL TESTS PASS", None))
        return loop

    def _save(self, loop: Loop) -> None:
        path = store.loop_path(self.ours, loop.session_id)
        ensure_folder(os.path.dirname(path))
        write_text(path, statefile.render(loop))

    def _tell(self, loop: Loop, seconds: float, last: tuple[str, str] = _WENT_ON) -> None:
        """`last`: what was decided at the last of its Stops, and why."""
        began, each = epoch(loop.started_at), seconds / loop.iteration
        for number in range(1, loop.iteration + 1):
            row = self._row(number, began, each, last if number == loop.iteration else _WENT_ON)
            loop.tokens += row["tokens"]
            iterations.note(self.ours, loop.loop_id, row, _SAID)
        self._journal(loop, began, each)
        if loop.iteration % 3 == 0:
            self._checklist(loop, began)

    def _row(self, number: int, began: float, each: float, decided: tuple[str, str]) -> Json:
        return {
            "iteration": number,
            "started_at": iso(began + each * (number - 1)),
            "ended_at": iso(began + each * number),
            "decision": decided[0],
            "why": decided[1],
            "tools": self._dice.randrange(40),
            "edits": self._dice.randrange(9),
            "tokens": self._dice.randrange(1_000, 60_000),
            "context": round(9 + number * 53 / 7 % 64 + self._dice.uniform(0, 5), 1),
        }

    def _journal(self, loop: Loop, began: float, each: float) -> None:
        """In the memory's own tables, which are documented for whoever asks them."""
        memory = open_memory(self.ours)
        events = [("session-start", began)]
        for number in range(loop.iteration):
            events += [(event, began + each * number + at) for at, event in enumerate(_EVENTS)]
        with memory.transaction():
            n = sessions.number(memory, "claude", loop.session_id, "")
            for event, at in events:
                sent = self._dice.choice((0, 0, 0, 1_900))
                ms = round(self._dice.uniform(2, 30), 1)
                notes = json.dumps(["sent README.md"] if sent else [])
                texts = json.dumps(["readme README.md"] if sent else [])
                memory.write(
                    "INSERT INTO event (session, at, event, ms, sent, blocked, is_silent, notes, "
                    "texts) VALUES (?, ?, ?, ?, ?, ?, 0, ?, ?)",
                    n, at, event, ms, sent, event == "stop", notes, texts,
                )  # fmt: skip
                memory.write(
                    "UPDATE session SET project = ?, began_at = ?, seen_at = ?, hooks = hooks + 1, "
                    "ms = ms + ?, units = units + ?, blocks = blocks + ? WHERE n = ?",
                    loop.project, began, at, ms, sent, event == "stop", n,
                )  # fmt: skip

    def _checklist(self, loop: Loop, began: float) -> None:
        at = iso(began)
        head = {"loop_id": loop.loop_id, "session_id": loop.session_id, "project": loop.project}
        texts = ("all tests pass", "the README tells of it", "nobody is locked out")
        checklist_store.update(self.ours, head, at, lambda found: criteria.added(found, texts, at))


def projects(folder: Path, environment: Mapping[str, str]) -> list[str]:
    """Projects with a plan each, which a session has met; a project is a folder below `folder`."""
    roots = [folder / name for name in NAMES]
    for number, root in enumerate(roots):
        (root / ".git").mkdir(parents=True)
        (root / ".claude").mkdir()
        (root / ".claude/PLAN.md").write_text(_plan(root.name, number), encoding="utf-8")
        met = {"session_id": f"meets-{root.name}", "cwd": str(root), "source": "startup"}
        run_hook("session-start", met, env={**environment}, cwd=root)
    return [os.path.realpath(root) for root in roots]


def _plan(name: str, done: int) -> str:
    tasks = [f"- [{'x' if n < done else ' '}] Step {n + 1} of {name}" for n in range(12)]
    waves = ["## Wave 1: Ground", *tasks[:6], "", "## Wave 2: Walls", *tasks[6:]]
    return "\n".join([f"# {name.capitalize()}", "", *waves, ""])
