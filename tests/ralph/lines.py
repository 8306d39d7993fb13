"""Transcript lines in the client's shape, with nothing in them but what a test is about."""

from __future__ import annotations

import json
from itertools import count
from typing import TYPE_CHECKING, Any

from sisyphus.clients import claude_code_files

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from sisyphus._types import Json
    from sisyphus.transcript import Record

_numbers: Iterator[int] = count(1)

AT = "2026-11-20T15:00:00.000Z"


def line(kind: str, content: object, **fields: object) -> Json:
    """A `user` or `assistant` line with a uuid of its own."""
    return {
        "type": kind,
        "isSidechain": False,
        "message": {"role": kind, "content": content},
        "uuid": f"uuid-{next(_numbers)}",
        "timestamp": AT,
        **fields,
    }


def prompt(text: str, **fields: object) -> Json:
    return line("user", text, **fields)


def typed(
    args: str, command: str = "/ralph-wiggum:ralph-loop", prompt_id: str = "", **fields: object
) -> Json:
    """What the client records of a typed command."""
    tags = (
        f"<command-message>{command.removeprefix('/')}</command-message>\n"
        f"<command-name>{command}</command-name>\n"
        f"<command-args>{args}</command-args>"
    )
    return line("user", tags, **({"promptId": prompt_id} if prompt_id else {}), **fields)


def expanded(args: str) -> Json:
    """What the client writes for the user behind a typed command."""
    return line("user", [_text(f"# Ralph Loop Command\n\n{args}")], isMeta=True)


def said(text: str, **fields: object) -> Json:
    return line("assistant", [_text(text)], **fields)


def thought(text: str) -> Json:
    return line("assistant", [{"type": "thinking", "thinking": text}])


def used(name: str, call: str = "toolu_1", **given: object) -> Json:
    return line("assistant", [{"type": "tool_use", "id": call, "name": name, "input": given}])


def skill(args: str, name: str = "ralph-wiggum:ralph-loop", call: str = "toolu_1") -> Json:
    """The model's own start of a loop."""
    return used("Skill", call, skill=name, args=args)


def result(content: object, call: str = "toolu_1", **fields: object) -> Json:
    return line(
        "user", [{"type": "tool_result", "tool_use_id": call, "content": content, **fields}]
    )


def continued(reason: str = "go on") -> Json:
    """What the client records of a Stop that was blocked."""
    return line("user", f"Stop hook feedback:\n{reason}", isMeta=True)


def notified() -> Json:
    """A machine turn: a background task has ended."""
    return prompt("<task-notification>\ndone</task-notification>", turnOrigin="task_notification")


def read(*records: Any) -> list[Record]:
    """The records as a feature gets them."""
    return [found for record in records if (found := claude_code_files.record(record))]


def raw(*records: object) -> bytes:
    return b"".join(
        json.dumps(record, separators=(",", ":")).encode() + b"\n" for record in records
    )


def add(path: Path, *records: object) -> None:
    """Appends lines, as the client does."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as file:
        file.write(raw(*records))


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}
