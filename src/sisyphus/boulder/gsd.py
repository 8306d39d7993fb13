"""Reads a `*-PLAN.md` of GSD: its tasks are `<task>` elements, and the agent writes a
`*-SUMMARY.md` beside it when all of them are done. No file says how far it is before."""

import re
from collections.abc import Iterator

from sisyphus.boulder.plan import DONE, OPEN, Plan, Task

TOOL = "GSD"

_START = re.compile(r"<task(?:\s[^<>]{0,300})?>")
_END = "</task>"
_NAME = re.compile(r"<(name|title)>([^<]*(?:<(?!/\1>)[^<]*){0,20})</\1>")
"""What a task is called; some plans have `title` in place of `name`."""


def parse(text: str, *, is_done: bool) -> Plan:
    """Returns the tasks of a plan. is_done: it has a summary."""
    tasks = [
        Task(name, DONE if is_done else OPEN, line, heading="", wave=None, story="")
        for name, line in _tasks(text)
    ]
    return Plan("", tuple(tasks), 0, 0, {}, {}, TOOL)


def _tasks(text: str) -> Iterator[tuple[str, int]]:
    """Yields the name of each task, and its line."""
    line = counted = position = number = 0
    while start := _START.search(text, position):
        number += 1
        end = text.find(_END, start.end())
        position = end if end >= 0 else len(text)
        line += text.count("\n", counted, start.start())
        counted = start.start()
        name = _NAME.search(text, start.end(), position)
        yield " ".join(name[2].split()) if name else f"Task {number}", line + 1
