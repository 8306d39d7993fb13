from __future__ import annotations

import json
import os
import shutil
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from making import a_payload, a_piece

from sisyphus.clients import base
from sisyphus.clients.base import EVENTS, Outcome, Payload, merge, render, session_folder

if TYPE_CHECKING:
    from pathlib import Path

    from sisyphus._types import Toast

TEXTS = ["source", "reason", "error", "prompt", "prompt_id", "permission_mode", "tool_use_id"]

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
client_words = st.sampled_from(
    [
        "session_id", "agent_id", "cwd", "transcript_path", "tool_name", "tool_input",
        "last_assistant_message", "background_tasks", "session_crons", *TEXTS,
    ]
)  # fmt: skip
tool_inputs = st.dictionaries(st.sampled_from(["file_path", "notebook_path"]), json_values)


@given(st.dictionaries(client_words | st.text(), json_values | tool_inputs))
def test_whatever_comes_every_attribute_has_its_type(raw: dict[str, Any]) -> None:
    payload = Payload("stop", raw)
    for name in ("agent", "cwd", "key", "session", "tool", "tool_path", "transcript", *TEXTS):
        assert isinstance(getattr(payload, name), str)
    assert isinstance(payload.tool_input, dict)
    assert isinstance(payload.background, list)
    assert isinstance(payload.crons, list)
    assert payload.last_message is None or isinstance(payload.last_message, str)


@given(st.dictionaries(client_words, json_values | tool_inputs))
def test_every_path_of_a_payload_can_be_looked_at(raw: dict[str, Any]) -> None:
    payload = Payload("post-tool-use", raw)
    assert os.path.isabs(payload.cwd)
    for path in (payload.cwd, payload.transcript, payload.tool_path):
        assert "\0" not in path
        assert os.fsencode(path) is not None


PROMPTS = [
    pytest.param("do it", (False, False), id="the user's"),
    pytest.param(" <task-notification>", (False, False), id="quoted"),
    pytest.param("<task-notification>\n<id>b1</id>", (True, False), id="a machine's"),
    pytest.param(
        "<task-notification>\n<summary>Stop hook feedback</summary>", (True, True), id="a waking"
    ),
]


@pytest.mark.parametrize(("prompt", "expected"), PROMPTS)
def test_whose_prompt_it_is(prompt: str, expected: tuple[bool, bool]) -> None:
    payload = a_payload("user-prompt-submit", prompt=prompt)
    assert (payload.is_machines, payload.is_waking) == expected


@pytest.mark.parametrize(("mode", "expected"), [("plan", True), ("default", False), (7, False)])
def test_who_only_plans(mode: object, expected: bool) -> None:
    assert a_payload("stop", permission_mode=mode).plans_only is expected


def test_a_missing_message_is_not_an_empty_one() -> None:
    assert a_payload("stop").last_message is None
    assert a_payload("stop", last_assistant_message="").last_message == ""


FOLDERS = [
    pytest.param("/a/b", "/a/b", id="as it is"),
    pytest.param("b/../c", "/here/c", id="a relative one from where we stand"),
    pytest.param(None, "/here", id="none is where we stand"),
    pytest.param(["/a"], "/here", id="no text"),
    pytest.param("/a\0b", "/here", id="a NUL"),
    pytest.param("/\ud800", "/here", id="half of a surrogate pair"),
    pytest.param("/" + "a" * 4_095, "/" + "a" * 4_095, id="as long as a path can be"),
    pytest.param("/" + "a" * 4_096, "/here", id="longer than a path can be"),
]


@pytest.mark.parametrize(("cwd", "folder"), FOLDERS)
def test_a_payload_always_has_a_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cwd: object, folder: str
) -> None:
    monkeypatch.chdir(tmp_path)
    here = os.getcwd()
    assert a_payload(cwd=cwd).cwd == folder.replace("/here", here)


def test_the_folder_we_stand_in_may_be_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    shutil.rmtree(tmp_path / "gone")
    assert a_payload().cwd == "/"


TOUCHED = [
    pytest.param({"file_path": "/a/b.py"}, "/a/b.py", id="an absolute path"),
    pytest.param({"file_path": "b.py"}, "/p/b.py", id="a relative one is below the folder"),
    pytest.param({"file_path": "/a/../b//c.py"}, "/b/c.py", id="without detours"),
    pytest.param({"notebook_path": "/a.ipynb"}, "/a.ipynb", id="a notebook"),
    pytest.param({"file_path": "", "notebook_path": "/n"}, "/n", id="the one that says something"),
    pytest.param({"file_path": 7}, "", id="no text"),
    pytest.param({"path": "/a"}, "", id="the folder of a search is not touched"),
    pytest.param({}, "", id="no path"),
    pytest.param("file_path", "", id="no object"),
]


@pytest.mark.parametrize(("tool_input", "path"), TOUCHED)
def test_a_tool_touches_one_path(tool_input: object, path: str) -> None:
    assert a_payload(cwd="/p", tool_input=tool_input).tool_path == path


CALLS = [
    pytest.param({"file_path": "b.py"}, "b.py", id="as it was given"),
    pytest.param({"notebook_path": "/a.ipynb"}, "/a.ipynb", id="a notebook"),
    pytest.param({"file_path": "/a\0b"}, "", id="a NUL"),
    pytest.param({"file_path": "/\ud800"}, "", id="half of a surrogate pair"),
    pytest.param({"file_path": "/" + "a" * 4_096}, "", id="longer than a path can be"),
    pytest.param({"file_path": ["/a"]}, "", id="no text"),
    pytest.param({}, "", id="none"),
]


@pytest.mark.parametrize(("given_input", "path"), CALLS)
def test_a_call_names_one_path(given_input: dict[str, Any], path: str) -> None:
    assert base.tool_path(given_input) == path


def test_why_a_turn_failed_is_a_word() -> None:
    assert a_payload("stop-failure", error="rate_limit").error == "rate_limit"
    assert a_payload("stop-failure", error={"type": "x"}).error == ""
    assert a_payload("stop-failure").error == ""


def test_a_failed_turn_carries_no_text() -> None:
    assert not base.can_carry_text("stop-failure", None)


KEYS = [
    pytest.param({}, "s1", id="a session"),
    pytest.param({"agent_id": "a1"}, "s1@a1", id="a subagent of it"),
    pytest.param({"agent_id": ""}, "s1", id="an empty agent is none"),
    pytest.param({"agent_id": "a/../b"}, "", id="an agent that can name no file"),
    pytest.param({"agent_id": 7}, "", id="an agent that is no text"),
    pytest.param({"session_id": "../x"}, "", id="a session that can name no file"),
    pytest.param({"session_id": 7}, "", id="a session that is no text"),
    pytest.param({"session_id": "", "agent_id": "a1"}, "", id="an agent without a session"),
]


@pytest.mark.parametrize(("raw", "key"), KEYS)
def test_a_key_names_the_files_of_a_session_or_subagent(raw: dict[str, Any], key: str) -> None:
    assert a_payload(**raw).key == key


AGENTS = [
    pytest.param("stop", {}, False, id="the main thread"),
    pytest.param("stop", {"agent_id": "a1"}, True, id="with an agent's id"),
    pytest.param("stop", {"agent_id": "a/b"}, True, id="with an unusable id all the same"),
    pytest.param("subagent-stop", {}, True, id="SubagentStop without an id"),
]


@pytest.mark.parametrize(("event", "raw", "is_subagent"), AGENTS)
def test_a_subagent_is_known(event: str, raw: dict[str, object], is_subagent: bool) -> None:
    assert a_payload(event, **raw).is_subagent is is_subagent


@pytest.mark.parametrize("source", ["startup", "clear", "compact", "", "something new"])
def test_a_start_finds_an_empty_context(source: str) -> None:
    assert a_payload("session-start", source=source).is_fresh


@pytest.mark.parametrize("source", ["resume", "fork"])
def test_a_resumed_or_forked_session_has_its_context(source: str) -> None:
    assert not a_payload("session-start", source=source).is_fresh


def test_only_a_start_is_fresh() -> None:
    assert not a_payload("user-prompt-submit", source="startup").is_fresh


def test_the_first_reason_stands() -> None:
    assert merge([None, Outcome(), Outcome(reason="a"), Outcome(reason="b")]).reason == "a"
    assert merge([Outcome(reason=""), Outcome(reason="b")]).reason == ""
    assert merge([]).reason is None


def test_pieces_and_notes_follow_each_other() -> None:
    one, two = a_piece("1"), a_piece("2")
    merged = merge([Outcome(pieces=[one], notes=["x"]), None, Outcome(pieces=[two], notes=["x"])])
    assert merged.pieces == [one, two]
    assert merged.notes == ["x", "x"]


def test_a_message_is_said_once() -> None:
    merged = merge([Outcome(messages=["a", "b", "a"]), Outcome(messages=["b", "c"])])
    assert merged.messages == ["a", "b", "c"]


def test_the_soonest_waking_stands() -> None:
    outcomes = [Outcome() for _ in range(3)]
    outcomes[1].wake_after, outcomes[2].wake_after = 30, 0.0
    assert merge(outcomes[:1]).wake_after is None
    assert merge(outcomes[:2]).wake_after == 30
    assert merge([*reversed(outcomes), None]).wake_after == 0.0


def test_toasts_follow_each_other() -> None:
    first, second = Outcome(), Outcome()
    toast: Toast = {
        "variant": "info", "title": "sisyphus", "message": "x", "seconds": 15, "countdown": 0,
    }  # fmt: skip
    first.toasts, second.toasts = [toast], [{**toast, "message": "y"}]
    assert [toast["message"] for toast in merge([first, None, second]).toasts] == ["x", "y"]


IDLE = [
    pytest.param({}, False, True, id="nobody says, as it was once"),
    pytest.param({"hook_event_name": "Stop"}, True, False, id="after a stop"),
    pytest.param({"hook_event_name": "StopFailure"}, False, True, id="after a failure"),
    pytest.param({"hook_event_name": "Other"}, False, False, id="after something else"),
    pytest.param({"hook_event_name": 7}, False, True, id="after no word"),
]


@pytest.mark.parametrize(("raw", "stop", "failure"), IDLE)
def test_an_idle_session_has_stopped_or_failed(
    raw: dict[str, object], *, stop: bool, failure: bool
) -> None:
    payload = a_payload("idle", **raw)
    assert (payload.follows_stop, payload.follows_failure) == (stop, failure)


CARRIERS = [
    pytest.param("session-start", None, True, id="SessionStart"),
    pytest.param("user-prompt-submit", None, True, id="UserPromptSubmit"),
    pytest.param("user-prompt-submit", "ours", False, id="a prompt that we answered"),
    pytest.param("post-tool-use", None, True, id="PostToolUse"),
    pytest.param("post-tool-batch", None, True, id="PostToolBatch"),
    pytest.param("stop", None, False, id="Stop, which text alone would keep going"),
    pytest.param("stop", "go on", True, id="Stop that blocks"),
    pytest.param("session-end", None, False, id="SessionEnd"),
    pytest.param("pre-compact", None, False, id="PreCompact"),
    pytest.param("notification", None, False, id="Notification"),
    pytest.param("subagent-stop", None, False, id="SubagentStop"),
]


@pytest.mark.parametrize(("event", "reason", "can"), CARRIERS)
def test_text_travels_where_it_does_nothing_else(event: str, reason: str | None, can: bool) -> None:
    assert base.can_carry_text(event, reason) is can


def test_nothing_to_say_is_no_reply() -> None:
    assert render("stop", None, "", []) is None


def test_a_reply_is_spelled_in_the_clients_words() -> None:
    assert render("stop", "go on", "text", ["one", "two"]) == {
        "decision": "block",
        "reason": "go on",
        "systemMessage": "one\n\ntwo",
        "hookSpecificOutput": {"hookEventName": "Stop", "additionalContext": "text"},
    }


@pytest.mark.parametrize("event", EVENTS)
def test_text_goes_out_under_the_clients_name_of_the_event(event: str) -> None:
    reply = render(event, None, "text", [])
    assert reply is not None
    assert reply["hookSpecificOutput"]["hookEventName"] == EVENTS[event]


def test_a_block_with_an_empty_reason_is_a_block_still() -> None:
    assert render("stop", "", "", []) == {"decision": "block", "reason": ""}


def test_a_reply_can_be_read_back() -> None:
    reply = json.loads(json.dumps(render("stop", "go on", "text", ["told"])))
    assert base.said_to_model(reply) == "go on\n\ntext"
    assert base.said_to_user(reply) == "told"
    assert base.said_to_model({}) == base.said_to_user({}) == ""


def test_a_session_stays_in_the_folder_where_it_began(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_PROJECT_DIR", str(tmp_path))
    assert session_folder(Payload("stop", {"cwd": "/elsewhere"})) == str(tmp_path)


@pytest.mark.parametrize("named", ["", "relative", "/no/such/folder", "/dev/null"])
def test_a_folder_that_is_none_is_not_where_a_session_began(
    named: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_PROJECT_DIR", named)
    assert session_folder(Payload("stop", {"cwd": "/somewhere"})) == "/somewhere"


TOOL_CALLS = [
    pytest.param({}, [], id="none"),
    pytest.param({"tool_use_id": "t1"}, ["t1"], id="of one tool"),
    pytest.param(
        {"tool_calls": [{"tool_use_id": "t1"}, {"tool_use_id": "t2"}]}, ["t1", "t2"], id="a batch"
    ),
    pytest.param({"tool_calls": [7, {}, {"tool_use_id": 7}, {"tool_use_id": ""}]}, [], id="odd"),
    pytest.param({"tool_calls": {"tool_use_id": "t1"}}, [], id="no list"),
]


@pytest.mark.parametrize(("raw", "calls"), TOOL_CALLS)
def test_an_event_is_about_these_calls(raw: dict[str, Any], calls: list[str]) -> None:
    assert a_payload("post-tool-batch", **raw).tool_calls == calls


def test_a_batch_is_the_end_of_all_calls_of_an_answer() -> None:
    assert a_payload("post-tool-batch").is_batch
    assert not a_payload("post-tool-use").is_batch


SUCCEEDED = [
    pytest.param("post-tool-use", {"tool_use_id": "t1"}, 1, id="a tool"),
    pytest.param("post-tool-use", {}, 0, id="one without a name"),
    pytest.param("post-tool-use-failure", {"tool_use_id": "t1"}, 0, id="a failure"),
    pytest.param("post-tool-batch", {"tool_calls": [{"tool_use_id": "t1"}]}, 0, id="a batch"),
]


@pytest.mark.parametrize(("event", "raw", "number"), SUCCEEDED)
def test_an_event_may_be_the_success_of_a_call(
    event: str, raw: dict[str, Any], number: int
) -> None:
    told = {"tool_name": "Read", "tool_input": {"file_path": "/a"}, "tool_response": {"x": 1}}
    call = {"id": "t1", "name": "Read", "input": {"file_path": "/a"}, "answer": {"x": 1}}
    assert a_payload(event, **told, **raw).succeeded == [call] * number


def test_what_is_to_be_kept_joins() -> None:
    first, second = Outcome(), Outcome()
    first.keep, second.keep = ["a"], ["b", "a"]
    assert merge([first, None, second]).keep == ["a", "b", "a"]


def test_a_summary_is_asked_to_keep_in_an_object_of_ours() -> None:
    assert base.render_keep(["a", "b"]) == {"keep in the summary": ["a", "b"]}
    assert base.render_keep([]) is None
    assert not base.can_carry_text(base.KEEP, None)
