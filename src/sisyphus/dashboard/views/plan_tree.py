"""The tasks of a plan by wave and story, as many as a page can show. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sisyphus.boulder.parser.lines import CANCELLED, COMPLETED, Heading
from sisyphus.boulder.parser.plan import Place
from sisyphus.text import line

if TYPE_CHECKING:
    from sisyphus._types import Json, PlanStatus
    from sisyphus.boulder.parser.lines import Box
    from sisyphus.boulder.parser.plan import Plan

MOST_BOXES = 3_000
"""Of a longer plan its beginning is shown, and what is around the next task."""

LINES_AFTER_NEXT = 200


def tree(plan: Plan, status: PlanStatus) -> list[Json]:
    """A section for each wave, and for what is in none between them, in file order:

    `wave` (its row of the status, null = none), `total`, `completed`, `is_current`, and `parts`,
    each with its `story` (its row, null = none), `is_current`, `left_out` (boxes that are not
    shown) and `tasks`. A task: `text`, `status`, `line`, `is_next`, `steps`.
    """
    found = _Tree(plan, status)
    for one in plan:
        if isinstance(one, Heading):
            found.enter(one)
        else:
            found.add(one)
    return found.sections


class _Tree(Place):
    """The sections so far."""

    def __init__(self, plan: Plan, status: PlanStatus) -> None:
        super().__init__()
        self.sections: list[Json] = []
        self._waves = {wave.line: wave for wave in plan.waves}
        self._stories = {story.line: story for story in plan.stories}
        self._rows = {row["line"]: {**row, "name": line(row["name"])} for row in status["waves"]}
        self._told = {row["line"]: _spelled(dict(row)) for row in status["stories"]}
        self._next = status["next_task_line"] or 0
        self._room = MOST_BOXES
        self._task: Json | None = None

    def enter(self, heading: Heading) -> None:
        self.leave(heading)
        if wave := self._waves.get(heading.line):
            self.wave, self.story = wave, None
            self._begin_section()
        elif story := self._stories.get(heading.line):
            self.story = story
            self._begin_part()

    def add(self, box: Box) -> None:
        part, is_shown = self._part(), self._is_shown(box)
        if not box.is_step:
            self._count(box, part)
        if is_shown:
            self._show(box, part)
        else:
            part["left_out"] += 1

    def _show(self, box: Box, part: Json) -> None:
        if not box.is_step:
            self._task = {**_told(box), "is_next": box.line == self._next, "steps": []}
            part["tasks"].append(self._task)
        elif self._task is not None:
            self._task["steps"].append(_told(box))

    def _count(self, box: Box, part: Json) -> None:
        section = self.sections[-1]
        section["total"] += box.status != CANCELLED
        section["completed"] += box.status == COMPLETED
        if box.line == self._next:
            section["is_current"] = part["is_current"] = True

    def _is_shown(self, box: Box) -> bool:
        self._room -= 1
        return self._room >= 0 or 0 <= box.line - self._next < LINES_AFTER_NEXT

    def _section(self) -> Json:
        at = self.wave.line if self.wave else 0
        if not self.sections or self.sections[-1]["line"] != at:
            self._begin_section()
        return self.sections[-1]

    def _begin_section(self) -> None:
        at = self.wave.line if self.wave else 0
        counts = {"total": 0, "completed": 0, "is_current": False}
        self.sections.append({"line": at, "wave": self._rows.get(at), **counts, "parts": []})

    def _part(self) -> Json:
        parts, at = self._section()["parts"], self.story.line if self.story else 0
        if not parts or parts[-1]["line"] != at:
            self._begin_part()
        found: Json = parts[-1]
        return found

    def _begin_part(self) -> None:
        at = self.story.line if self.story else 0
        part = {"line": at, "story": self._told.get(at), "is_current": False}
        self._section()["parts"].append({**part, "tasks": [], "left_out": 0})


def _spelled(story: Json) -> Json:
    return {**story, "id": line(story["id"]), "title": line(story["title"])}


def _told(box: Box) -> Json:
    text = line(box.text) or "a task without words"
    return {"text": text, "status": box.status, "line": box.line}
