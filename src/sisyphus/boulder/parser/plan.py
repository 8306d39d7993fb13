"""A Markdown checklist as a plan: what it counts, what comes next, its waves and stories. Pure."""

from __future__ import annotations

import re
from itertools import islice

from sisyphus.boulder.parser.lines import (
    BLOCKED,
    CANCELLED,
    COMPLETED,
    IN_PROGRESS,
    OPEN,
    Box,
    Heading,
    Lines,
)
from sisyphus.boulder.parser.names import read_frontmatter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Literal

    from sisyphus._types import Progress
    from sisyphus.boulder.parser.stories import RecordStory

    StoryState = Literal["pending", "in_progress", "completed", "blocked"]

MAX_PARTS = 1_000
"""Waves, and stories, of one plan; what a further heading of that kind holds is in none. Half a
million of them in 5 MB took 190 MB. Also the tasks that all waves together keep."""

_WAVE_LEVELS = (2, 3)
_WAVE = re.compile(r"(?:Wave|wave|WAVE) +([0-9]{1,9})(?: *[\u2014\u2013:-] *| +|$)(.*)")
STORY = re.compile(r"(S[0-9]{1,9})(?:: *| +[\u2014\u2013-](?: +|$))(.*)")


class Counts:
    """How many tasks (or steps) have each status. Cancelled ones leave the total."""

    __slots__ = ("by_status",)

    def __init__(self) -> None:
        self.by_status = dict.fromkeys((OPEN, COMPLETED, BLOCKED, IN_PROGRESS, CANCELLED), 0)

    @property
    def total(self) -> int:
        return sum(self.by_status.values()) - self.by_status[CANCELLED]

    @property
    def completed(self) -> int:
        return self.by_status[COMPLETED]

    @property
    def blocked(self) -> int:
        return self.by_status[BLOCKED]

    def add(self, other: Counts) -> None:
        for status, number in other.by_status.items():
            self.by_status[status] += number

    def story_status(self, is_current: bool) -> StoryState:
        """Of a story with these tasks; `is_current`: it is the one worked on now."""
        count, total = self.by_status, self.total
        if total and count[COMPLETED] == total:
            return "completed"
        if count[BLOCKED] and count[COMPLETED] + count[BLOCKED] == total:
            return "blocked"
        has_begun = count[COMPLETED] or count[IN_PROGRESS] or is_current
        return "in_progress" if has_begun else "pending"


class Wave:
    """The tasks from a heading `Wave N — name` to the next heading of its level or above."""

    __slots__ = ("counts", "has_stories", "level", "line", "name", "next", "number", "tasks")

    def __init__(self, number: int, name: str, heading: Heading) -> None:
        self.number = number
        self.name = name
        self.level = heading.level
        self.line = heading.line
        self.counts = Counts()
        self.next: Box | None = None  # the first task in progress, else the first open one
        self.has_stories = False
        self.tasks: list[Box] = []  # of a wave without stories, and of all of them `MAX_PARTS`


class Story:
    """The tasks from a heading `SNN: title` to the next heading of its level or above."""

    __slots__ = ("counts", "id", "level", "line", "next", "title", "wave")

    def __init__(self, story_id: str, title: str, heading: Heading, wave: int | None) -> None:
        self.id = story_id
        self.title = title
        self.level = heading.level
        self.line = heading.line
        self.wave = wave
        self.next: Box | None = None  # as of a wave
        self.counts = Counts()

    def status(self, current: Story | None) -> StoryState:
        """pending, in_progress, blocked or completed; `current` is the story worked on now."""
        return self.counts.story_status(self is current)


class Plan:
    """What `parse` found. `title` is "" where neither frontmatter nor a heading names the plan."""

    __slots__ = (
        "_body", "counts", "current_story", "current_wave", "next", "step_counts", "stories",
        "story_rows", "title", "waves",
    )  # fmt: skip

    def __init__(self, title: str, body: Iterable[Box | Heading]) -> None:
        self._body = body
        self.title = title
        self.counts = Counts()
        self.step_counts = Counts()
        self.waves: list[Wave] = []
        self.stories: list[Story] = []
        self.next: Box | None = None  # the first task in progress, else the first open one
        self.current_wave: Wave | None = None
        self.current_story: Story | None = None
        self.story_rows: list[RecordStory] | None = None  # worked out where somebody asks

    def __iter__(self) -> Iterator[Box | Heading]:
        """Its boxes and headings in file order, read anew at each call."""
        return iter(self._body)

    @property
    def tasks(self) -> list[Box]:
        """Listed anew at each call: the hooks need counts, and a plan of 5 MB has 800,000 boxes."""
        return [box for box in self._body if isinstance(box, Box) and not box.is_step]

    def first_tasks(self, most: int) -> list[Box]:
        tasks = (box for box in self._body if isinstance(box, Box) and not box.is_step)
        return list(islice(tasks, most))

    @property
    def steps(self) -> list[Box]:
        return [box for box in self._body if isinstance(box, Box) and box.is_step]

    @property
    def has_tasks(self) -> bool:
        return self.counts.total > 0

    @property
    def is_complete(self) -> bool:
        """All of at least one task done; blocked ones are not."""
        return 0 < self.counts.total == self.counts.completed

    @property
    def next_task(self) -> str | None:
        return self.next.text if self.next else None

    def progress(self) -> Progress:
        count = self.counts.by_status
        return {
            "total": self.counts.total,
            "completed": count[COMPLETED],
            "blocked": count[BLOCKED],
            "in_progress": count[IN_PROGRESS],
            "cancelled": count[CANCELLED],
            "steps_total": self.step_counts.total,
            "steps_completed": self.step_counts.completed,
        }


def parse(text: str) -> Plan:
    """The plan in a Markdown text with any line ends; one without tasks is a plan too."""
    text = text.removeprefix("\ufeff")
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    start, title = read_frontmatter(text)
    body = Lines(text[start:], text.count("\n", 0, start) + 1)
    outline = _Outline(Plan(title, body))
    for found in body:
        if isinstance(found, Heading):
            outline.enter(found)
        else:
            outline.add(found)
    return outline.plan


class Place:
    """The wave and the story that the next box belongs to."""

    __slots__ = ("story", "wave")

    def __init__(self) -> None:
        self.wave: Wave | None = None
        self.story: Story | None = None

    def leave(self, heading: Heading) -> None:
        """What a heading of its level ends, whatever it says."""
        if self.story and heading.level <= self.story.level:
            self.story = None
        if self.wave and heading.level <= self.wave.level:
            self.wave = None


class _Outline(Place):
    """The plan so far."""

    __slots__ = ("_kept", "_started", "plan")

    def __init__(self, plan: Plan) -> None:
        super().__init__()
        self.plan = plan
        self._kept = 0  # tasks in all waves' lists
        self._started = False  # `plan.next` is in progress: no later task takes its place

    def enter(self, heading: Heading) -> None:
        if heading.level == 1 and not self.plan.title:
            self.plan.title = heading.text
        self.leave(heading)
        if wave := _WAVE.fullmatch(heading.text) if self._may_be_wave(heading.level) else None:
            self.wave, self.story = Wave(int(wave[1]), wave[2].strip(), heading), None
            self.plan.waves.append(self.wave)
        elif story := STORY.fullmatch(heading.text) if self._may_be_story(heading.level) else None:
            number = self.wave.number if self.wave else None
            self.story = Story(story[1], story[2].strip(), heading, number)
            self.plan.stories.append(self.story)
            self._give_up_tasks()

    def _may_be_wave(self, level: int) -> bool:
        return level in _WAVE_LEVELS and len(self.plan.waves) < MAX_PARTS

    def _may_be_story(self, level: int) -> bool:
        """Whether it is the level below the story's wave, or below one that a wave could have."""
        waves = (self.wave.level,) if self.wave else _WAVE_LEVELS
        return level - 1 in waves and len(self.plan.stories) < MAX_PARTS

    def _give_up_tasks(self) -> None:
        """A wave with a story keeps no tasks."""
        if self.wave:
            self._kept -= len(self.wave.tasks)
            self.wave.has_stories, self.wave.tasks = True, []

    def add(self, box: Box) -> None:
        plan, wave = self.plan, self.wave
        if box.is_step:
            plan.step_counts.by_status[box.status] += 1
            return
        plan.counts.by_status[box.status] += 1
        for part in (wave, self.story):
            if part:
                part.counts.by_status[box.status] += 1
                part.next = _earlier(part.next, box)
        if wave and not wave.has_stories and self._kept < MAX_PARTS:
            wave.tasks.append(box)
            self._kept += 1
        self._consider(box)

    def _consider(self, box: Box) -> None:
        """Makes `box` the next task where it comes before the one known so far."""
        starts = box.status == IN_PROGRESS and not self._started
        if starts or (box.status == OPEN and not self.plan.next):
            self._started = starts
            self.plan.next = box
            self.plan.current_wave, self.plan.current_story = self.wave, self.story


def _earlier(known: Box | None, box: Box) -> Box | None:
    """Which of the two is the next task; `box` comes later in the file."""
    if known is None:
        return box if box.status in (OPEN, IN_PROGRESS) else None
    return box if known.status == OPEN and box.status == IN_PROGRESS else known
