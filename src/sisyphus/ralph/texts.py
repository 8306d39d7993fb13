"""What a loop says to the model and to the user, to the letter."""

from __future__ import annotations

from sisyphus.ralph.loop import BY_HOST_CAP, MAX_MINUTES
from sisyphus.text import cut_units, end_units, units

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus.ralph.loop import Loop

PROMPT_UNITS = 8_000
"""Of a longer prompt the model gets the start, and reads the rest from the file."""

REASON_UNITS = 600

_FIRST_LINE_UNITS = 300
_PROMISE_UNITS = 160
_WHY_UNITS = 120
_LEAST = 30


def complete(promise: str) -> str:
    from sisyphus.text import harmless

    return f"""\
[RALPH LOOP COMPLETE]

Completion promise detected: <promise>{harmless(promise)}</promise>
Ralph loop has ended."""


def go_on(loop: Loop, near_miss: str = "") -> str:
    """Why the model may not stop, in at most `REASON_UNITS`: the client shows it twice.

    `near_miss`: why its tag is not the promise, where there was one.
    """
    if loop.completion_promise is None:
        return _go_on_without_promise(loop)
    start = f"""\
[RALPH LOOP ENFORCEMENT]

The completion promise was not output. The loop must continue.

Expected promise: {_tag(loop)}

Continue working on the task. Output the promise only when the task is TRULY complete.

"""
    end = where(loop)
    return start + _missed(near_miss, REASON_UNITS - units(start + end)) + end


def _missed(near_miss: str, room: int) -> str:
    """So many units of it as fit with the way to do it right; of very little room nothing."""
    start, end = "A promise tag was there, but ", ". Put it alone on a line then.\n\n"
    room = min(room - units(start + end), _WHY_UNITS)
    return f"{start}{cut_units(near_miss, room)}{end}" if near_miss and room >= _LEAST else ""


def go_on_refused(loop: Loop, why: str, tail: str = "") -> str:
    """The same where the promise was output and does not count. `tail`: what a command said."""
    start = f"""\
[RALPH LOOP ENFORCEMENT]

The completion promise was output, but {cut_units(why, _WHY_UNITS)}
"""
    end = f"""\
Expected promise: {_tag(loop)}

Put that right, then output the promise again.

{where(loop)}"""
    room = REASON_UNITS - units(start + end) - len("\n\n\n")
    shown = end_units(tail, room)
    return f"{start}\n{shown}\n\n{end}" if shown else f"{start}\n{end}"


def _go_on_without_promise(loop: Loop) -> str:
    end = "at its limits or by" if _has_limits(loop) else "only by"
    return f"""\
[RALPH LOOP ENFORCEMENT]

The loop must continue. It has no completion promise and ends {end} `sisyphus ralph cancel`.

Continue working on the task.

{where(loop)}"""


def _tag(loop: Loop) -> str:
    """The promise in its tag; of a very long one the start, and where the whole of it stands."""
    promise = loop.completion_promise or ""
    short = cut_units(promise, _PROMISE_UNITS)
    if short == promise:
        return f"<promise>{promise}</promise>"
    return f"<promise>{short}…</promise> (whole: completion_promise of the loop's state file)"


def where(loop: Loop) -> str:
    """Iteration and limits, on one line."""
    limits = [f"{loop.max_minutes:,} minutes"] if 0 < loop.max_minutes < MAX_MINUTES else []
    if loop.max_tokens:
        limits.append(f"{loop.tokens:,} of {loop.max_tokens:,} tokens spent")
    return "; ".join([loop.progress.capitalize(), *limits]) + "."


def _has_limits(loop: Loop) -> bool:
    return bool(loop.max_iterations or loop.max_minutes or loop.max_tokens)


def failed_check(tail: str) -> str:
    """More of what the command said than the reason has room for."""
    return f"The last lines of the command that checks the promise:\n\n{tail}"


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


def name(loop: Loop) -> str:
    """What stands at the head of a message about the loop."""
    return "BOULDER ENFORCEMENT" if loop.plan else "RALPH LOOP"


def subject(loop: Loop) -> str:
    """What a sentence about the loop begins with."""
    return "The enforcement of the plan" if loop.plan else "The loop"


def at_limit(loop: Loop, why: str) -> str:
    """`why` as the arbiter says it: `the limit of 20 iterations is reached`."""
    if loop.plan:
        return f"""\
[{name(loop)} ENDED]

This session is held to its plan no more: {why}.
Task: {loop.description}
To hold it again: `sisyphus boulder enforce on`."""
    promise = (
        f" without its promise <promise>{loop.completion_promise}</promise>"
        if loop.completion_promise is not None
        else ""
    )
    return f"""\
[RALPH LOOP ENDED]

The loop ended{promise}: {why}.
Task: {loop.description}"""


def let_go(loop: Loop) -> str:
    """Where somebody ended the enforcement of a plan."""
    return f"This session is held to its plan no more ({loop.description})."


def paused(loop: Loop, by: str, why: str) -> str:
    """The user is told why nothing moves any more, and what makes it move again."""
    if by == BY_HOST_CAP:
        return f"""\
[{name(loop)} PAUSED]

{subject(loop)} was paused: {why}, and the client stops a loop that goes on like this \
(CLAUDE_CODE_STOP_HOOK_BLOCK_CAP).
{_kept(loop)}
To resume it, send any prompt in this session, or run `sisyphus ralph resume` and send one."""
    return f"""\
[{name(loop)} PAUSED]

{subject(loop)} was paused: {why}.
{_kept(loop)}
To resume it: `sisyphus ralph resume`, then send any prompt in this session. To end it: \
`sisyphus ralph cancel`."""


def _kept(loop: Loop) -> str:
    return f"Nothing is lost. {loop.progress.capitalize()}. Task: {loop.description}"


def stale(loop: Loop) -> str:
    what = "was held to a plan" if loop.plan else "has a loop of earlier"
    return f"""\
[{name(loop)} PAUSED]

This session {what}: its client has gone and nothing moved for hours.
{_kept(loop)}
To take it up again: `sisyphus ralph resume`. To end it: `sisyphus ralph cancel`."""


def taken_up(loop: Loop) -> str:
    whose = "" if loop.plan else " of this session"
    return f"""\
[{name(loop)}]

{subject(loop)}{whose} goes on: {loop.description} ({loop.progress}).
To end it: `sisyphus ralph cancel`."""


def waits(loop: Loop) -> list[str]:
    """What the user is told where the loop waits for a limit to end."""
    if not loop.waiting:
        return []
    from sisyphus.times import local

    until = loop.waiting.get("until")
    when = f" It ends at {local(until)}." if until else ""
    how = "by itself" if loop.options.get("resume_after_limit") else "with your next prompt"
    goes_on = f"{subject(loop)} goes on {how} then."
    return [
        f"""\
[{name(loop)} WAITS]

{subject(loop)} waits for the {loop.waiting.get("for", "limit")} to end.{when} {goes_on}
{_kept(loop)}"""
    ]


def waits_note(loop: Loop) -> list[str]:
    if not loop.waiting:
        return []
    from sisyphus.times import local

    until = loop.waiting.get("until")
    when = f" until {local(until)}" if until else ""
    return [f"the loop waits for the {loop.waiting.get('for', 'limit')} to end{when}"]


def started(loop: Loop) -> str:
    """What the user reads as a loop begins."""
    promise = loop.completion_promise
    ends = f"until <promise>{promise}</promise>" if promise is not None else "without a promise"
    most = [f"{loop.max_iterations:,} iterations"] if loop.max_iterations else []
    most += [f"{loop.max_minutes:,} minutes"] if loop.max_minutes else []
    most += [f"{loop.max_tokens:,} tokens"] if loop.max_tokens else []
    limits = f"at most {', '.join(most)}" if most else "without a limit"
    return "\n".join([f"Ralph loop {loop.loop_id} goes on {ends}, {limits}.", *_unused(loop)])


def _unused(loop: Loop) -> list[str]:
    """A check is made when the promise is."""
    checks = [
        name for name in ("verify", "verify_plan", "verify_checklist") if name in loop.options
    ]
    if not checks or loop.completion_promise is not None:
        return []
    named = ", ".join("--" + name.replace("_", "-") for name in checks)
    return [f"It has no --completion-promise, so {named} will never be asked."]


def asks(loop: Loop) -> str:
    goes_on = subject(loop)[0].lower() + subject(loop)[1:]
    return f"""\
[{name(loop)} WAITS]

The agent asked you something; {goes_on} goes on with your answer. {loop.progress.capitalize()}."""


def refused(reason: str) -> str:
    return f"""\
[RALPH LOOP NOT STARTED]

{reason}."""


def set_aside(fault: str) -> str:
    return f"""\
[RALPH LOOP]

The state of a loop could not be read; it holds nobody any more. sisyphus {fault}."""
