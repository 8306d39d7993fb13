"""The code blocks of a Markdown page, and what a comment before one says about it.

<!-- scene: plan loop -->     what is there before the block: functions of `pages.scenes`
<!-- not run: WHY -->         nothing is run, and why
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_FENCE = re.compile(
    r"(?:^ *<!-- (?P<word>[a-z ]+): (?P<said>.*?) -->\n\s*)?"
    r"^(?P<indent> *)```(?P<language>\w*)\n(?P<body>.*?)^(?P=indent)```$",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True)
class Block:
    """`scenes`: names of what is prepared; `event`: the one that it is the payload of; `why_not`:
    the reason for which it is not run."""

    page: str
    line: int
    language: str
    body: str
    scenes: tuple[str, ...] = ()
    event: str = ""
    why_not: str = ""

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"


@dataclass(frozen=True)
class Step:
    """A command as it is typed, and what it is shown to write."""

    command: str
    shown: str


def blocks(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    return [_block(page.name, text, found) for found in _FENCE.finditer(text)]


def _block(page: str, text: str, found: re.Match[str]) -> Block:
    word, said = found["word"], found["said"] or ""
    indent = found["indent"]
    body = "".join(line.removeprefix(indent) for line in found["body"].splitlines(keepends=True))
    if word not in (None, "scene", "payload", "not run"):
        raise ValueError(f"{page}: `{word}` before a block means nothing")
    return Block(
        page,
        text.count("\n", 0, found.start("indent")) + 1,
        found["language"],
        body,
        tuple(said.split()) if word == "scene" else (),
        said if word == "payload" else "",
        said if word == "not run" else "",
    )


def steps(body: str) -> list[Step]:
    """What is typed behind `$ `, over several lines where one ends with a backslash, and the lines
    below it."""
    found: list[Step] = []
    rows = iter(body.splitlines())
    for row in rows:
        if not row.startswith("$ "):
            last = found.pop()
            found.append(Step(last.command, last.shown + row + "\n"))
            continue
        command = row[2:]
        while command.endswith("\\"):
            command += "\n" + next(rows)
        found.append(Step(command, ""))
    return found


def shows(expected: str, written: str) -> bool:
    """Whether it is what was written, `…` being anything, a line of its own being any lines."""
    return re.fullmatch(_pattern(expected), _trimmed(written), re.DOTALL) is not None


def holds(written: str, expected: str) -> bool:
    """The same for a part of it."""
    return re.search(_pattern(expected), _trimmed(written), re.DOTALL) is not None


def _pattern(expected: str) -> str:
    return re.escape(_trimmed(expected)).replace("…", ".*?")


def _trimmed(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.strip().splitlines())
