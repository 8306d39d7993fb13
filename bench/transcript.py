"""A transcript of a gigabyte, as a client writes it: real JSON lines, of every kind."""

from __future__ import annotations

import json
import os
import shutil
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

GIGABYTE = 1_000_000_000
SPARE = 500_000_000
LATEST = "toolu_edit"
"""The id of the last tool call."""

_BLOCK_TURNS = 60


class TooLittleDisk(Exception):  # noqa: N818  # a state of the machine
    """There is no room for it."""


def create(path: Path, size: int = GIGABYTE) -> None:
    """Writes at least `size` bytes; raises `TooLittleDisk`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    free = shutil.disk_usage(path.parent).free
    if free < size + SPARE:
        raise TooLittleDisk(f"{(size + SPARE) / 1e9:.1f} GB needed, {free / 1e9:.1f} GB free")
    block = b"".join(_line(record) for number in range(_BLOCK_TURNS) for record in turn(number))
    with path.open("wb") as file:
        while file.tell() < size:
            file.write(block)


def append(path: Path, turns: int) -> None:
    """What is said between one Stop and the next; the last thing is the edit of a file."""
    edit = {"file_path": "src/app.py", "old_string": "a", "new_string": "b"}
    called = {"type": "tool_use", "id": LATEST, "name": "Edit", "input": edit}
    with path.open("ab") as file:
        for number in range(turns):
            file.writelines(_line(record) for record in turn(number))
        file.write(_line(_record("assistant", {"content": [called]}, "e")))


def turn(number: int) -> list[dict[str, Any]]:
    """A question, a tool call with its result, an answer, and the client's own notes."""
    code = "\n".join(f"def function_{i}(): return {i}  # a line of code" for i in range(150))
    called = {"type": "tool_use", "id": f"toolu_{number}", "name": "Read", "input": {"file": "a"}}
    result = {"type": "tool_result", "tool_use_id": f"toolu_{number}", "content": code}
    usage = {"input_tokens": 900, "cache_read_input_tokens": 90_000, "output_tokens": 700}
    return [
        _record("user", {"content": f"please do number {number}"}, "u"),
        _record("assistant", {"content": [called], "usage": usage}, "c"),
        _record("user", {"content": [result]}, "r"),
        _record("assistant", {"content": [{"type": "text", "text": code}], "usage": usage}, "a"),
        {"type": "attachment", "attachment": {"type": "hook_success", "stdout": code}},
        {"type": "system", "subtype": "stop_hook_summary", "hookCount": 1},
    ]


def _record(kind: str, message: dict[str, Any], mark: str) -> dict[str, Any]:
    return {
        "parentUuid": None,
        "isSidechain": False,
        "type": kind,
        "message": {"role": kind, **message},
        "uuid": f"{mark}{os.urandom(4).hex()}-0000-4000-8000-000000000000",
        "timestamp": "2026-01-01T00:00:00.000Z",
    }


def _line(record: dict[str, Any]) -> bytes:
    return json.dumps(record, separators=(",", ":")).encode() + b"\n"
