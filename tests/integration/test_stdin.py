"""Whatever comes in on stdin: the client's user is never disturbed, and the log says why."""

from __future__ import annotations

import json
import os
import subprocess
from typing import TYPE_CHECKING, Any

import pytest
from making import COMMAND, HANG_SECONDS

from integration.desk import (
    EVENTS,
    SESSION,
    Desk,
    assert_polite,
    nothing_else_touched,
)
from sisyphus.clients.base import EVENTS as ALL_EVENTS

if TYPE_CHECKING:
    from pathlib import Path

UNREADABLE = [
    pytest.param(b"", id="empty"),
    pytest.param(b"\n", id="an empty line"),
    pytest.param(b"hello", id="no JSON"),
    pytest.param(b'{"session_id": "s"', id="cut short"),
    pytest.param(b'{"a": 1} {"b": 2}', id="two objects"),
    pytest.param(b"[1, 2]", id="a list"),
    pytest.param(b"null", id="null"),
    pytest.param(b'"text"', id="a text"),
    pytest.param(b"12e999", id="infinity"),
    pytest.param(b"1" * 5_000, id="a number of 5,000 digits"),
    pytest.param(b"\xff\xfe\x00{", id="bytes that are no UTF-8"),
    pytest.param(b"\0" * 1_000, id="NUL bytes"),
    pytest.param(b"[" * 100_000, id="100,000 open brackets"),
    pytest.param(b'{"a":' * 100_000, id="100,000 open braces"),
    pytest.param(b'{"a": "' + b"x" * 65_000_000 + b'"}', id="65 MB"),
]


@pytest.mark.parametrize("stdin", UNREADABLE)
def test_what_is_no_payload_is_answered_with_silence_and_one_log_line(
    desk: Desk, stdin: bytes
) -> None:
    for number, event in enumerate(("session-start", "stop", "notification"), 1):
        answer = desk.raw_hook(event, stdin)
        assert (answer.code, answer.stdout, answer.stderr) == (0, b"", "")
        assert len(desk.log) == number
        assert event in desk.log[-1]


WRONG: dict[str, Any] = {
    "null": None,
    "true": True,
    "a number": -7,
    "a huge number": 10**400,
    "a float": 1.5e300,
    "a list": [[], {}, "x", None],
    "an object": {"file_path": {"file_path": []}, "text": 1},
    "an empty text": "",
    "blanks": " \t\n",
    "a NUL byte": "a\0b",
    "a lone surrogate": "\ud800/\udfff",
    "a way up": "../../../../tmp/up",
    "a text of 5 MB": "x" * 5_000_000,
    "nested a thousand times": json.loads("[" * 900 + "]" * 900),
}

FIELDS = (
    "session_id", "agent_id", "agent_type", "transcript_path", "agent_transcript_path", "cwd",
    "hook_event_name", "source", "reason", "prompt", "prompt_id", "permission_mode",
    "stop_hook_active", "last_assistant_message", "background_tasks", "session_crons",
    "tool_name", "tool_input", "tool_response", "tool_use_id", "error",
)  # fmt: skip


def _named(table: dict[str, Any]) -> list[Any]:
    return [pytest.param(value, id=name) for name, value in table.items()]


def _send(desk: Desk, event: str, fields: dict[str, Any]) -> None:
    assert_polite(desk.hook(event, **fields))


@pytest.mark.parametrize("value", _named(WRONG))
def test_fields_of_a_wrong_kind_do_no_harm(watched: Desk, value: Any) -> None:
    for event in EVENTS:
        _send(watched, event, dict.fromkeys(FIELDS, value))


@pytest.mark.parametrize("event", EVENTS)
def test_one_wrong_field_among_right_ones_does_no_harm(watched: Desk, event: str) -> None:
    for number, field in enumerate(FIELDS):
        value = ("an object", "a list", "a lone surrogate", "a number")[number % 4]
        _send(watched, event, {field: WRONG[value]})


@pytest.mark.parametrize("value", _named(WRONG))
def test_a_tool_input_of_a_wrong_kind_does_no_harm(desk: Desk, tmp_path: Path, value: Any) -> None:
    names = ("file_path", "content", "notebook_path", "skill", "args", "todos", "taskId")
    said = dict.fromkeys(("tool_input", "tool_response"), dict.fromkeys(names, value))
    with nothing_else_touched(desk.home, tmp_path):
        for tool in ("Read", "Edit", "Write", "Skill", "TodoWrite", "TaskUpdate"):
            _send(desk, "post-tool-use", {"tool_name": tool, **said})


@pytest.mark.parametrize("event", EVENTS)
def test_a_missing_field_does_no_harm(watched: Desk, event: str) -> None:
    whole = watched.payload(event)
    for field in whole:
        payload = json.dumps({name: whole[name] for name in whole if name != field})
        assert_polite(watched.raw_hook(event.partition(":")[0], payload.encode()))


def test_an_empty_object_does_no_harm(watched: Desk) -> None:
    for event in ALL_EVENTS:
        if event != "idle":
            assert_polite(watched.raw_hook(event, b"{}"))


IDS = [
    pytest.param("../../../outside", id="a way up"),
    pytest.param("..", id="the folder above"),
    pytest.param(".", id="the folder itself"),
    pytest.param("/tmp/outside", id="an absolute path"),  # noqa: S108  # never opened
    pytest.param("a/b", id="a slash"),
    pytest.param("a\\b", id="a backslash"),
    pytest.param("a\nb", id="a line end"),
    pytest.param("a\0b", id="a NUL"),
    pytest.param("x" * 129, id="129 characters"),
    pytest.param("sitzung-ä", id="no ASCII"),
    pytest.param("", id="none"),
]


@pytest.mark.parametrize("name", IDS)
def test_an_unsafe_id_names_no_file(watched: Desk, name: str) -> None:
    before = _named_files(watched)
    for event in EVENTS:
        _send(watched, event, {"session_id": name})
        _send(watched, event, {"session_id": SESSION, "agent_id": name})
    assert _named_files(watched) == before


def _named_files(desk: Desk) -> set[Path]:
    """Those that a session or agent names; the iterations of a loop have its own name."""
    every = desk.ours.rglob("*")
    return {path for path in every if not {"cache", "transcripts"}.intersection(path.parts)}


def test_a_byte_order_mark_and_another_line_end_are_understood(desk: Desk) -> None:
    payload = json.dumps(desk.payload("session-start"), indent=1).replace("\n", "\r\n")
    assert "How to build" in desk.raw_hook("session-start", b"\xef\xbb\xbf" + payload.encode()).text


def test_invalid_utf_8_inside_a_text_spoils_only_that_text(desk: Desk) -> None:
    payload = json.dumps(desk.payload("session-start", prompt="PLACE")).encode()
    answer = desk.raw_hook("session-start", payload.replace(b"PLACE", b"\xff\xfe"))
    assert "How to build" in answer.text


STREAMS = [
    pytest.param("0<&-", id="stdin closed"),
    pytest.param("1>&-", id="stdout closed"),
    pytest.param("2>&-", id="stderr closed"),
    pytest.param("0<&- 1>&- 2>&-", id="all closed"),
    pytest.param(">/dev/full", id="stdout on a full device"),
    pytest.param("</dev/null", id="stdin from the null device"),
]


@pytest.mark.parametrize("streams", STREAMS)
def test_missing_streams_do_no_harm(watched: Desk, tmp_path_factory: Any, streams: str) -> None:
    payload: Path = tmp_path_factory.mktemp("payload") / "payload.json"
    payload.write_text(json.dumps(watched.payload("session-start")), "utf-8")
    command = f"{COMMAND} hook session-start <{payload} {streams}"
    ran = subprocess.run(
        ["sh", "-c", command],
        capture_output=True,
        timeout=HANG_SECONDS,
        check=False,
        env=dict(os.environ),
    )
    assert ran.returncode == 0
    assert b"Traceback" not in ran.stderr


def test_a_reader_that_goes_away_is_told_again_next_time(desk: Desk) -> None:
    process = desk.start("session-start")
    assert process.stdout is not None
    process.stdout.close()
    process.stdout = None
    assert process.wait(HANG_SECONDS) == 0
    assert process.stderr is not None
    assert b"Traceback" not in process.stderr.read()
    process.stderr.close()
    assert "How to build" in desk.hook("user-prompt-submit").text
