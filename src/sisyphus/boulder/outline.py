"""Waves and stories of a plan as rows: a short plan's all, of a long one what matters. Pure."""

from __future__ import annotations

from sisyphus.boulder.sections import current_section, current_story, folds, sections
from sisyphus.style import BEGUN, BLOCKED, CURRENT, DONE, PENDING, plain
from sisyphus.text import line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from sisyphus._types import PlanStatus, StoryStatus, WaveStatus
    from sisyphus.boulder.sections import Section
    from sisyphus.style import Paint, Row, Style

MAX_ROWS = 24
"""What is longer is folded."""

_WAVES = 8
_STORIES = 10
_BAR = 10
_LEAST_WIDTH_WITH_BARS = 60
_GAP = 2
_STATUSES = {"completed": DONE, "in_progress": BEGUN, "blocked": BLOCKED}


class Outline:
    """The waves and stories of one status, for a terminal of `width` characters."""

    __slots__ = (
        "_bar", "_counts_width", "_name_width", "_section", "_sections", "_story", "_style",
        "_width",
    )  # fmt: skip

    def __init__(self, status: PlanStatus, style: Style, width: int) -> None:
        self._style = style
        self._width = width
        self._sections = sections(status)
        self._section = current_section(self._sections, status)
        self._story = current_story(self._sections, status)
        self._bar = _BAR if width >= _LEAST_WIDTH_WITH_BARS else 0
        self._align(status["waves"])

    def _align(self, waves: Sequence[WaveStatus]) -> None:
        """Counts stand below each other, and behind names that are cut for that."""
        blocked = max((len(_blocked(wave)) for wave in waves), default=0)
        self._counts_width = max((len(_counts(wave)) for wave in waves), default=0)
        names = max((len(self._name(wave)) for wave in waves), default=0)
        beside = len("> ") + self._bar + self._counts_width + blocked + 2 * _GAP
        self._name_width = max(min(names, self._width - beside), 0)

    def rows(self) -> list[Row]:
        if sum(1 + len(section.stories) for section in self._sections) > MAX_ROWS:
            return self._folded()
        rows: list[Row] = []
        for section in self._sections:
            rows += [self._wave_row(section.wave, section)] if section.wave else []
            rows += [self._story_row(story) for story in section.stories]
        return rows

    def _folded(self) -> list[Row]:
        rows: list[Row] = []
        done = [section.is_done for section in self._sections]
        at = self._sections.index(self._section) if self._section else -1
        for start, end in folds(done, at, _WAVES):
            if end - start > 1:
                rows.append(self._fold("waves", done[start:end], "  "))
                continue
            section = self._sections[start]
            rows += [self._wave_row(section.wave, section)] if section.wave else []
            rows += self._folded_stories(section)
        return rows

    def _folded_stories(self, section: Section) -> list[Row]:
        """Of the current wave, and of what is in no wave."""
        if section.wave and section is not self._section:
            return []
        rows: list[Row] = []
        indent = "    " if section.wave else "  "
        done = [story["status"] == "completed" for story in section.stories]
        at = next((i for i, story in enumerate(section.stories) if story is self._story), -1)
        for start, end in folds(done, at, _STORIES):
            if end - start > 1:
                rows.append(self._fold("stories", done[start:end], indent))
            else:
                rows.append(self._story_row(section.stories[start]))
        return rows

    def _wave_row(self, wave: WaveStatus, section: Section) -> Row:
        style = self._style
        is_current = section is self._section
        mark = style.marks[CURRENT] if is_current else " "
        name = style.cut(self._name(wave), self._name_width).ljust(self._name_width)
        bar = style.bar(wave["completed"], wave["total"], self._bar) if self._bar else ""
        return [
            (f"{mark} {name}", self._paint(is_current=is_current, is_done=section.is_done)),
            (f"  {bar}", style.green),
            (f"  {_counts(wave).rjust(self._counts_width)}", plain),
            (_blocked(wave), style.yellow),
        ]

    def _story_row(self, story: StoryStatus) -> Row:
        style, status = self._style, _STATUSES.get(story["status"], PENDING)
        is_current = story is self._story and status != DONE
        mark = CURRENT if is_current and status != BLOCKED else status
        paint = self._paint(is_current=is_current, is_done=status == DONE)
        indent = "  " if story["wave"] is None else "    "
        counts = f"  {_counts(story)}"
        name = f"{line(story['id'])} {line(story['title'])}".rstrip()
        room = self._width - len(f"{indent}{mark[0]} {counts}")
        return [
            (f"{indent}{style.marks[mark]} ", self._mark_paint(mark, paint)),
            (style.cut(name, room), paint),
            (counts, style.dim),
        ]

    def _fold(self, noun: str, done: Sequence[bool], indent: str) -> Row:
        count, finished = len(done), sum(done)
        what = f"{count} finished {noun}" if finished == count else f"{count} more {noun}"
        aside = f", {finished} of them finished" if 0 < finished < count else ""
        return [(f"{indent}{self._style.dots} {what}{aside}", self._style.dim)]

    def _name(self, wave: WaveStatus) -> str:
        name = line(wave["name"])
        return f"Wave {wave['number']}" + (f" {self._style.dash} {name}" if name else "")

    def _paint(self, *, is_current: bool, is_done: bool) -> Paint:
        if is_current:
            return self._style.bold
        return self._style.dim if is_done else plain

    def _mark_paint(self, mark: str, paint: Paint) -> Paint:
        return {DONE: self._style.green, BLOCKED: self._style.yellow}.get(mark, paint)


def _counts(part: WaveStatus | StoryStatus) -> str:
    return f"{part['completed']}/{part['total']}"


def _blocked(wave: WaveStatus) -> str:
    return f"  {wave['blocked']} blocked" if wave["blocked"] else ""
