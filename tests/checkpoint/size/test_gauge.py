from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from making import HANG_SECONDS, put
from ralph.lines import add, prompt, raw, result, said

from checkpoint.telling import answer
from sisyphus.checkpoint.size import gauge
from sisyphus.checkpoint.size.gauge import Reading, read, wait_for_results

if TYPE_CHECKING:
    from sisyphus._types import Json

RECORDED = Path(__file__).parents[2] / "data" / "transcripts" / "tokens.jsonl"


def an_answer(tokens: int, *calls: str, model: str = "claude-sonnet-4-5", **fields: Any) -> Json:
    """An answer of the main thread that calls these tools."""
    blocks = [{"type": "tool_use", "id": call, "name": "Read", "input": {}} for call in calls]
    record = answer(tokens, content=blocks)
    record["message"]["model"] = model
    return {**record, **fields}


def _read(folder: Path, *records: object, **options: Any) -> Reading:
    return read(str(put(folder / "t.jsonl", raw(*records))), **options)


BOUNDARY = {
    "parentUuid": None,
    "isSidechain": False,
    "type": "system",
    "subtype": "compact_boundary",
    "content": "Conversation compacted",
    "compactMetadata": {"trigger": "auto", "preTokens": 970_135, "postTokens": 2_666},
}
SUMMARY = prompt("This session is being continued …", isCompactSummary=True)
REFUSED = an_answer(0, model="<synthetic>", isApiErrorMessage=True, error="invalid_request")
FALSE_USAGE = {**REFUSED, "message": {**REFUSED["message"], "usage": {"input_tokens": 9}}}
NOT_MARKED = {**FALSE_USAGE, "isApiErrorMessage": False}
SIDECHAIN = an_answer(9_000, isSidechain=True, agentId="a1")
QUOTING = prompt('{"usage": {"input_tokens": 7}, "subtype": "compact_boundary"}')

LAST = [
    pytest.param([], 0, id="nothing"),
    pytest.param([prompt("do it")], 0, id="no answer yet"),
    pytest.param([an_answer(500)], 500, id="one answer"),
    pytest.param([an_answer(500), an_answer(700)], 700, id="the last of two"),
    pytest.param([an_answer(700), an_answer(500)], 500, id="also where it is the smaller one"),
    pytest.param([an_answer(500), result("ok"), prompt("more")], 500, id="what follows it"),
    pytest.param([an_answer(500), said("no usage")], 500, id="an answer that tells nothing"),
    pytest.param([an_answer(500), SIDECHAIN], 500, id="a subagent's answer"),
    pytest.param([an_answer(500), REFUSED], 500, id="an error of the API"),
    pytest.param([an_answer(500), FALSE_USAGE], 500, id="whatever it says"),
    pytest.param([an_answer(500), NOT_MARKED], 500, id="what the client wrote for the model"),
    pytest.param([an_answer(500), QUOTING], 500, id="a text that quotes a transcript"),
    pytest.param([an_answer(900), BOUNDARY], 0, id="a compaction"),
    pytest.param([an_answer(900), SUMMARY], 0, id="its summary alone"),
    pytest.param([an_answer(900), BOUNDARY, SUMMARY, an_answer(40)], 40, id="an answer behind it"),
    pytest.param([an_answer(500), 7, None, [], "x", {}], 500, id="lines of other shapes"),
    pytest.param(
        [an_answer(500), {"type": "assistant", "message": "usage", "usage": 1}], 500, id="a text"
    ),
    pytest.param(
        [an_answer(500), {"type": "assistant", "message": {"usage": {"input_tokens": "7"}}}],
        500,
        id="a count that is none",
    ),
]


@pytest.mark.parametrize(("records", "tokens"), LAST)
def test_the_last_answer_of_the_main_thread_counts(
    tmp_path: Path, records: list[object], tokens: int
) -> None:
    found = _read(tmp_path, *records)
    assert found.tokens == tokens
    assert found.model == ("claude-sonnet-4-5" if tokens else "")
    assert found.is_current


def test_the_model_is_the_one_that_was_asked_for(tmp_path: Path) -> None:
    asked = an_answer(5, requestedModel="claude-sonnet-4-5[1m]")
    assert _read(tmp_path, asked).model == "claude-sonnet-4-5[1m]"


def test_what_the_real_client_recorded_is_told() -> None:
    records = [json.loads(text) for text in RECORDED.read_text("utf-8").splitlines()]
    usages = [r["message"]["usage"] for r in records if "usage" in r.get("message", {})]
    found = read(str(RECORDED))
    assert found.tokens == sum(
        usages[-1][name]
        for name in ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
    )
    assert found.model == "claude-sonnet-4-5"


HALVES = [
    pytest.param(b'{"type":"assistant","message":{"usage":{"input_tok', id="a half written line"),
    pytest.param(b'{"type":"assistant","message":{"usage":{"input_tokens":7}}', id="but a bracket"),
    pytest.param(b"[" * 100_000 + b'"usage"', id="brackets without end"),
    pytest.param(b"\xff\xfe\x00usage\x00", id="no text"),
    pytest.param(b'"usage"', id="the word alone"),
]


@pytest.mark.parametrize("half", HALVES)
def test_a_line_that_is_no_record_is_passed_over(tmp_path: Path, half: bytes) -> None:
    path = put(tmp_path / "t.jsonl", raw(an_answer(500)) + half)
    assert read(str(path)).tokens == 500


def test_a_whole_last_line_without_its_end_counts(tmp_path: Path) -> None:
    path = put(tmp_path / "t.jsonl", raw(an_answer(500), an_answer(700)).rstrip(b"\n"))
    assert read(str(path)).tokens == 700


CALLS = [
    pytest.param([an_answer(1, "t1")], ["t1"], True, id="the answer that called it"),
    pytest.param([an_answer(1, "t1")], ["t2"], False, id="an older one"),
    pytest.param([an_answer(1, "t1", "t2")], ["t2", "t1"], True, id="two calls"),
    pytest.param([an_answer(1, "t1"), result("ok", "t1")], ["t1"], True, id="and its result"),
    pytest.param([an_answer(1, "t1"), an_answer(2, "t2")], ["t1"], False, id="a newer one"),
    pytest.param([], ["t1"], False, id="none is there"),
    pytest.param([], [], True, id="none is asked for"),
]


@pytest.mark.parametrize(("records", "calls", "is_current"), CALLS)
def test_it_is_known_whether_the_answer_is_the_one_that_is_asked_for(
    tmp_path: Path, records: list[Json], calls: list[str], is_current: bool
) -> None:
    assert _read(tmp_path, *records, calls=calls).is_current is is_current


SINCE = [
    pytest.param("2026-11-20T14:59:59.999Z", 0, id="before a compaction"),
    pytest.param("2026-11-20T15:00:00.000Z", 500, id="in its moment"),
    pytest.param("2026-11-20T15:00:00.001Z", 500, id="behind it"),
]


@pytest.mark.parametrize(("at", "tokens"), SINCE)
def test_what_was_answered_before_a_compaction_fills_nothing(
    tmp_path: Path, at: str, tokens: int
) -> None:
    """The line of the compaction itself is not written yet."""
    found = _read(tmp_path, an_answer(500, timestamp=at), since="2026-11-20T15:00:00.000Z")
    assert found.tokens == tokens


def test_of_a_gigabyte_the_end_is_read(tmp_path: Path) -> None:
    """What lies before it is a hole of the file system, and no line of it is ever held."""
    path = put(tmp_path / "t.jsonl", raw(an_answer(900)))
    with path.open("r+b") as file:
        file.truncate(1_000_000_000)
        file.seek(0, os.SEEK_END)
        file.write(b"\n" + raw(an_answer(500, "t1"), result("ok", "t1")))
    before = _bytes_read()
    assert read(str(path), ["t1"]).tokens == 500
    if before is not None:
        assert (_bytes_read() or 0) - before < 1_000_000


def test_where_nothing_is_told_for_long_nobody_looks_further(tmp_path: Path) -> None:
    path = put(tmp_path / "t.jsonl", raw(an_answer(900)))
    os.truncate(path, 200_000_000)
    before = _bytes_read()
    assert read(str(path)).tokens == 0
    if before is not None:
        assert (_bytes_read() or 0) - before < 70_000_000


def _bytes_read() -> int | None:
    """What this process has read so far; None where the system does not tell."""
    try:
        text = Path("/proc/self/io").read_text(encoding="ascii")
    except OSError:
        return None
    return int(text.split()[1])


RESULTS = [
    pytest.param([an_answer(1, "t1"), result("ok", "t1")], ["t1"], True, id="it is there"),
    pytest.param([an_answer(1, "t1")], ["t1"], False, id="the call alone"),
    pytest.param([], ["t1"], False, id="nothing"),
    pytest.param([an_answer(1, "t1"), result("ok", "t1")], [], True, id="none is wanted"),
    pytest.param(
        [an_answer(1, "t1", "t2"), result("ok", "t1"), result("ok", "t2")],
        ["t1", "t2"],
        True,
        id="both of two",
    ),
    pytest.param(
        [an_answer(1, "t1", "t2"), result("ok", "t2")], ["t1", "t2"], False, id="one of two"
    ),
    pytest.param(
        [result("ok", "t1"), an_answer(1, "t2")], ["t1"], False, id="before the last answer"
    ),
]


@pytest.mark.parametrize(("records", "calls", "is_there"), RESULTS)
def test_results_that_are_late_are_waited_for(  # one a fact
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    records: list[Json],
    calls: list[str],
    *,
    is_there: bool,
) -> None:
    path = put(tmp_path / "t.jsonl", raw(*records))
    late = [result("late", call) for call in calls]
    monkeypatch.setattr(gauge, "LATE_SECONDS", HANG_SECONDS)
    monkeypatch.setattr(time, "sleep", lambda _: add(path, *late))
    wait_for_results(str(path), calls)
    assert (b"late" in path.read_bytes()) is not is_there


@pytest.mark.parametrize("path", ["", "/nowhere/t.jsonl", "/"])
def test_results_of_no_file_are_not_waited_for(path: str) -> None:
    wait_for_results(path, ["t1"])


def test_results_that_never_come_are_waited_for_so_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The clock moves where somebody sleeps."""
    path = put(tmp_path / "t.jsonl", raw(an_answer(1, "t1")))
    slept: list[float] = []
    monkeypatch.setattr(time, "sleep", slept.append)
    monkeypatch.setattr(time, "monotonic", lambda: sum(slept))
    wait_for_results(str(path), ["t1"])
    assert sum(slept) == pytest.approx(gauge.LATE_SECONDS, abs=gauge.PAUSE_SECONDS + 1e-6)
    assert gauge.LATE_SECONDS <= 0.15


@pytest.mark.parametrize("path", ["", "/nowhere/t.jsonl", "/", "a\0b"])
def test_a_file_that_is_none_tells_nothing(path: str) -> None:
    found = read(path, ["t1"])
    assert (found.tokens, found.model) == (0, "")
    assert not found.is_readable


def test_an_empty_file_tells_that_nothing_was_answered(tmp_path: Path) -> None:
    assert _read(tmp_path).is_readable


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "t.jsonl")
    assert read(str(tmp_path / "t.jsonl")).tokens == 0


def test_half_of_a_surrogate_pair_names_no_call(tmp_path: Path) -> None:
    assert _read(tmp_path, an_answer(500), calls=["\ud800"]).tokens == 500


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=10),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["usage", "input_tokens", "model", "message", "type"]) | st.text(),
            inner,
            max_size=3,
        )
    ),
    max_leaves=10,
)
records = st.dictionaries(
    st.sampled_from(
        ["type", "message", "isSidechain", "subtype", "isCompactSummary", "requestedModel", "usage"]
    ),
    st.sampled_from(["assistant", "compact_boundary"]) | json_values,
).map(lambda record: json.dumps(record).encode())
marks = st.sampled_from(
    [b'"usage"', b'"compact_boundary"', b'{"type":"assistant","message":', b"{", b"}", b"\xff"]
)
file_bytes = st.lists(records | marks | st.binary(max_size=20), max_size=8).map(b"\n".join)


@given(file_bytes, st.lists(st.text(max_size=5), max_size=2), st.text(max_size=25))
def test_whatever_is_in_the_file_something_is_told(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, calls: list[str], since: str
) -> None:
    path = put(tmp_path_factory.getbasetemp() / "any.jsonl", data)
    found = read(str(path), calls, since)
    assert found.tokens >= 0
    assert isinstance(found.model, str)
