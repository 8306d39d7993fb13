from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from making import put

from sisyphus.transcript import (
    TAIL_BYTES,
    blocks,
    context_tokens,
    is_user_prompt,
    lines,
    records,
    result_text,
    texts,
    tokens,
    tool_uses,
)

if TYPE_CHECKING:
    from pathlib import Path

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


def _read(path: Path, offset: int = 0, limit: int = TAIL_BYTES) -> tuple[list[bytes], int]:
    """The lines without their ends, and the offset behind them."""
    found = list(lines(str(path), offset, limit))
    end = found[-1][0] + len(found[-1][1]) if found else offset
    return [line.removesuffix(b"\n") for _, line in found], end


@pytest.fixture
def transcript(tmp_path: Path) -> Path:
    return put(tmp_path / "t.jsonl", "one\ntwo\nthree\n")


READS = [
    pytest.param(0, [b"one", b"two", b"three"], id="from the start"),
    pytest.param(4, [b"two", b"three"], id="from the last offset"),
    pytest.param(14, [], id="nothing new"),
    pytest.param(99, [b"one", b"two", b"three"], id="a shorter file is another one"),
    pytest.param(-1, [b"one", b"two", b"three"], id="an offset that cannot be"),
]


@pytest.mark.parametrize(("offset", "read"), READS)
def test_lines_are_read_from_an_offset(transcript: Path, offset: int, read: list[bytes]) -> None:
    assert _read(transcript, offset) == (read, 14)


LIMITS = [
    pytest.param(14, [b"one", b"two", b"three"], id="the whole file"),
    pytest.param(11, [b"two", b"three"], id="no half line at the beginning"),
    pytest.param(10, [b"three"], id="what begins at the cut may be a half line"),
    pytest.param(3, [], id="less than a line"),
]


@pytest.mark.parametrize(("limit", "read"), LIMITS)
def test_of_a_long_file_the_end_is_read(transcript: Path, limit: int, read: list[bytes]) -> None:
    assert _read(transcript, 0, limit)[0] == read


def test_a_line_without_its_end_waits(transcript: Path) -> None:
    transcript.write_text("one\ntw")
    assert _read(transcript) == ([b"one"], 4)
    transcript.write_text("one\ntwo\n")
    assert _read(transcript, 4) == ([b"two"], 8)


def test_a_file_that_cannot_be_read_has_no_lines(tmp_path: Path) -> None:
    assert list(lines(str(tmp_path / "none"), 7)) == []
    assert list(lines(str(tmp_path), 7)) == []
    assert list(lines("", 0)) == []


lines_of_bytes = st.lists(st.binary(max_size=8).map(lambda b: b.translate(None, b"\r\n")))


@given(lines_of_bytes, st.lists(st.integers(0, 40)))
def test_a_growing_file_gives_each_line_once(
    tmp_path_factory: pytest.TempPathFactory, written: list[bytes], sizes: list[int]
) -> None:
    whole = b"".join(line + b"\n" for line in written)
    path = tmp_path_factory.getbasetemp() / "growing"
    seen: list[bytes] = []
    offset = 0
    for size in [*sorted(sizes), len(whole)]:
        path.write_bytes(whole[:size])
        found, offset = _read(path, min(offset, size))
        seen += found
    assert seen == written


@given(lines_of_bytes, st.integers(1, 60))
def test_a_limit_leaves_out_beginnings_only(
    tmp_path_factory: pytest.TempPathFactory, written: list[bytes], limit: int
) -> None:
    path = put(tmp_path_factory.getbasetemp() / "long", b"".join(line + b"\n" for line in written))
    found, _ = _read(path, 0, limit)
    assert found == written[len(written) - len(found) :]


def _lines(*values: object) -> list[bytes]:
    return [v if isinstance(v, bytes) else json.dumps(v).encode() for v in values]


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
    assert list(records(_lines(USER, line, ANSWER))) == [USER, ANSWER]


def test_a_subagents_records_are_there_where_they_are_wanted() -> None:
    agents = {**ANSWER, "isSidechain": True}
    lines = _lines(USER, agents, {**agents, "type": "system"}, ANSWER)

    assert list(records(lines, sidechains=True)) == [USER, agents, ANSWER]
    assert list(records(lines, b"tool_use", sidechains=True)) == [agents, ANSWER]


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
    assert tokens({"type": "assistant", "message": {"usage": usage}}) == cost


def test_only_an_answer_costs() -> None:
    assert tokens({"type": "user", "message": {"usage": {"input_tokens": 5}}}) == 0
    assert tokens({"type": "assistant", "message": "x"}) == 0
    assert tokens({}) == 0


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
    assert result_text({"type": "tool_result", "content": content}) == text


def test_lines_without_a_needle_are_not_looked_at() -> None:
    lines = _lines(USER, ANSWER, RESULT)
    assert list(records(lines, b"tool_use", b"nowhere")) == [ANSWER]
    assert list(records(lines, b"do it", b"tool_result")) == [USER, RESULT]


def test_texts_are_what_was_said() -> None:
    assert texts(USER) == ["do it"]
    assert texts(ANSWER) == ["one", "two"]
    assert texts(RESULT) == []


def test_tool_calls_are_the_models() -> None:
    assert [use["name"] for use in tool_uses(ANSWER)] == ["Read"]
    assert tool_uses({**ANSWER, "type": "user"}) == []


PROMPTS = [
    pytest.param(USER, True, id="a text"),
    pytest.param(RESULT, False, id="a tool result"),
    pytest.param({**USER, "isMeta": True}, False, id="written by the client"),
    pytest.param(ANSWER, False, id="the model's"),
]


@pytest.mark.parametrize(("record", "is_prompt"), PROMPTS)
def test_a_prompt_is_what_the_user_said(record: dict[str, Any], is_prompt: bool) -> None:
    assert is_user_prompt(record) is is_prompt


json_values = st.recursive(
    st.none() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["type", "text"]), inner),
    max_leaves=6,
)
keys = st.sampled_from(["type", "message", "isMeta", "isSidechain", "content"])


@given(st.dictionaries(keys, json_values | st.dictionaries(keys, json_values)))
def test_any_record_can_be_asked(record: dict[str, Any]) -> None:
    assert all(isinstance(block, dict) for block in blocks(record))
    assert all(isinstance(text, str) for text in texts(record))
    assert isinstance(tool_uses(record), list)
    assert isinstance(result_text(record), str)
    assert tokens(record) >= 0
    assert isinstance(is_user_prompt(record), bool)


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
    assert context_tokens(record) == filled


def test_what_the_client_wrote_for_the_model_fills_nothing() -> None:
    message = {"model": "<synthetic>", "usage": {"input_tokens": 5}}
    assert context_tokens({"type": "assistant", "message": message}) == 0
    assert context_tokens({"type": "assistant", "message": "x"}) == 0
