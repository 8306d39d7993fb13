"""Names the tasks of a plan: in words that fit no other task, and that stay while lines move."""

from __future__ import annotations

from collections import Counter

from sisyphus.ground.text import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from sisyphus.boulder.plan import Task

CHARACTERS = 300

_NO_TEXT = "(no text)"


def of(tasks: Sequence[Task]) -> list[str]:
    """Returns the name of each task. They have no line number in them: lines move while the agent
    works."""
    texts = [text(task) for task in tasks]
    counts = Counter(texts)
    if len(counts) == len(texts):
        return texts
    places = Counter((text, task.heading) for text, task in zip(texts, tasks, strict=True))
    numbers: Counter[tuple[str, str]] = Counter()
    names = []
    for each, task in zip(texts, tasks, strict=True):
        place = (each, task.heading)
        numbers[place] += 1
        heading = one_line(task.heading, 80) if counts[each] > 1 else ""
        number = f"number {numbers[place]}" if places[place] > 1 else ""
        where = ", ".join(part for part in (heading, number) if part)
        names.append(f"{each} ({where})" if where else each)
    return names


def text(task: Task) -> str:
    """Returns the words of a task on one line."""
    return one_line(task.text, CHARACTERS) or _NO_TEXT
