"""What users read about a Stop that a loop or hold answers, besides the sentences of each."""

from __future__ import annotations

from sisyphus.ground.text import one_line
from sisyphus.loops import messages as loop_messages
from sisyphus.loops.loop import HOLD

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus.loops.loop import Work

_TASK = 100
_ENDS = (".", "!", "?", "…")

_TITLES = {
    "completion": "{} completed",
    "ended": "{} ended",
    "paused": "{} paused",
    "blocked": "The agent needs you",
    "question": "The agent asks you",
    "no_work": "{} has no work",
    "checkpoint": "{} waits at a checkpoint",
    "standstill": "{} stands still",
}

ENFORCEMENT_ENDED = "Enforcement ended"
"""The title of the notice about a session that enforcement gives up."""


def notice_title(kind: str, loop: Work | None) -> str:
    """Returns the title of a notice for the user's own command."""
    return _TITLES[kind].format("Hold" if loop and loop.kind == HOLD else "Loop")


def what_happened(loop: Work, why: str) -> str:
    """Returns the text of such a notice. It starts with our own words: some programs read a text
    that starts with `@` or `-` as an order."""
    name = loop.title
    text = one_line(why)
    number = "" if text.startswith("iteration ") else f", {loop_messages.iteration(loop)}"
    end = "" if text.endswith(_ENDS) else "."
    return f"{name} {loop.id}{number}: {text}{end} Task: {one_line(loop.task, _TASK)}"


def stands_still(work: Work | None, why: str, *, is_planning: bool, seconds: int) -> str:
    """Tells the user that a session stops though its work stands, and what makes it go on.

    work: a loop or a hold; None = enforcement. seconds: after so many it goes on by itself; 0 = it
    does not.
    """
    if is_planning:
        then = "It goes on when you end plan mode and give the agent a prompt."
    elif seconds:
        then = f"It goes on when that ends, at the latest after {_span(seconds)}."
    else:
        then = "It goes on when that ends, or with your next prompt."
    return f"{_name(work)} stands still: {one_line(why)}. {then}"


def _name(work: Work | None) -> str:
    if work is None:
        return "Enforcement"
    return "The hold of the plan" if work.kind == HOLD else work.name


def _span(seconds: int) -> str:
    minutes = seconds // 60
    return loop_messages.duration(minutes) if minutes else f"{seconds} s"


def waited_long_enough(seconds: int, names: list[str]) -> str:
    """Wakes the agent that waits for background work which does not end."""
    work = one_line(", ".join(names), _TASK)
    return (
        f"You have waited {_span(seconds)} for background work ({work}), and it has not ended. Go "
        "on with the task: look at what it has done, end it if it hangs, or do without it."
    )


def checkpointed(loop: Work, file: str) -> str:
    """Tells the user that the session has ended at its checkpoint, and what goes on from there."""
    waits = loop_messages.waits_at_checkpoint(loop, file)
    return f"{waits} {loop_messages.WHAT_FOLLOWS_CHECKPOINT}"
