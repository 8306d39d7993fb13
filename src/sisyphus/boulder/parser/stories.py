"""The stories of a plan as the project's record tells of them. Pure.

A story is a heading `SNN: title`, or a task of a wave that has no such heading. The id of a task
does not depend on what is done: on the words and the places of the tasks before it alone.
"""

from __future__ import annotations

import re

from sisyphus.boulder.parser.lines import BLOCKED, CANCELLED, COMPLETED, IN_PROGRESS
from sisyphus.boulder.parser.plan import MAX_PARTS, STORY, Counts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import TypedDict

    from sisyphus.boulder.parser.lines import Box
    from sisyphus.boulder.parser.plan import Plan, Story, StoryState, Wave

    class StoryProgress(TypedDict):
        status: StoryState
        wave: int | None

    class PlanProgress(TypedDict):
        totalStories: int
        completedStories: int
        stories: dict[str, StoryProgress]


_OF_TASK: dict[str, StoryState] = {
    COMPLETED: "completed", BLOCKED: "blocked", IN_PROGRESS: "in_progress",
}  # fmt: skip
_LEFT_BEHIND = (COMPLETED, BLOCKED)
_NUMBERED = r"([0-9]{1,9})[.)](?: +(.*)|$)"


class RecordStory:
    """One story, of one or more headings with its id, or of one task.

    `wave` is None outside of waves; `line` is its first one, from 1; `total` and `completed`
    count its tasks, without cancelled ones. `status` is that of a story that is not the current
    one, which is in progress where it would be pending.
    """

    __slots__ = ("completed", "id", "line", "status", "title", "total", "wave")

    def __init__(  # a row of a table
        self, name: str, title: str, wave: int | None, line: int, counts: tuple[int, int],
        status: StoryState,
    ) -> None:  # fmt: skip
        self.id = name
        self.title = title
        self.wave = wave
        self.line = line
        self.completed, self.total = counts
        self.status = status

    def status_as(self, current: str) -> StoryState:
        """Its status where `current` is the id of the story worked on now."""
        return "in_progress" if self.status == "pending" and self.id == current else self.status


def record_stories(plan: Plan) -> list[RecordStory]:
    """The stories in file order, at most `MAX_PARTS`, each id once."""
    if plan.story_rows is None:
        plan.story_rows = _rows(plan)
    return plan.story_rows


def current_parts(
    plan: Plan, chosen_wave: int | None, chosen_story: str
) -> tuple[int | None, str, str]:
    """Where the work stands: wave (None = in none), id and title of the story ("" = in none).

    That is the chosen story, else the first of the chosen wave, in which something can be done;
    else where the next task is.
    """
    stories = record_stories(plan)
    story = next((s for s in stories if s.id == chosen_story), None) if chosen_story else None
    if story and _goes_on(story):
        return story.wave, story.id, story.title
    if any(wave.number == chosen_wave and _has_work(wave.counts) for wave in plan.waves):
        wave = chosen_wave
        story = next((s for s in stories if s.wave == wave and _goes_on(s)), None)
    else:
        wave = plan.current_wave.number if plan.current_wave else None
        story = _own_current(plan)
    return (wave, story.id, story.title) if story else (wave, "", "")


def next_task(plan: Plan, chosen_wave: int | None, chosen_story: str) -> Box | None:
    """The task that comes next where the work stands; None where nothing can be done."""
    if chosen_wave is None and not chosen_story:
        return plan.next
    wave, story, _ = current_parts(plan, chosen_wave, chosen_story)
    return _next_of_story(plan, story) or _next_of_wave(plan, wave) or plan.next


def _next_of_story(plan: Plan, story: str) -> Box | None:
    """Of the headings of that id, else of the tasks that are stories."""
    headings = [heading.next for heading in plan.stories if heading.id == story and heading.next]
    if headings:
        return headings[0]
    line = next((found.line for found in record_stories(plan) if found.id == story), 0)
    return next((task for wave in plan.waves for task in wave.tasks if task.line == line), None)


def _next_of_wave(plan: Plan, number: int | None) -> Box | None:
    return next((wave.next for wave in plan.waves if wave.number == number and wave.next), None)


def done_parts(plan: Plan) -> list[str]:
    """What is complete, in file order: ids of stories, and waves as `wave 2`."""
    done = [(story.line, story.id) for story in record_stories(plan) if story.status == COMPLETED]
    waves: dict[int, tuple[int, Counts]] = {}
    for wave in plan.waves:
        waves.setdefault(wave.number, (wave.line, Counts()))[1].add(wave.counts)
    done += [
        (line, f"wave {number}")
        for number, (line, counts) in waves.items()
        if 0 < counts.total == counts.completed
    ]
    return [name for _, name in sorted(done, key=lambda part: part[0])]


def record_progress(plan: Plan, current: str) -> PlanProgress:
    """The `progress` of the project's record. `current` is the id of the story that somebody named
    as worked on now; where the plan has no such story, or nothing in it can be done, it is the one
    that holds the next task."""
    stories = record_stories(plan)
    if not any(story.id == current and _goes_on(story) for story in stories):
        own = _own_current(plan)
        current = own.id if own else ""
    return {
        "totalStories": len(stories),
        "completedStories": sum(story.status == COMPLETED for story in stories),
        "stories": {
            story.id: {"status": story.status_as(current), "wave": story.wave} for story in stories
        },
    }


def _rows(plan: Plan) -> list[RecordStory]:
    """Headings have their ids before any task has."""
    found = {story.id: story for story in _of_headings(plan)}
    taken = set(found)
    for wave, position, task in _loose_tasks(plan):
        name, title = _named(task)
        if not name or name in taken:
            name = f"W{wave.number}.{position}"
        taken.add(name)
        if task.status != CANCELLED:
            counts = (int(task.status == COMPLETED), 1)
            status: StoryState = _OF_TASK.get(task.status, "pending")
            found[name] = RecordStory(name, title, wave.number, task.line, counts, status)
    return sorted(found.values(), key=lambda story: story.line)[:MAX_PARTS]


def _of_headings(plan: Plan) -> Iterator[RecordStory]:
    """Two headings with one id are one story: the first one's, with the tasks of both."""
    parts: dict[str, tuple[Story, Counts]] = {}
    for story in plan.stories:
        parts.setdefault(story.id, (story, Counts()))[1].add(story.counts)
    for first, counts in parts.values():
        tasks = (counts.completed, counts.total)
        status = counts.story_status(is_current=False)
        yield RecordStory(first.id, first.title, first.wave, first.line, tasks, status)


def _loose_tasks(plan: Plan) -> Iterator[tuple[Wave, int, Box]]:
    """The tasks of waves without stories, each with its place, from 1, among all tasks of all
    waves of that number: cancelled ones count, so that no change of status moves another task."""
    before: dict[int, int] = {}
    for wave in plan.waves:
        start = before.get(wave.number, 0) + 1
        for position, task in enumerate(wave.tasks, start):
            yield wave, position, task
        before[wave.number] = start - 1 + sum(wave.counts.by_status.values())


def _named(task: Box) -> tuple[str, str]:
    """The id that a task gives itself, "" for none, and its words without it."""
    text = task.text
    if text[:1].isdigit() or text[:1] == "S":
        found = STORY.fullmatch(text) or re.fullmatch(_NUMBERED, text)
        if found:
            return found[1], found[2] or ""
    return task.number, text


def _own_current(plan: Plan) -> RecordStory | None:
    """The story that holds the next task."""
    now, line = plan.current_story, plan.next.line if plan.next else 0
    for story in record_stories(plan):
        if story.id == now.id if now else story.line == line:
            return story
    return None


def _goes_on(story: RecordStory) -> bool:
    """Whether something can be done in it."""
    return story.total > 0 and story.status not in _LEFT_BEHIND


def _has_work(counts: Counts) -> bool:
    return counts.completed + counts.blocked < counts.total
