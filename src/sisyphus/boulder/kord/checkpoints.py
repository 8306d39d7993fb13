"""Checkpoints of a plan: one line that says where the work stands. Pure."""

from __future__ import annotations

from sisyphus.boulder.record import timestamp
from sisyphus.text import line, one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from sisyphus._types import Json
    from sisyphus.boulder.parser.lines import Box
    from sisyphus.boulder.parser.plan import Plan

    Counts = tuple[int, int]  # completed, total

MESSAGE_CHARACTERS = 1_000

_LINE_CHARACTERS = 300
_TITLE_CHARACTERS = 60
_SCOPE_CHARACTERS = 120
_NAMED = 3


def where(  # the parts of one sentence
    plan: Plan, wave: int | None, story: str, story_title: str, story_counts: Counts | None,
    task: Box | None = None,
) -> str:  # fmt: skip
    """Where the work on `plan` stands, in at most 300 characters.

    `wave` (None = none) and `story` ("" = none) are those that it is at; `story_counts` are
    (completed, total), None where the plan does not know the story; `task` comes next (None = the
    plan's own next one).
    """
    scope = _scope(wave, story, story_title)
    counts = story_counts if story else _wave_counts(plan, wave)
    head = (f"{scope}: " if scope else "") + _tasks(plan, counts, is_part=bool(scope))
    return head + _next(plan, task or plan.next, _LINE_CHARACTERS - len(head))


def finished(new: Sequence[str], text: str) -> str:
    """The message of the moment in which `new` stories and waves (`S07`, `wave 2`) were
    completed; `text` is what `where` says."""
    if not new:
        return text
    names = [_cut(line(name), _TITLE_CHARACTERS) for name in new[: _NAMED + 1]]
    if len(new) > len(names):
        names = [*names[:_NAMED], f"{len(new) - _NAMED} more"]
    *first, last = names
    listed = f"{', '.join(first)} and {last}" if first else last
    return f"{listed[:1].upper()}{listed[1:]} complete; {text}"


def new_checkpoint(message: str, now: float) -> Json:
    """`now` in epoch seconds."""
    return {"timestamp": timestamp(now), "message": one_line(message, MESSAGE_CHARACTERS)}


def _scope(wave: int | None, story: str, title: str) -> str:
    parts = [] if wave is None else [f"Wave {wave}"]
    if story:
        parts.append(line(story))
        parts += [f"({_cut(line(title), _TITLE_CHARACTERS)})"] if title else []
    return _cut(" ".join(parts), _SCOPE_CHARACTERS)


def _wave_counts(plan: Plan, number: int | None) -> Counts | None:
    """Of the current wave where it has that number: a plan may use one twice."""
    current = [plan.current_wave] if plan.current_wave else []
    for wave in [*current, *plan.waves]:
        if wave.number == number:
            return wave.counts.completed, wave.counts.total
    return None


def _tasks(plan: Plan, counts: Counts | None, *, is_part: bool) -> str:
    everything = (plan.counts.completed, plan.counts.total)
    if not plan.counts.total:
        return "no tasks"
    if counts in (None, everything):
        in_all = " in all" if is_part and counts is None else ""
        return f"{_of(everything)} tasks done{in_all}"
    return f"{_of(counts or everything)} tasks done ({_of(everything)} in all)"


def _next(plan: Plan, task: Box | None, room: int) -> str:
    """What comes next, in `room` characters."""
    if task:
        place = f"line {task.line}"
        if text := line(task.text).strip():
            place = f" ({place})"
            text = _cut(text, room - len("; next: ") - len(place))
        return f"; next: {text}{place}"
    blocked = plan.counts.blocked
    return f"; {blocked} blocked, nothing open" if blocked else ""


def _of(counts: Counts) -> str:
    return f"{counts[0]}/{counts[1]}"


def _cut(text: str, characters: int) -> str:
    return text if len(text) <= characters else text[: characters - 1].rstrip() + "…"
