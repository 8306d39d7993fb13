"""A loop as a Markdown document. Pure. What strangers wrote stands in fences, or is escaped."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sisyphus.ralph.past.timeline import SECONDS
from sisyphus.text import one_line, sound
from sisyphus.times import duration, epoch, local

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from sisyphus._types import Json

_SPECIAL = re.compile(r"([\\`*_~\[\]<>|#!$&])")
_BLOCK = re.compile(r"(?=[-+=]|\d+[.)])(\d*)(.)")
"""How a list or a heading begins."""

_LONGEST = 300
_CLOCK = "%Y-%m-%d %H:%M:%S %z"
_COUNTED = {"tools": "tool calls", "edits": "edits", "tokens": "tokens"}


def markdown(loop: Json, texts: Mapping[int, str]) -> str:
    """`loop`: as `views.loop.loop` has it; `texts`: what was said, by iteration."""
    parts = [f"# Loop {escaped(loop['loop_id'])}", _table(_facts(loop))]
    parts += ["## Prompt", fenced(loop["prompt"])]
    if loop["is_cut"]:
        parts.append("The rest of the prompt was not kept.")
    if loop["criteria"]:
        parts += ["## Checklist", "\n".join(map(_task, loop["criteria"]))]
    parts += ["## Iterations", *_iterations(loop, texts)]
    if loop["verify"]:
        parts += ["## What the last check printed", fenced(loop["verify"])]
    return "\n\n".join(parts) + "\n"


def fenced(text: str) -> str:
    """In a fence that is longer than any in it."""
    longest = max(map(len, re.findall("`+", text)), default=0)
    fence = "`" * max(longest + 1, 3)
    lines = "\n".join(sound(text).splitlines())
    return f"{fence}text\n{lines}\n{fence}"


def escaped(text: str) -> str:
    """On one line, no character of which means something."""
    return _SPECIAL.sub(r"\\\1", one_line(text, _LONGEST))


def _facts(loop: Json) -> Iterator[tuple[str, str]]:
    promise = loop["completion_promise"]
    most = f" of {loop['max_iterations']:,}" if loop["max_iterations"] else ""
    yield "State", _state(loop)
    yield "Project", loop["project"]
    yield "Session", loop["session_id"]
    yield "Began", local(epoch(loop["started_at"]), _CLOCK)
    yield "Ended", local(epoch(loop["ended_at"]), _CLOCK)
    yield "Duration", "" if loop["seconds"] is None else duration(loop["seconds"])
    yield "Iterations", "" if loop["iterations"] is None else f"{loop['iterations']:,}{most}"
    yield "Promise", "none" if promise is None else promise
    yield "Limits", "; ".join(loop["limits"])
    yield "Last check", loop["last_check"]


def _state(loop: Json) -> str:
    """Who reads a document need not be in the zone in which the sentence was made."""
    ended = epoch(loop["ended_at"])
    told: str = loop["state"]
    return told.replace(local(ended, SECONDS), local(ended, _CLOCK)) if ended else told


def _table(facts: Iterator[tuple[str, str]]) -> str:
    rows = [f"| {name} | {escaped(value)} |" for name, value in facts if value]
    return "\n".join(["| | |", "| --- | --- |", *rows])


def _task(criterion: Json) -> str:
    mark = "x" if criterion["status"] == "completed" else " "
    return f"- [{mark}] {escaped(criterion['text'])}"


def _iterations(loop: Json, texts: Mapping[int, str]) -> Iterator[str]:
    """Of an iteration that stopped more than once, the text stands below its last Stop."""
    if not loop["stops"]:
        yield "No iteration was noted."
    last = {stop["iteration"]: place for place, stop in enumerate(loop["stops"])}
    for place, stop in enumerate(loop["stops"]):
        number = stop["iteration"]
        yield f"### Iteration {'?' if number is None else number}: {escaped(stop['words'])}"
        yield "\n".join(f"- {line}" for line in _counts(stop) if line) or "- nothing was counted"
        if number is None or last[number] != place:
            continue
        if number not in texts:
            yield "Its text is left out: the document would be too long."
        elif texts[number].strip():
            yield fenced(texts[number])


def _counts(stop: Json) -> Iterator[str]:
    yield _inside(stop["why"])
    yield local(stop["at"], _CLOCK)
    yield "" if stop["seconds"] is None else f"took {duration(stop['seconds'])}"
    yield ", ".join(f"{stop[name]:,} {what}" for name, what in _COUNTED.items() if stop[name])
    yield f"context {stop['context']:.0f} %" if stop["context"] else ""


def _inside(text: str) -> str:
    """Behind the mark of a list, where another mark would begin a list in it."""
    told = escaped(text)
    mark = _BLOCK.match(told)
    return f"{mark[1]}\\{told[mark.end(1) :]}" if mark else told
