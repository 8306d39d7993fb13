"""The items of a run: the boxes of `fix_plan.md`, which the model ticks."""

from __future__ import annotations

import os

from sisyphus.boulder.parser.lines import (
    BLOCKED,
    COMPLETED,
    IN_PROGRESS,
    OPEN,
    Box,
    Lines,
)
from sisyphus.boulder.parser.names import read_frontmatter
from sisyphus.errors import UnreadableError
from sisyphus.reading import PLAN_BYTES, read_text
from sisyphus.runner.keep.places import FIX_PLANS
from sisyphus.text import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus.runner.keep.state import Run

MOST_ITEMS = 1_000
"""That are open, done and blocked each."""

ITEM_CHARACTERS = 300
BLOCKED_ITEMS = "blocked_items"


class FixPlan:
    """`path` relative to the project, "" = there is none. `todo`: the open items in order, those
    in progress first. `steps`, `blocked_steps`: an item's steps that are not done, by its text.
    `problem`: why the file is not read."""

    __slots__ = ("blocked", "blocked_steps", "done", "path", "problem", "steps", "todo")

    def __init__(self, path: str = "") -> None:
        self.path = path
        self.problem = ""
        self.todo: list[str] = []
        self.done: list[str] = []
        self.blocked: list[str] = []
        self.steps: dict[str, list[str]] = {}
        self.blocked_steps: dict[str, list[str]] = {}

    @property
    def is_done(self) -> bool:
        return bool(self.done) and not self.todo and not self.blocked

    @property
    def why_blocked(self) -> str:
        """Why nobody can work on it, "" = somebody can."""
        is_blocked = bool(self.blocked) and not self.todo
        return f"every open item of {self.path} is blocked" if is_blocked else ""

    def is_in_steps(self, item: str) -> bool:
        return item in self.steps or item in self.blocked_steps

    def note_in(self, run: Run) -> None:
        """In the run's state the items stand as they are now; without a plan, as they were."""
        if self.path and not self.problem:
            run.todo_items, run.completed_items = list(self.todo), list(self.done)
            run.extra[BLOCKED_ITEMS] = list(self.blocked)

    @property
    def total(self) -> int:
        return len(self.todo) + len(self.done) + len(self.blocked)


class _Item:
    """A box at the margin, and the boxes below it."""

    __slots__ = ("blocked", "open", "status", "text")

    def __init__(self, text: str, status: str) -> None:
        self.text = text
        self.status = status
        self.open: list[str] = []
        self.blocked: list[str] = []

    def add(self, step: str, status: str) -> None:
        if status in (OPEN, IN_PROGRESS):
            self.open.append(step)
        elif status == BLOCKED:
            self.blocked.append(step)

    @property
    def standing(self) -> str:
        """An item whose steps are not all done is not done, whatever its own box says."""
        if self.status == COMPLETED and self.open:
            return OPEN
        return BLOCKED if self.status == COMPLETED and self.blocked else self.status


def blocked_in(run: Run) -> int:
    """How many items were blocked when the plan was read last."""
    found = run.extra.get(BLOCKED_ITEMS)
    return len(found) if isinstance(found, list) else 0


def read(root: str) -> FixPlan:
    """The plan of the project at `root`: `.claude/fix_plan.md`, else `fix_plan.md`."""
    for name in FIX_PLANS:
        path = os.path.join(root, name)
        if os.path.lexists(path):
            return _read(path, root, name.replace(os.sep, "/"))
    return FixPlan()


def _read(path: str, root: str, name: str) -> FixPlan:
    try:
        return parse(read_text(path, PLAN_BYTES, root), name)
    except UnreadableError as error:
        found = FixPlan(name)
        found.problem = str(error)
        return found


def parse(text: str, path: str = "") -> FixPlan:
    """By the rules of plans: a nested box below a box is a step of it and no item of its own."""
    plan = FixPlan(path)
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    start, _ = read_frontmatter(text)
    items = _items(text[start:])
    by_standing: dict[str, list[_Item]] = {}
    for item in items:
        by_standing.setdefault(item.standing, []).append(item)
    todo = [*by_standing.get(IN_PROGRESS, []), *by_standing.get(OPEN, [])][:MOST_ITEMS]
    plan.todo = [item.text for item in todo]
    plan.done = [item.text for item in by_standing.get(COMPLETED, [])][:MOST_ITEMS]
    plan.blocked = [item.text for item in by_standing.get(BLOCKED, [])][:MOST_ITEMS]
    for item in todo:
        _keep(plan.steps, item.text, item.open)
        _keep(plan.blocked_steps, item.text, item.blocked)
    return plan


def _items(text: str) -> list[_Item]:
    found: list[_Item] = []
    for box in Lines(text):
        if isinstance(box, Box):
            words = one_line(box.text, ITEM_CHARACTERS) or f"the item in line {box.line}"
            if not box.is_step:
                found.append(_Item(words, box.status))
            elif found:
                found[-1].add(words, box.status)
    return found


def _keep(steps: dict[str, list[str]], item: str, more: list[str]) -> None:
    if more:
        steps[item] = [*steps.get(item, []), *more]
