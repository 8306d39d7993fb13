"""Tells which checks of a plan are commands, and which are criteria in prose.

A command that somebody can run and that has to exit 0 stands in backticks. Without them it is one
only if its first word says so; everything else is shown to the agent and never run, so that
`verify: make sure it works` starts no `make`.
"""

from __future__ import annotations

import re

from sisyphus.ground.record import Record
from sisyphus.sessions.checks import is_test

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

_TICKS = re.compile("`+")
_JOINED = re.compile(r"\s*(?:[,;&]+\s*)?(?:and\s+|then\s+){0,2}(?=`)")
"""What may stand between two commands of one check."""

_ASSIGNMENTS = re.compile(r"(?:\w+=\S*\s+)*+")
_SCRIPT = re.compile(r"\./\S|\S+/\S+\.(?:sh|bash)(?:\s|$)")
"""How a command starts whose first word is a script with a path."""

_OPERATORS = re.compile(r"[;&|<>\n]")
_TARGETS = frozenset(("make", "gmake", "ninja", "just", "task", "mvn", "gradle", "sbt"))
"""Programs that take any word for a target: only the first one after the options counts."""

_BEFORE_FOLDER = ("-C", "-f", "--directory", "--file")
"""Their options whose value is the next word."""

_PROSE_END = re.compile(
    r"(?:[^./][.!?…]|\b(?:pass(?:es)?|succeeds?|works?|green|clean|ok(?:ay)?|fine))$", re.I
)
_HAS_TO_FAIL = re.compile(
    r"\b(?:fail\w*|non-?zero|exits? (?:with )?[1-9]\d*|errors? (?:with|out))\b", re.I
)
_NO_FAILURE = re.compile(r"\b(?:no|not|without|zero|0|never|nothing)\W+(?:\w+\W+)?fail", re.I)
"""What follows a command that is to fail, as superpowers' `Expected: FAIL` before the work. Nobody
can ask of it that it passes at the end."""


class PlanChecks(Record):
    """The checks of a task or plan: commands that all have to pass, in order, and criteria in
    prose."""

    commands: tuple[str, ...] = ()
    criteria: tuple[str, ...] = ()


def split(checks: Iterable[str]) -> PlanChecks:
    """Tells commands from criteria. checks: as the plan has them, see `Task.checks`."""
    commands, criteria = [], []
    for each in checks:
        found = _commands(each)
        commands += found
        if not found:
            criteria.append(each)
    return PlanChecks(tuple(dict.fromkeys(commands)), tuple(criteria))


def _commands(check: str) -> list[str]:
    """Returns the commands in a check; none = it is a criterion."""
    found, rest = _in_backticks(check)
    if found:
        is_to_fail = _HAS_TO_FAIL.search(rest) and not _NO_FAILURE.search(rest)
        return [] if is_to_fail else found
    return [check] if _is_plain_command(check) else []


def _in_backticks(check: str) -> tuple[list[str], str]:
    """Returns the commands with which a check starts, and the words after them."""
    commands, position = [], 0
    while ticks := _TICKS.match(check, position):
        end = check.find(ticks[0], ticks.end())
        command = check[ticks.end() : end].strip()
        if end < 0 or not command:
            break
        commands.append(command)
        position = end + len(ticks[0])
        joined = _JOINED.match(check, position)
        if not joined:
            break
        position = joined.end()
    return commands, check[position:]


def _is_plain_command(check: str) -> bool:
    """Tells whether a check without backticks is a command: a script with a path, or a usual test
    command, also after assignments."""
    text = check[_ASSIGNMENTS.match(check).end() :]  # type: ignore[union-attr]
    if _PROSE_END.search(text):
        return False
    if _SCRIPT.match(text):
        return True
    first = _OPERATORS.split(text, maxsplit=1)[0].split()
    if first and first[0].rpartition("/")[2] in _TARGETS:
        first = [first[0], *_words_behind_options(first[1:])[:1]]
    return is_test(" ".join(first))


def _words_behind_options(words: list[str]) -> list[str]:
    pairs = zip(["", *words], words, strict=False)
    return [w for before, w in pairs if before not in _BEFORE_FOLDER and not w.startswith("-")]
