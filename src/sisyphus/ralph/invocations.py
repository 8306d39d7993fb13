"""Where a prompt or a transcript says that somebody starts a ralph loop.

The user types `/PLUGIN:ralph-loop ARGS`, or the model calls a skill of the same name. Whose command
the name is without a prefix, tells `bare_commands`. Nothing else starts a loop: no prose, no tool
result, no line that the client wrote for the user, no subagent's line.
"""

from __future__ import annotations

import re
from binascii import crc32

from sisyphus.clients.base import SKILL
from sisyphus.clients.tools import skill

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus._types import Json
    from sisyphus.transcript import Call, Record

PLUGINS = ("sisyphus", "ralph-wiggum", "ralph-wiggum-pro", "ralph-loop")

_PREFIX = rf"(?:(?:{'|'.join(PLUGINS)}):)?"
_NAME = rf"({_PREFIX}ralph-loop)"
_SUBMITTED = re.compile(rf"\s*/{_NAME}(?:\s(.*))?", re.DOTALL)
_SKILL = re.compile(rf"\s*/?{_NAME}\s*")
_TYPED = re.compile(_NAME)
_CANCELLED = re.compile(rf"{_PREFIX}cancel-ralph")


class Start:
    """One invocation. `command` is its name, with the plugin's where that was given.

    `origin` is the uuid of its line, "" while it is not in the transcript.
    `early` is the name by which a hook knew it before: that of the prompt or of the tool call.
    """

    __slots__ = ("args", "at", "by_model", "call", "command", "early", "origin")

    def __init__(self, args: str, *, origin: str = "", early: str = "", at: str = "") -> None:
        self.args = args
        self.command = ""
        self.origin = origin
        self.early = early
        self.at = at  # ISO time, "" where the line has none
        self.by_model = False
        self.call = ""  # id of the model's tool call

    @property
    def name(self) -> str:
        return self.origin or self.early


def submitted(prompt: str, prompt_id: str) -> Start | None:
    """The loop that a prompt starts; it is not in the transcript yet."""
    found = _SUBMITTED.fullmatch(prompt)
    if found is None:
        return None
    start = Start(found[2] or "", early=_early("prompt", prompt_id))
    start.command = found[1]
    return start


def used(given: Json, call: str) -> Start | None:
    """The loop that a call of a skill has started; it may not be in the transcript yet."""
    name, arguments = skill(given)
    found = _SKILL.fullmatch(name)
    if found is None:
        return None
    start = Start(arguments, early=_early("call", call))
    start.command = found[1]
    start.by_model = True
    start.call = call
    return start


def typed(record: Record) -> Start | None:
    """The loop that this user line starts, if it does."""
    command = record.command
    if command is None or record.is_subagents or not _TYPED.fullmatch(command.name):
        return None
    start = Start(command.arguments, early=_early("prompt", record.prompt_id))
    start.command = command.name
    return _located(start, record)


def called(record: Record, call: Call) -> Start | None:
    """The loop that this tool call of an assistant line starts, if it does."""
    if record.is_subagents or call.kind != SKILL:
        return None
    start = used(call.input, call.id)
    return _located(start, record) if start else None


def find(record: Record) -> list[Start]:
    """The loops that one record starts, in order."""
    by_user = typed(record)
    by_model = (called(record, call) for call in record.calls)
    return [start for start in (by_user, *by_model) if start]


def cancelled(record: Record) -> str:
    """The command by which the user ends his loops with this line, "" where it is none."""
    name = record.command.name if record.command and not record.is_subagents else ""
    return name if _CANCELLED.fullmatch(name) else ""


def _located(start: Start, record: Record) -> Start:
    """The start with the name and time of its line."""
    start.at = record.at
    # Every line of the client's has a uuid; without one, equal lines are the same line.
    content = f"{start.at} {start.args}".encode(errors="replace")
    start.origin = record.uuid or f"line {crc32(content):08x}"
    return start


def _early(kind: str, name: str) -> str:
    return f"{kind} {name}" if name else ""
