from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from ralph.lines import read

from sisyphus.checkpoint.seen import work
from sisyphus.clients import opencode_files as lines
from sisyphus.ralph import events, invocations

if TYPE_CHECKING:
    from sisyphus._types import Json

AT = 1_795_186_800_250  # 2026-11-20T15:00:00.25Z


def _record(agent: str = "", /, **line: Any) -> Json:
    (record,) = lines.records([{"at": AT, **line}], "s1", agent, "/p")
    return record


def _common(name: str) -> Json:
    return {
        "uuid": name,
        "timestamp": "2026-11-20T15:00:00.250Z",
        "sessionId": "s1",
        "cwd": "/p",
        "userType": "external",
    }


RECORDS = [
    pytest.param(
        {"kind": "prompt", "id": "m1", "text": "do it"},
        {"type": "user", "message": {"role": "user", "content": "do it"}, "promptId": "m1"},
        "m1-prompt",
        id="a prompt",
    ),
    pytest.param(
        {"kind": "prompt", "id": "m1", "text": "go on", "ours": True},
        {
            "type": "user",
            "message": {"role": "user", "content": "Stop hook feedback:\ngo on"},
            "isMeta": True,
        },
        "m1-prompt",
        id="a prompt of ours",
    ),
    pytest.param(
        {"kind": "text", "id": "m2", "part": "p1", "text": "done"},
        {
            "type": "assistant",
            "message": {
                "role": "assistant",
                "content": [{"type": "text", "text": "done"}],
                "id": "m2",
            },
        },
        "p1-text",
        id="what the model says",
    ),
    pytest.param(
        {"kind": "tool", "id": "m2", "call": "c1", "tool": "read", "args": {"filePath": "a"}},
        {
            "type": "assistant",
            "message": {
                "role": "assistant",
                "content": [
                    {
                        "type": "tool_use",
                        "id": "c1",
                        "name": "Read",
                        "input": {"file_path": "/p/a"},
                    }
                ],
                "id": "m2",
            },
        },
        "c1-tool",
        id="a tool call",
    ),
    pytest.param(
        {"kind": "result", "call": "c1", "tool": "bash", "text": "hi\n", "metadata": {"exit": 0}},
        {
            "type": "user",
            "message": {
                "role": "user",
                "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "hi\n"}],
            },
            "toolUseResult": {"stdout": "hi\n", "stderr": "", "interrupted": False},
        },
        "c1-result",
        id="its result",
    ),
    pytest.param(
        {"kind": "result", "call": "c1", "tool": "bash", "text": "bad", "metadata": {"exit": 3}},
        {
            "type": "user",
            "message": {
                "role": "user",
                "content": [
                    {
                        "type": "tool_result",
                        "tool_use_id": "c1",
                        "content": "Exit code 3\nbad",
                        "is_error": True,
                    }
                ],
            },
        },
        "c1-result",
        id="of a command that failed",
    ),
    pytest.param(
        {"kind": "result", "call": "c1", "tool": "read", "text": "File not found", "failed": True},
        {
            "type": "user",
            "message": {
                "role": "user",
                "content": [
                    {
                        "type": "tool_result",
                        "tool_use_id": "c1",
                        "content": "<tool_use_error>File not found</tool_use_error>",
                        "is_error": True,
                    }
                ],
            },
        },
        "c1-result",
        id="of a tool that could not do it",
    ),
    pytest.param(
        {
            "kind": "usage",
            "id": "m2",
            "model": "opus",
            "tokens": {
                "input": 600,
                "output": 47,
                "reasoning": 30,
                "cache": {"read": 400, "write": 5},
            },
        },
        {
            "type": "assistant",
            "message": {
                "role": "assistant",
                "content": [],
                "id": "m2",
                "model": "opus",
                "usage": {
                    "input_tokens": 600,
                    "cache_read_input_tokens": 400,
                    "cache_creation_input_tokens": 5,
                    "output_tokens": 77,
                },
            },
        },
        "m2-usage",
        id="what an answer used",
    ),
    pytest.param(
        {"kind": "compacted"},
        {
            "type": "user",
            "message": {"role": "user", "content": []},
            "isCompactSummary": True,
        },
        "1795186800.25-compacted",
        id="a compaction",
    ),
]


@pytest.mark.parametrize(("line", "record", "name"), RECORDS)
def test_a_line_becomes_a_record_as_claude_code_writes_it(
    line: Json, record: Json, name: str
) -> None:
    assert _record(**line) == {**record, **_common(name)}


@pytest.mark.parametrize(("line", "record", "name"), RECORDS)
def test_a_line_of_a_subagent_says_whose_it_is(line: Json, record: Json, name: str) -> None:
    of_agent = {"isSidechain": True, "agentId": "a1"}
    assert _record("a1", **line) == {**record, **_common(name), **of_agent}


LOOP = {"name": "ralph-loop", "arguments": '"fix it" --completion-promise DONE'}


def test_a_typed_command_starts_a_loop_as_one_of_claude_code_does() -> None:
    record = _record(kind="prompt", id="m1", text="(the template)", command=LOOP)
    (found,) = read(record)
    start = invocations.typed(found)
    assert start is not None
    assert (start.args, start.early, start.origin) == (LOOP["arguments"], "prompt m1", "m1-prompt")
    assert start.at == "2026-11-20T15:00:00.250Z"


def test_a_prompt_that_is_ours_starts_no_loop() -> None:
    record = _record(kind="prompt", id="m1", text="x", command=LOOP, ours=True)
    (found,) = read(record)
    assert invocations.find(found) == []
    assert [event.kind for event in events.read([found])] == [events.CONTINUED]


def test_what_a_session_did_is_read_from_its_records() -> None:
    told = [
        {"kind": "prompt", "id": "m1", "text": "Fix the tests."},
        {"kind": "tool", "id": "m2", "call": "c1", "tool": "bash", "args": {"command": "pytest"}},
        {"kind": "usage", "id": "m2", "model": "x", "tokens": {"input": 900}},
        {"kind": "result", "call": "c1", "tool": "bash", "text": "no", "metadata": {"exit": 1}},
        {
            "kind": "tool", "id": "m3", "call": "c2", "tool": "todowrite",
            "args": {"todos": [{"content": "A", "status": "in_progress"}]},
        },
        {"kind": "result", "call": "c2", "tool": "todowrite", "text": "[]", "metadata": {}},
        {"kind": "text", "id": "m4", "part": "p1", "text": "One is left."},
    ]  # fmt: skip
    found = work.read(read(*lines.records(told, "s1", "", "/p")))
    assert (found.task, found.said, found.tool_calls) == ("Fix the tests.", "One is left.", 2)
    assert found.failed is not None
    assert found.failed.command == "pytest"
    assert found.todos == [{"content": "A", "status": "in_progress"}]
    assert found.points == [(1, 900)]


def test_a_command_that_the_user_refused_has_not_failed() -> None:
    told = {"call": "c1", "tool": "bash", "args": {"command": "rm x"}}
    refused = {"kind": "result", "text": "The user rejected permission", "failed": True, **told}
    found = work.read(read(*lines.records([{"kind": "tool", **told}, refused], "s1", "", "/p")))
    assert (found.failed, found.commands) == (None, [])


def test_behind_a_compaction_the_growth_of_the_context_begins_anew() -> None:
    usage = {"kind": "usage", "id": "m1", "tokens": {"input": 900}}
    found = work.read(read(*lines.records([usage, {"kind": "compacted"}], "s1", "", "/p")))
    assert found.points == []


UNKNOWN = [
    pytest.param({"kind": "later"}, id="a kind of another version"),
    pytest.param({"kind": ["text"]}, id="a kind of a wrong kind"),
    pytest.param({}, id="no kind"),
    pytest.param("text", id="no object"),
    pytest.param(None, id="nothing"),
    pytest.param([], id="a list"),
]


@pytest.mark.parametrize("line", UNKNOWN)
def test_what_is_not_known_is_passed_over(line: object) -> None:
    known = {"kind": "text", "part": "p1", "text": "x"}
    assert len(lines.records([line, known, line], "s1", "", "/p")) == 1


NO_MOMENTS: list[object] = [None, "now", -1, 0, 1e15, float("nan"), float("inf"), 10**400, []]
MOMENTS = [
    pytest.param(AT, "2026-11-20T15:00:00.250Z", id="milliseconds"),
    pytest.param(1_500.9, "1970-01-01T00:00:01.500Z", id="with a fraction"),
    *(pytest.param(value, "1970-01-01T00:00:00.000Z", id=str(value)) for value in NO_MOMENTS),
]


@pytest.mark.parametrize(("at", "timestamp"), MOMENTS)
def test_a_line_has_a_time_whatever_it_says(at: object, timestamp: str) -> None:
    assert _record(kind="compacted", at=at)["timestamp"] == timestamp


NO_TOKENS: list[object] = [
    None,
    [],
    "many",
    {},
    {"input": -1, "output": True, "cache": [1]},
    {"input": 1.5},
]


@pytest.mark.parametrize("tokens", NO_TOKENS)
def test_tokens_that_are_none_are_nothing(tokens: object) -> None:
    record = _record(kind="usage", id="m1", tokens=tokens)
    (found,) = read(record)
    assert found.tokens == found.context == 0
    assert list(events.spent(found)) == []


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=9), inner, max_size=4)
    ),
    max_leaves=12,
)
KINDS = ("prompt", "text", "tool", "result", "usage", "compacted")
TOOLS = ("bash", "edit", "todowrite", "apply_patch", "read")
LINE = st.fixed_dictionaries(
    {"kind": st.sampled_from(KINDS) | JSON},
    optional={
        name: st.text(max_size=20) | JSON
        for name in (
            "id", "at", "text", "part", "call", "args", "metadata", "failed", "model", "tokens",
            "command", "ours",
        )
    } | {"tool": st.sampled_from(TOOLS) | JSON},
)  # fmt: skip


@given(st.lists(LINE | JSON, max_size=6), st.sampled_from(["", "a1"]))
@example([{"kind": "text", "text": "\ud800"}], "")
def test_whatever_is_told_becomes_records_of_the_session(told: list[Any], agent: str) -> None:
    found = lines.records(told, "s1", agent, "/p")
    for record in found:
        line = json.dumps(record).encode()
        assert b"\n" not in line
        assert record["type"] in ("user", "assistant")
        assert json.loads(line)["sessionId"] == "s1"
        assert ("agentId" in record) is bool(agent)
    assert [record["uuid"] for record in found] == [
        record["uuid"] for record in lines.records(told, "s1", agent, "/p")
    ]
    work.read(read(*found))
    events.read(read(*found))


@given(st.lists(LINE, max_size=6))
def test_every_line_of_a_known_kind_is_kept_in_its_order(told: list[Any]) -> None:
    known = [line["kind"] for line in told if isinstance(line["kind"], str)]
    kept = [r["uuid"].rsplit("-", 1)[1] for r in lines.records(told, "s1", "", "/p")]
    assert kept == [kind for kind in known if kind in KINDS]
