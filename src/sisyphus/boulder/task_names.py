"""Names the tasks of a plan: in words that fit no other task, and that stay while lines move."""

from __future__ import annotations

from collections import Counter

from sisyphus.ground.text import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

CHARACTERS = 300

_NO_TEXT = "(no text)"


def of(tasks: Sequence[tuple[str, str]]) -> list[str]:
    """Returns the name of each task. They have no line number in them: lines move while the agent
    works. tasks: the text and the heading of each."""
    texts = [plain(text) for text, _ in tasks]
    counts = Counter(texts)
    if len(counts) == len(texts):
        return texts
    places = Counter(zip(texts, (heading for _, heading in tasks), strict=True))
    numbers: Counter[tuple[str, str]] = Counter()
    names = []
    for text, (_, heading) in zip(texts, tasks, strict=True):
        place = (text, heading)
        numbers[place] += 1
        below = one_line(heading, 80) if counts[text] > 1 else ""
        number = f"number {numbers[place]}" if places[place] > 1 else ""
        where = ", ".join(part for part in (below, number) if part)
        names.append(f"{text} ({where})" if where else text)
    return names


def plain(text: str) -> str:
    """Returns the text of a task on one line."""
    return one_line(text, CHARACTERS) or _NO_TEXT
