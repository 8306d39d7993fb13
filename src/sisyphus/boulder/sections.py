"""A plan's waves with their stories, which of them is worked on, and which stay in sight. Pure."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from sisyphus._types import PlanStatus, StoryStatus, WaveStatus

_BEFORE = 2
"""Unfinished ones that stay in sight above the current one."""


class Section:
    """A wave with its stories; `wave` is None for stories that are in none."""

    __slots__ = ("stories", "wave")

    def __init__(self, wave: WaveStatus | None) -> None:
        self.wave = wave
        self.stories: list[StoryStatus] = []

    @property
    def number(self) -> int | None:
        return self.wave["number"] if self.wave else None

    @property
    def is_done(self) -> bool:
        return self.wave is not None and 0 < self.wave["total"] == self.wave["completed"]


def sections(status: PlanStatus) -> list[Section]:
    """In the order of their lines: a plan may have stories before and behind its waves."""
    waves: list[tuple[int, Section | StoryStatus]]
    waves = [(wave["line"], Section(wave)) for wave in status["waves"]]
    stories = [(story["line"], story) for story in status["stories"]]
    found: list[Section] = []
    for _, part in sorted([*waves, *stories], key=lambda part: part[0]):
        if isinstance(part, Section):
            found.append(part)
            continue
        if not found or found[-1].number != part["wave"]:
            found.append(Section(None))
        found[-1].stories.append(part)
    return found


def current_section(found: Sequence[Section], status: PlanStatus) -> Section | None:
    """The wave that is worked on. A plan may use a number twice: then the one of the next task."""
    numbered = [s for s in found if s.wave and s.number == status["current_wave"]]
    next_line = status["next_task_line"] or 0
    above = [s for s in numbered if s.wave and s.wave["line"] < next_line]
    return next(iter(above[-1:] or numbered), None)


def current_story(found: Sequence[Section], status: PlanStatus) -> StoryStatus | None:
    """The story that is worked on, the one above the next task where two have its id."""
    named = [story for s in found for story in s.stories if story["id"] == status["current_story"]]
    next_line = status["next_task_line"] or 0
    above = [story for story in named if story["line"] < next_line]
    return next(iter(above[-1:] or named), None)


def folds(done: Sequence[bool], current: int, room: int) -> list[tuple[int, int]]:
    """Ranges of a list: one for each item that stays in sight, the `current` one (-1 = none) and
    `room` unfinished ones around it, and one for all between two of them."""
    unfinished = [position for position, is_done in enumerate(done) if not is_done]
    before = unfinished.index(current) if current in unfinished else 0
    first = max(min(before - _BEFORE, len(unfinished) - room), 0)
    seen = {*unfinished[first : first + room], current}
    ranges: list[tuple[int, int]] = []
    for position in range(len(done)):
        if ranges and position not in seen and position - 1 not in seen:
            ranges[-1] = (ranges[-1][0], position + 1)
        else:
            ranges.append((position, position + 1))
    return ranges
