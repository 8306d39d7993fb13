from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner import scripted
from runner.streams import FOLDER, NAMES, fed, recorded
from sisyphus.runner.client.stream import KEPT_CHARACTERS, MOST_SAID, Seen

if TYPE_CHECKING:
    from sisyphus._types import Json

INIT = scripted.init()[1]
SYNTHETIC = "<synthetic>"


def _text(words: str, tokens: int = 1_000, message: str = "") -> Json:
    event: Json = scripted.text(words, tokens, message)[1]
    return event


def _tool(name: str, tokens: int = 1_000, message: str = "", **given: Any) -> Json:
    event: Json = scripted.tool(name, given, tokens, message)[1]
    return event


def _result(words: str = "", **fields: Any) -> Json:
    event: Json = scripted.result(words, **fields)[1]
    return event


def test_a_run_that_went_well() -> None:
    seen = recorded("done")

    assert (seen.has_ended, seen.is_error, seen.is_stream) == (True, False, True)
    assert (seen.subtype, seen.ended_by, seen.api_status) == ("success", "completed", None)
    assert seen.said == ["reading", "All done. <promise>DONE</promise>"]
    assert seen.result == "All done. <promise>DONE</promise>"
    assert (seen.session[:8], seen.model) == ("9384943c", "claude-opus-5-5")
    assert (seen.tool_calls, seen.last_action) == (2, "Bash: ls /nope")
    assert (seen.context, seen.peak, seen.window) == (70_000, 70_000, 1_000_000)
    assert seen.points == [(0, 50_100), (1, 60_000), (2, 70_000)]
    assert seen.spent == 180_130  # as the client sums it up


def test_what_a_background_agent_brings_is_answered_in_the_same_run() -> None:
    seen = recorded("background-agent")

    assert seen.said == ["main done", "[script exhausted]"]
    assert seen.result == "[script exhausted]"
    assert seen.points == [(0, 1_000), (1, 2_000), (1, 100)]
    assert seen.tool_calls == 1
    assert seen.last_action == "Read: a.py"  # the agent's
    assert seen.spent == 18_640


LIMITED = [
    pytest.param("limit", 1_795_239_999, id="a limit that refused us"),
    pytest.param("limit-warning", 0, id="a limit that is near"),
    pytest.param("rate-limit", 0, id="a limit without an end"),
]


@pytest.mark.parametrize(("name", "resets_at"), LIMITED)
def test_a_limit_ends_at_some_time(name: str, resets_at: int) -> None:
    assert recorded(name).resets_at == resets_at


REFUSED = [
    pytest.param("authentication", ("authentication_failed", "", 401), id="no such key"),
    pytest.param("not-logged-in", ("authentication_failed", "", None), id="no key"),
    pytest.param("model", ("model_not_found", "", 404), id="no such model"),
    pytest.param("credit", ("billing_error", "", 400), id="no money"),
    pytest.param("limit", ("rate_limit", "usage_limit_reached", 429), id="the account's limit"),
    pytest.param("refused", ("server_error", "connection_failed", None), id="no server"),
    pytest.param("overloaded", ("server_error", "", 529), id="a server that is overloaded"),
]


@pytest.mark.parametrize(("name", "expected"), REFUSED)
def test_a_refusal_is_named(name: str, expected: tuple[str, str, int | None]) -> None:
    seen = recorded(name)

    assert (seen.error, seen.cause, seen.api_status) == expected
    assert (seen.is_error, seen.has_ended) == (True, True)
    assert (seen.said, seen.spent, seen.context) == ([], 0, 0)
    assert seen.problems == [seen.result]


def test_retries_are_told() -> None:
    seen = recorded("retried")

    retries = [(one.attempt, one.status, one.delay, one.error) for one in seen.retries]
    assert retries == [(1, 529, 0.546, "overloaded"), (2, 429, 1.123, "rate_limit")]
    assert (seen.retrying, seen.said) == (False, ["fine now"])


def test_a_client_that_waits_to_ask_again_is_known() -> None:
    seen = recorded("retrying")
    assert (seen.retrying, seen.retries[-1].status, seen.has_ended) == (True, 0, False)


def test_what_was_not_permitted_is_named() -> None:
    assert recorded("denied").denied == ["Bash: touch /elsewhere"]


def test_a_refused_call_that_nobody_saw_is_still_counted() -> None:
    assert fed(_result(**scripted.denied("call_7"))).denied == ["a tool"]


def test_an_interruption_in_an_answer_leaves_no_result() -> None:
    seen = recorded("interrupted-answer")
    assert (seen.was_interrupted, seen.has_ended) == (True, False)


def test_who_answers_after_an_interruption_goes_on() -> None:
    interrupted = {"type": "user", "message": {"content": "[Request interrupted by user]"}}
    assert not fed(INIT, interrupted, _text("on")).was_interrupted


def test_events_in_a_list() -> None:
    seen = recorded("list")
    assert (seen.said, seen.has_ended) == (["hi <promise>DONE</promise>"], True)


def test_a_result_alone() -> None:
    seen = fed(_result("<promise>DONE</promise>"))
    assert (seen.said, seen.result) == (["<promise>DONE</promise>"], "<promise>DONE</promise>")


def test_the_texts_of_one_answer_are_one_message() -> None:
    seen = fed(INIT, _text("one", message="m1"), _text("two", message="m1"), _text("three"))
    assert seen.said == ["one\ntwo", "three"]


def test_what_a_subagent_says_is_not_said() -> None:
    seen = fed(INIT, scripted.by_subagent(scripted.text("hidden", 5_000, "m1"))[1], _text("shown"))

    assert seen.said == ["shown"]
    assert seen.context == 1_000
    assert seen.spent == 6_002


def test_what_a_subagent_fails_of_is_no_failure_of_the_run() -> None:
    refused = {"type": "assistant", "error": "rate_limit", "is_api_error_message": True}
    assert fed(INIT, {**refused, "parent_tool_use_id": "call_1"}).error == ""


def test_a_refusal_that_was_got_over_is_forgotten() -> None:
    refused = {"type": "assistant", "error": "invalid_request", "is_api_error_message": True}
    assert fed(INIT, refused).error == "invalid_request"
    assert fed(INIT, refused, _text("on")).error == ""


def test_an_answer_counts_once() -> None:
    repeated = [_text("one", message="m1"), _tool("Read", message="m1"), _text("two", message="m1")]
    assert fed(INIT, *repeated).spent == 1_001


def test_an_answer_that_grew_counts_as_it_is_in_the_end() -> None:
    assert fed(INIT, _text("one", 100, "m1"), _text("two", 250, "m1")).spent == 251


def test_a_compaction_empties_the_context() -> None:
    compacted = {
        "type": "system",
        "subtype": "compact_boundary",
        "compact_metadata": {"trigger": "auto", "pre_tokens": 967_000, "post_tokens": 2_666},
    }
    seen = fed(INIT, _text("full", 967_000), compacted)

    assert (seen.context, seen.peak) == (2_666, 967_000)


def test_paths_are_shown_from_the_project_on() -> None:
    seen = fed({**INIT, "cwd": "/project"}, _tool("Edit", file_path="/project/src/a.py"))
    assert seen.last_action == "Edit: src/a.py"


def test_an_action_does_nothing_to_a_terminal() -> None:
    seen = fed(INIT, _tool("Bash", command="echo \x1b[31m\x07red"))
    assert seen.last_action == "Bash: echo  [31m red"


WINDOWS = [
    pytest.param({"claude-opus-5-5": {"contextWindow": 1_000_000}}, 1_000_000, id="by its name"),
    pytest.param({"other": {"contextWindow": 200_000}}, 200_000, id="of the only one"),
    pytest.param({"claude-opus-5-5": {"contextWindow": -1}}, 0, id="that cannot be"),
    pytest.param({"claude-opus-5-5": 7}, 0, id="of another shape"),
    pytest.param([], 0, id="of nobody"),
]


@pytest.mark.parametrize(("used", "window"), WINDOWS)
def test_the_window_of_the_model(used: object, window: int) -> None:
    assert fed(INIT, _result(modelUsage=used)).window == window


def test_what_the_model_said_last_is_no_report_of_a_failure() -> None:
    seen = fed(INIT, _text("401 unauthorized"), _result("401 unauthorized", is_error=True))
    assert seen.problems == []


def test_an_error_by_its_subtype_alone() -> None:
    assert fed(INIT, _result(subtype="error_max_turns")).is_error


def test_the_text_of_another_program_is_what_was_said() -> None:
    seen = fed("starting", "\x1b[32m<promise>DONE</promise>\x1b[0m", "")

    assert seen.said == ["starting\n<promise>DONE</promise>"]
    assert (seen.is_stream, seen.has_ended) == (False, False)


NO_EVENTS = [
    pytest.param('{"level": "info", "type": "log"}', id="another program's JSON"),
    pytest.param("[1, 2]", id="a list of numbers"),
    pytest.param('[{"a": 1}]', id="a list of objects"),
    pytest.param('{"type": "assistant"', id="half an event"),
    pytest.param("{}", id="an empty object"),
    pytest.param("[" * 50_000, id="too deep"),
]


@pytest.mark.parametrize("line", NO_EVENTS)
def test_what_is_no_event_is_text(line: str) -> None:
    seen = fed(line)
    assert (seen.is_stream, seen.said) == (False, [line])


def test_of_a_lot_of_text_the_end_is_kept() -> None:
    seen = Seen()
    for number in range(60_000):
        seen.feed(b"line %d\n" % number)

    (text,) = seen.said
    assert len(text) <= KEPT_CHARACTERS
    assert text.endswith("line 59999")


def test_what_a_wrapper_prints_beside_the_client_is_not_said() -> None:
    assert fed("starting", INIT, _text("hi"), "done", _result("hi")).said == ["hi"]


def test_events_of_a_later_client_are_passed_over() -> None:
    assert fed(INIT, {"type": "telepathy", "message": 7}, _text("hi")).said == ["hi"]


def test_a_long_run_is_bounded() -> None:
    seen = Seen()
    for number in range(3_000):
        event = _text(f"text {number}", 1_000 + number, f"m{number}")
        seen.feed(json.dumps(event).encode())

    assert len(seen.said) == MOST_SAID
    assert seen.said[-1] == "text 2999"
    assert len(seen.points) <= 500
    assert (seen.points[0], seen.points[-1]) == ((0, 1_000), (0, 3_999))


SHAPES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=8,
)
FIELDS = st.sampled_from([
    "api_error_params", "api_error_status", "compact_metadata", "cwd", "error", "errors",
    "is_api_error_message", "is_error", "message", "model", "modelUsage", "parent_tool_use_id",
    "permission_denials", "rate_limit_info", "result", "retry_delay_ms", "session_id", "uuid",
])  # fmt: skip
KINDS = st.sampled_from(["assistant", "user", "system", "result", "rate_limit_event", "x"])
SUBTYPES = st.sampled_from(["init", "api_retry", "compact_boundary", "success"]) | SHAPES
MESSAGES = st.fixed_dictionaries(
    {},
    optional={
        "id": SHAPES,
        "content": SHAPES | st.lists(st.fixed_dictionaries({
            "type": st.sampled_from(["text", "tool_use"]),
            "name": SHAPES | st.just("Skill"), "input": SHAPES, "text": SHAPES, "id": SHAPES,
        })),
        "usage": st.dictionaries(st.sampled_from(["input_tokens", "output_tokens"]), SHAPES),
    },
)  # fmt: skip


@given(
    st.lists(
        st.tuples(KINDS | SHAPES, SUBTYPES, SHAPES | MESSAGES, st.dictionaries(FIELDS, SHAPES)),
        max_size=6,
    )
)
def test_no_event_is_too_much(events: list[tuple[Any, Any, Any, Json]]) -> None:
    seen = Seen()
    seen.feed(b'{"type": "system"}')
    for kind, subtype, message, fields in events:
        event = {**fields, "type": kind, "subtype": subtype, "message": message}
        seen.feed(json.dumps(event).encode())

    assert min(seen.spent, seen.context, seen.window, seen.tool_calls, seen.resets_at) >= 0
    assert seen.peak >= max((tokens for _, tokens in seen.points), default=0)
    json.dumps([seen.said, seen.last_action, seen.denied, seen.problems, seen.result])


@given(st.lists(st.binary(max_size=40), max_size=8))
def test_no_line_is_too_much(lines: list[bytes]) -> None:
    seen = Seen()
    for line in lines:
        seen.feed(line)
    "".join(seen.said).encode()


@given(st.sampled_from(NAMES), st.data())
def test_a_stream_may_end_anywhere(name: str, data: st.DataObject) -> None:
    stream = (FOLDER / f"{name}.jsonl").read_bytes()
    cut = stream[: data.draw(st.integers(0, len(stream)))]
    seen = Seen()
    for line in cut.splitlines():
        seen.feed(line)

    whole = recorded(name)
    assert seen.spent <= whole.spent
    assert whole.said[: len(seen.said)] == seen.said or not seen.is_stream
