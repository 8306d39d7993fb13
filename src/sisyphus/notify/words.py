"""What is told of an event, in one object and in one line for people. Pure."""

from __future__ import annotations

import time

from sisyphus.masking import masked
from sisyphus.notify.send import CHECKPOINT, COMPLETION, FAILURE, PAUSE
from sisyphus.text import line, sound

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus._types import Json

_TEXTS = ("session_id", "loop_id", "task", "level", "handoff_file", "reason")
_WORDED = ("task", "reason")
"""Words of the user's or of a program's, which may hold a key or a password."""

_NUMBERS = ("iteration", "percent")
_READ_CHARACTERS = 3_000

_EXAMPLES: dict[str, Json] = {
    CHECKPOINT: {"level": "L2", "percent": 87, "handoff_file": ".claude/handoffs/example.md"},
    PAUSE: {"reason": "no progress for 5 iterations"},
    COMPLETION: {},
    FAILURE: {"reason": "this is an example, nothing failed"},
}


def message(event: str, project: str, now: float, facts: Json) -> Json:
    """What the command gets on its stdin; null for what is not known. `now` in epoch seconds.

    Texts hold at most 300 code points, so that the whole is small, and no keys and passwords.
    """
    known: Json = {
        "event": event,
        "project": sound(project),
        **{name: _text(facts.get(name), is_worded=name in _WORDED) for name in _TEXTS},
        **{name: _number(facts.get(name)) for name in _NUMBERS},
        "at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(now)),
    }
    return {**known, "text": masked(text(known))}


def example(event: str, project: str, now: float) -> Json:
    """What the command would get, for a person who tries it."""
    facts = {"loop_id": "abc12", "iteration": 5, "task": "An example from `sisyphus notify test`"}
    return message(event, project, now, {**facts, **_EXAMPLES[event]})


def text(known: Json) -> str:
    """One line: `Checkpoint L2 at 87% (iteration 5): Migrate to Vitest. Handoff: FILE`."""
    iteration = known.get("iteration")
    where = f" (iteration {iteration})" if iteration is not None else ""
    task = known.get("task")
    parts = [f"{_head(known)}{where}" + (f": {task}" if task else "")]
    for name, label in (("reason", "Why"), ("handoff_file", "Handoff")):
        if known.get(name):
            parts.append(f"{label}: {known[name]}")
    return ". ".join(part.rstrip(".") for part in parts)


def _head(known: Json) -> str:
    event, percent = known.get("event"), known.get("percent")
    if event == CHECKPOINT:
        level = f" {known['level']}" if known.get("level") else ""
        return f"Checkpoint{level}" + (f" at {percent}%" if percent is not None else "")
    return {PAUSE: "Paused", COMPLETION: "Completed", FAILURE: "Failed"}.get(str(event), str(event))


def _text(value: object, *, is_worded: bool) -> str | None:
    if not isinstance(value, str):
        return None
    words = masked(value[:_READ_CHARACTERS]) if is_worded else value
    return sound(line(words)).strip() or None


def _number(value: object) -> int | None:
    return int(value) if isinstance(value, (int, float)) and abs(value) < 10**9 else None
