from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ralph.lines import read

from sisyphus.clients import claude_code_files
from sisyphus.transcript import Record, messages

USER = {"type": "user", "message": {"role": "user", "content": "do it"}}
ANSWER = {
    "type": "assistant",
    "message": {
        "content": [
            {"type": "thinking", "thinking": "hm"},
            {"type": "text", "text": "one"},
            {"type": "tool_use", "name": "Read", "input": {}},
            {"type": "text", "text": "two"},
        ]
    },
}
RESULT = {"type": "user", "message": {"content": [{"type": "tool_result", "content": "a"}]}}


def _lines(*values: object) -> list[bytes]:
    return [v if isinstance(v, bytes) else json.dumps(v).encode() for v in values]


def _roles(lines: list[bytes], **how: bool) -> list[str]:
    return [one.role for one in messages(lines, claude_code_files.read_record, **how)]


def _one(record: dict[str, Any]) -> Record:
    (found,) = read(record)
    return found


OTHERS: list[Any] = [
    pytest.param({**ANSWER, "isSidechain": True}, id="a subagent's"),
    pytest.param({"type": "attachment", "message": USER["message"]}, id="of another type"),
    pytest.param({"message": USER["message"]}, id="of no type"),
    pytest.param([USER], id="a list"),
    pytest.param(7, id="a number"),
    pytest.param(b"{", id="no JSON"),
    pytest.param(b"\xff\xfe", id="no text"),
    pytest.param(b"", id="empty"),
    pytest.param(b"[" * 100_000, id="nested too deeply"),
    pytest.param(b'{"type": ' + b"1" * 5_000 + b"}", id="a number of 5,000 digits"),
]


@pytest.mark.parametrize("line", OTHERS)
def test_a_line_that_is_nobodys_turn_is_passed_over(line: object) -> None:
    assert _roles(_lines(USER, line, ANSWER)) == ["user", "assistant"]


def test_a_subagents_records_are_there_where_they_are_wanted() -> None:
    agents = {**ANSWER, "isSidechain": True}
    lines = _lines(USER, agents, {**agents, "type": "system"}, ANSWER)

    assert _roles(lines, subagents=True) == ["user", "assistant", "assistant"]


COSTS = [
    pytest.param({"input_tokens": 5}, 5, id="what is read"),
    pytest.param(
        {
            "input_tokens": 1, "cache_creation_input_tokens": 20, "cache_read_input_tokens": 300,
            "output_tokens": 4_000, "server_tool_use": {"web_search_requests": 9},
        },
        4_321,
        id="all four, and nothing else",
    ),
    pytest.param({"input_tokens": None, "output_tokens": 7}, 7, id="one that is missing"),
    pytest.param({"input_tokens": -5, "output_tokens": 7}, 7, id="one below zero"),
    pytest.param({"input_tokens": "5", "output_tokens": 1.5}, 0, id="no whole numbers"),
    pytest.param({"input_tokens": True, "output_tokens": 7}, 7, id="a switch"),
    pytest.param({"input_tokens": 10**99, "output_tokens": 7}, 7, id="more than there are"),
    pytest.param({}, 0, id="nothing"),
    pytest.param(None, 0, id="no usage"),
    pytest.param([7], 0, id="no object"),
]  # fmt: skip


@pytest.mark.parametrize(("usage", "cost"), COSTS)
def test_what_an_answer_cost(usage: object, cost: int) -> None:
    assert _one({"type": "assistant", "message": {"usage": usage}}).tokens == cost


def test_only_an_answer_costs() -> None:
    assert _one({"type": "user", "message": {"usage": {"input_tokens": 5}}}).tokens == 0
    assert _one({"type": "assistant", "message": "x"}).tokens == 0
    assert read({}) == []


RESULTS = [
    pytest.param("a\nb", "a\nb", id="a text"),
    pytest.param([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], "a\nb", id="two"),
    pytest.param([{"type": "image", "source": {}}, {"type": "text", "text": "a"}], "a", id="mixed"),
    pytest.param([{"type": "text", "text": 7}, "x", None], "", id="no texts"),
    pytest.param(None, "", id="nothing"),
    pytest.param({"type": "text", "text": "a"}, "", id="no list"),
]


@pytest.mark.parametrize(("content", "text"), RESULTS)
def test_what_a_tool_answered(content: object, text: str) -> None:
    block = {"type": "tool_result", "content": content}
    (found,) = _one({"type": "user", "message": {"content": [block]}}).results
    assert found.text == text


def test_texts_are_what_was_said() -> None:
    assert _one(USER).texts == ["do it"]
    assert _one(ANSWER).texts == ["one", "two"]
    assert _one(RESULT).texts == []


def test_tool_calls_are_the_models() -> None:
    assert [call.tool for call in _one(ANSWER).calls] == ["Read"]
    assert _one({**ANSWER, "type": "user"}).calls == []


PROMPTS = [
    pytest.param(USER, True, id="a text"),
    pytest.param(RESULT, False, id="a tool result"),
    pytest.param({**USER, "isMeta": True}, False, id="written by the client"),
    pytest.param(ANSWER, False, id="the model's"),
]


@pytest.mark.parametrize(("record", "is_prompt"), PROMPTS)
def test_a_prompt_is_what_the_user_said(record: dict[str, Any], is_prompt: bool) -> None:
    assert _one(record).is_prompt is is_prompt


json_values = st.recursive(
    st.none() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["type", "text"]), inner),
    max_leaves=6,
)
keys = st.sampled_from(["type", "message", "isMeta", "isSidechain", "content"])


@given(st.dictionaries(keys, json_values | st.dictionaries(keys, json_values)))
def test_any_record_can_be_asked(record: dict[str, Any]) -> None:
    for found in read(record):
        assert all(isinstance(text, str) for text in found.texts)
        assert all(isinstance(result.text, str) for result in found.results)
        assert all(isinstance(call.brief, str) for call in found.calls)
        assert found.tokens >= found.context >= 0
        assert isinstance(found.is_prompt, bool)


FILLED = [
    pytest.param({"input_tokens": 5}, {}, 5, id="what is read"),
    pytest.param(
        {
            "input_tokens": 1, "cache_creation_input_tokens": 20, "cache_read_input_tokens": 300,
            "output_tokens": 4_000,
        },
        {},
        321,
        id="and from the cache, but not what is written",
    ),
    pytest.param({"input_tokens": "5", "cache_read_input_tokens": 7}, {}, 7, id="no number"),
    pytest.param({"input_tokens": True, "cache_read_input_tokens": -7}, {}, 0, id="no counts"),
    pytest.param({"input_tokens": 10**99}, {}, 0, id="more than there are"),
    pytest.param(None, {}, 0, id="nothing"),
    pytest.param({"input_tokens": 5}, {"isApiErrorMessage": True}, 0, id="an error of the API"),
    pytest.param({"input_tokens": 5}, {"type": "user"}, 0, id="of the user"),
]  # fmt: skip


@pytest.mark.parametrize(("usage", "fields", "filled"), FILLED)
def test_how_much_of_the_context_an_answer_found_filled(
    usage: object, fields: dict[str, object], filled: int
) -> None:
    record = {"type": "assistant", "message": {"usage": usage}, **fields}
    assert _one(record).context == filled


def test_what_the_client_wrote_for_the_model_fills_nothing() -> None:
    message = {"model": "<synthetic>", "usage": {"input_tokens": 5}}
    assert _one({"type": "assistant", "message": message}).context == 0
    assert _one({"type": "assistant", "message": "x"}).context == 0
