"""A transcript is another program's file: any line of it may be anything."""

from __future__ import annotations

import itertools
import json
from typing import TYPE_CHECKING, Any

import pytest

from integration.desk import Desk, assert_polite, nothing_else_touched

if TYPE_CHECKING:
    from pathlib import Path

STRANGE: list[Any] = [None, True, 7, 1e300, "", "text", [], [None, 7, "x", []], {}, {"a": [{}]}]

FIELDS = ("type", "message", "uuid", "isMeta", "isSidechain", "timestamp", "promptId")


def _record(**fields: Any) -> dict[str, Any]:
    """A call of the ralph command by the model: the line that is looked at most closely."""
    call = {"type": "tool_use", "name": "Skill", "input": {"skill": "x:ralph-loop", "args": "y"}}
    said = {"type": "text", "text": "<promise>DONE</promise> /x:ralph-loop <command-name>"}
    message = {"role": "assistant", "content": [call, said], "usage": {"input_tokens": 7}}
    return {"type": "assistant", "uuid": "u-1", "message": message, **fields}


def _with_message(**fields: Any) -> dict[str, Any]:
    return _record(message={**_record()["message"], **fields})


def _with_block(kind: str, **fields: Any) -> dict[str, Any]:
    block = {"type": kind, "name": "Skill", "text": "x:ralph-loop", "input": {}, **fields}
    return _with_message(content=[block])


def _records() -> list[Any]:
    kinds = ("text", "tool_use", "tool_result", "thinking")
    names = ("type", "name", "text", "input", "content", "is_error", "id")
    return [
        *STRANGE,
        *(_record(**{field: value}) for field in FIELDS for value in STRANGE),
        *(_with_message(**{field: v}) for field in ("role", "content", "usage") for v in STRANGE),
        *(_with_block(k, **{n: v}) for k, n, v in itertools.product(kinds, names, STRANGE)),
        *(_with_block("tool_use", input={"skill": v, "args": v}) for v in STRANGE),
    ]


RAW = [
    pytest.param(b"", id="empty"),
    pytest.param(b"\n" * 10_000, id="empty lines"),
    pytest.param(b'{"type":"assistant"', id="a line that was cut"),
    pytest.param(b'{"type":"user"}\r\n' * 10, id="another line end"),
    pytest.param(b"\xff\xfe:ralph-loop </command-name>\n" * 10, id="no UTF-8"),
    pytest.param(b'{"type":"assistant","x":' + b"[" * 200_000 + b"\n", id="200,000 brackets"),
    pytest.param(b'{"type":"assistant","a":"' + b"x" * 20_000_000 + b'"}\n', id="a line of 20 MB"),
    pytest.param(b"\0" * 100_000, id="NUL bytes"),
    pytest.param("\n".join(map(json.dumps, _records())).encode() + b"\n", id="fields of any kind"),
]

STEPS: list[tuple[str, dict[str, Any]]] = [
    ("session-start", {"source": "resume"}),
    ("stop", {}),
    ("user-prompt-submit", {"prompt": '/sisyphus:ralph-loop "x" --completion-promise DONE'}),
    ("stop", {"last_assistant_message": None}),
    ("session-start", {"source": "compact"}),
    ("stop", {"session_id": "a-fork"}),
    ("session-start", {"source": "fork", "session_id": "a-fork"}),
    ("user-prompt-submit", {"session_id": "a-fork"}),
]


@pytest.mark.parametrize("data", RAW)
def test_a_strange_transcript_does_no_harm(desk: Desk, tmp_path: Path, data: bytes) -> None:
    desk.transcript.write_bytes(data)
    with nothing_else_touched(desk.home, tmp_path):
        for event, fields in STEPS:
            assert_polite(desk.hook(event, **fields))
    assert desk.failures == []


@pytest.mark.parametrize("data", RAW[:-1])  # the last starts loops of its own
def test_a_strange_start_of_a_transcript_hides_no_promise(desk: Desk, data: bytes) -> None:
    start = '/sisyphus:ralph-loop "x" --completion-promise DONE'
    desk.hook("user-prompt-submit", prompt=start)
    said = {"role": "assistant", "content": [{"type": "text", "text": "<promise>DONE</promise>"}]}
    line = json.dumps({"type": "assistant", "uuid": "u-2", "message": said}).encode()
    lines = [desk.transcript.read_bytes(), data, b"" if data.endswith(b"\n") else b"\n", line]
    desk.transcript.write_bytes(b"".join([*lines, b"\n"]))
    answer = desk.hook("stop", last_assistant_message=None)
    assert "Completion promise detected" in answer.reply.get("systemMessage", ""), answer
