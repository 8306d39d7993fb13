"""Where a prompt or a transcript says that somebody starts a ralph loop.

The user types `/PLUGIN:ralph-loop ARGS`, which the client records as one user line of tags; or the
model calls the tool `Skill` with the same name. Whose command the name is without a prefix, tells
`bare_commands`. Nothing else starts a loop: no prose, no tool result, no line that the client wrote
for the user (`isMeta`), no subagent's line. Claude Code 2.1.329 records the arguments as they were
typed, without escaping.
"""

from __future__ import annotations

import re
from binascii import crc32

from sisyphus import transcript

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus._types import Json

PLUGINS = ("sisyphus", "ralph-wiggum", "ralph-wiggum-pro", "ralph-loop")

_PREFIX = rf"(?:(?:{'|'.join(PLUGINS)}):)?"
_NAME = rf"({_PREFIX}ralph-loop)"
_SUBMITTED = re.compile(rf"\s*/{_NAME}(?:\s(.*))?", re.DOTALL)
_SKILL = re.compile(rf"\s*/?{_NAME}\s*")
_TYPED = re.compile(
    r"\s*(?:<command-message>[^<]*</command-message>\s*)?"
    rf"<command-name>\s*/?{_NAME}\s*</command-name>\s*"
    r"(?:<command-message>[^<]*</command-message>\s*)?"
    r"(?:<command-args>(.*)</command-args>\s*)?",
    re.DOTALL,
)
_CANCELLED = re.compile(
    r"\s*(?:<command-message>[^<]*</command-message>\s*)?"
    rf"<command-name>\s*/?({_PREFIX}cancel-ralph)\s*</command-name>.*",
    re.DOTALL,
)


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
    return _start(found, _early("prompt", prompt_id)) if found else None


def used(given: Json, call: str) -> Start | None:
    """The loop that a call of the tool `Skill` has started; it may not be in the transcript yet."""
    found = _SKILL.fullmatch(_text(given.get("skill")))
    if found is None:
        return None
    start = Start(_text(given.get("args")), early=_early("call", call))
    start.command = found[1]
    start.by_model = True
    start.call = call
    return start


def typed(record: Json) -> Start | None:
    """The loop that this user line starts, if it does."""
    texts = transcript.texts(record)
    if not transcript.is_user_prompt(record) or record.get("isSidechain") or len(texts) != 1:
        return None
    found = _TYPED.fullmatch(texts[0])
    if found is None:
        return None
    return _located(_start(found, _early("prompt", _text(record.get("promptId")))), record)


def called(record: Json, block: Json) -> Start | None:
    """The loop that this tool call of an assistant line starts, if it does."""
    given = block.get("input")
    if record.get("isSidechain") or block.get("name") != "Skill" or not isinstance(given, dict):
        return None
    start = used(given, _text(block.get("id")))
    return _located(start, record) if start else None


def find(record: Json) -> list[Start]:
    """The loops that one record starts, in order."""
    by_user = typed(record)
    by_model = (called(record, block) for block in transcript.tool_uses(record))
    return [start for start in (by_user, *by_model) if start]


def cancelled(record: Json) -> str:
    """The command by which the user ends his loops with this line, "" where it is none."""
    if not transcript.is_user_prompt(record) or record.get("isSidechain"):
        return ""
    found = _CANCELLED.fullmatch(transcript.texts(record)[0])
    return found[1] if found else ""


def _start(found: re.Match[str], early: str) -> Start:
    start = Start(found[2] or "", early=early)
    start.command = found[1]
    return start


def _located(start: Start, record: Json) -> Start:
    """The start with the name and time of its line."""
    start.at = _text(record.get("timestamp"))
    # Every line of the client's has a uuid; without one, equal lines are the same line.
    content = f"{start.at} {start.args}".encode(errors="replace")
    start.origin = _text(record.get("uuid")) or f"line {crc32(content):08x}"
    return start


def _early(kind: str, name: str) -> str:
    return f"{kind} {name}" if name else ""


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
