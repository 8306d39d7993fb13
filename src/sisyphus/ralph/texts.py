"""What a loop says to the model and to the user, to the letter."""

from __future__ import annotations

from sisyphus.measure import cut_units

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus.ralph.loop import Loop

PROMPT_UNITS = 8_000
"""Of a longer prompt the model gets the start, and reads the rest from the file."""

_FIRST_LINE_UNITS = 300


def complete(promise: str) -> str:
    return f"""\
[RALPH LOOP COMPLETE]

Completion promise detected: <promise>{promise}</promise>
Ralph loop has ended."""


def go_on(loop: Loop) -> str:
    """Why the model may not stop. The client shows it twice, so it is short."""
    if loop.completion_promise is None:
        return _go_on_without_promise(loop)
    return f"""\
[RALPH LOOP ENFORCEMENT]

The completion promise was not output. The loop must continue.

Expected promise: <promise>{loop.completion_promise}</promise>

Continue working on the task. Output the promise only when the task is TRULY complete.

{loop.progress.capitalize()}."""


def _go_on_without_promise(loop: Loop) -> str:
    end = "at its limits or by" if loop.max_iterations else "only by"
    return f"""\
[RALPH LOOP ENFORCEMENT]

The loop must continue. It has no completion promise and ends {end} `sisyphus ralph cancel`.

Continue working on the task.

{loop.progress.capitalize()}."""


def prompt(loop: Loop, path: str) -> str:
    """The task itself where the model's context does not hold it."""
    body = cut_units(loop.prompt, PROMPT_UNITS)
    more = "" if body == loop.prompt else f"\n[cut here; the whole prompt is in {path}]"
    return f"The prompt of this ralph loop:\n\n{body}{more}"


def reminder(loop: Loop, path: str) -> str:
    """The task by its first line, where the model has seen it."""
    lines = loop.prompt.strip().splitlines()
    first = cut_units(lines[0], _FIRST_LINE_UNITS) if lines else ""
    whole = "" if first == loop.prompt.strip() else " …"
    return f"The prompt of this ralph loop begins: {first}{whole}\nIt can be read in {path}"


def at_limit(loop: Loop) -> str:
    promise = (
        f" without its promise <promise>{loop.completion_promise}</promise>"
        if loop.completion_promise is not None
        else ""
    )
    return f"""\
[RALPH LOOP ENDED]

The loop reached its limit of {loop.max_iterations} iterations{promise}.
Task: {loop.description}"""


def paused(loop: Loop, cap: int) -> str:
    """The client overrides a hook that blocks `cap` times in a row without a tool call."""
    return f"""\
[RALPH LOOP PAUSED]

The loop was paused: {cap} answers in a row came without a tool call, and the client stops a loop \
that goes on like this (CLAUDE_CODE_STOP_HOOK_BLOCK_CAP).
Nothing is lost. {loop.progress.capitalize()}. Task: {loop.description}
To resume it, send any prompt in this session."""


def refused(reason: str) -> str:
    return f"""\
[RALPH LOOP NOT STARTED]

{reason}."""


def not_done(options: list[str]) -> str:
    return f"""\
[RALPH LOOP]

The loop started. This version does not do what these options ask for: {", ".join(options)}."""


def set_aside(fault: str) -> str:
    return f"""\
[RALPH LOOP]

The state of a loop could not be read; it holds nobody any more. sisyphus {fault}."""
