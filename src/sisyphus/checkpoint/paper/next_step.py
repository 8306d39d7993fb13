"""Where to go on. Pure."""

from __future__ import annotations

import re

from sisyphus.checkpoint.paper.facts import CHARACTERS, loop_task, todo
from sisyphus.checkpoint.paper.marks import code
from sisyphus.text import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus.checkpoint.paper.situation import Situation
    from sisyphus.checkpoint.seen.shell import Command

_SHORT = 160
_SENTENCE = re.compile(r"(?<=[.!?:])\s+|\n+")
_LINE = 500
_ERROR = re.compile(r"[A-Za-z](?:Error|Exception)\b|\berror\b[ :\[]|^FAILED\b|^panic:|: not found")
_AHEAD = re.compile(
    r"(?i)(?:[-*>\d.)# ]*)(?:\*\*)?(?:next\b|then I\b|now I\b|now,? let|I'll\b|I will\b|let me\b"
    r"|I am going to\b|I'm going to\b|remaining\b|still to do\b|todo\b|what is left\b)"
)


def next_step(s: Situation) -> str:
    """What fails is mended first, then what was begun is finished, then comes what was planned."""
    failed = s.work.failed
    if failed and _failed_last(s, failed):
        why = _why(failed)
        return f"Mend what fails: {code(failed.command, _SHORT)}{f' ({why})' if why else ''}"
    found = (
        _step("Go on with", todo(s, "in_progress")),
        _step("Go on with", s.item),
        _step("Begin", todo(s, "pending")),
        _step("Go on with the plan", (s.plan["next_task"] or "") if s.plan else ""),
        _announced(s.work.said),
        _step("Go on with", loop_task(s) or s.work.last_prompt or s.work.task),
    )
    return one_line(next(filter(None, found), ""), CHARACTERS)


def _failed_last(s: Situation, failed: Command) -> bool:
    """Whether nothing was checked, and nothing else worked, since it failed."""
    if failed.is_check:
        return True
    return bool(s.work.commands) and s.work.commands[-1].command == failed.command


def _why(failed: Command) -> str:
    """The last line that names an error, else the last one."""
    said = [line.strip() for line in failed.output.splitlines() if line.strip()]
    named = [line for line in said if _ERROR.search(line[:_LINE])]
    return one_line((named or said)[-1], _SHORT) if said else ""


def _step(what: str, about: str) -> str:
    return f"{what}: {about}" if about else ""


def _announced(said: str) -> str:
    """What the model said last that it would do."""
    sentences = [found.strip() for found in _SENTENCE.split(said[-2_000:])]
    ahead = [sentence for sentence in sentences if _AHEAD.match(sentence)]
    return ahead[-1].lstrip("-*># ") if ahead else ""
