from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opencode.stand_in import CHILD, RECORDED, SESSION, recorded
from sisyphus.clients.base import Payload
from sisyphus.opencode import payload
from sisyphus.opencode.payload import Told

if TYPE_CHECKING:
    from pathlib import Path

    from sisyphus._types import Json

OURS = "/home/user/.claude/.sisyphus"
TRANSCRIPT = f"{OURS}/opencode/{SESSION}.jsonl"
MESSAGES = sorted(RECORDED.glob("*.json"))


def _payload(raw: Json, event: str = "post-tool-use") -> Payload:
    return Payload(event, payload.translate(raw, Told(raw), OURS))


@pytest.mark.parametrize("path", MESSAGES, ids=lambda path: path.stem)
def test_every_recorded_message_is_a_payload_of_its_session(path: Path) -> None:
    found = _payload(recorded(path.stem), path.stem.partition(".")[0])
    assert found.session.startswith("ses_")
    assert found.cwd == "/home/user/project"
    assert found.transcript == f"{OURS}/opencode/{found.session}.jsonl"
    assert found.is_subagent is (path.stem == "post-tool-use.in-subagent")


TOOLS = [
    ("read", "Read", "/home/user/project/a.py"), ("edit", "Edit", "/home/user/project/a.py"),
    ("write", "Write", "/home/user/project/b.txt"), ("bash", "Bash", ""),
    ("todowrite", "TodoWrite", ""), ("task", "Task", ""),
    ("apply_patch", "Edit", "/home/user/project/a.py"),
]  # fmt: skip


@pytest.mark.parametrize(("recording", "name", "path"), TOOLS)
def test_a_tool_call_is_told_in_claude_codes_words(recording: str, name: str, path: str) -> None:
    found = _payload(recorded(f"post-tool-use.{recording}"))
    assert (found.tool, found.tool_path) == (name, path)
    assert found.tool_calls == [found.tool_use_id]
    assert [call["name"] for call in found.succeeded] == [name]


def test_a_subagent_has_its_own_key_and_the_transcript_of_its_session() -> None:
    found = _payload(recorded("post-tool-use.in-subagent"))
    assert (found.key, found.agent) == (f"{SESSION}@{CHILD}", CHILD)
    assert found.transcript == TRANSCRIPT


@pytest.mark.parametrize(
    ("name", "mode", "said"),
    [
        ("stop.plan", "plan", "A plan."),
        ("stop.second", "", "Now it is.\n\n<promise>DONE</promise>"),
    ],
)
def test_a_stop_tells_the_mode_and_what_was_said_last(name: str, mode: str, said: str) -> None:
    found = _payload(recorded(name), "stop")
    assert (found.permission_mode, found.last_message) == (mode, said)
    assert found.follows_stop


def test_nothing_was_said_where_the_text_is_empty() -> None:
    assert _payload(recorded("session-start.startup")).last_message is None


def test_what_stands_in_claude_codes_words_is_left_as_it_is() -> None:
    raw = {
        **recorded("post-tool-use.read"),
        "transcript_path": "/t.jsonl",
        "tool_name": "Other",
        "permission_mode": "acceptEdits",
        "source": None,
    }
    found = payload.translate(raw, Told(raw), OURS)
    assert (found["transcript_path"], found["tool_name"]) == ("/t.jsonl", "Other")
    assert found["permission_mode"] == "acceptEdits"
    assert "source" not in found


PLACES = [
    pytest.param("s1", "", f"{OURS}/opencode/s1.jsonl", id="a session"),
    pytest.param("s1", "a1", f"{OURS}/opencode/s1/subagents/agent-a1.jsonl", id="a subagent"),
    pytest.param("", "", "", id="nobody"),
    pytest.param("", "a1", "", id="a subagent of nobody"),
    pytest.param("../s1", "", "", id="a way up"),
    pytest.param("s1", "../a1", "", id="a subagent's way up"),
    pytest.param("s1", "a/b", "", id="a folder"),
    pytest.param("s1", "?", "", id="a subagent without a usable id"),
]


@pytest.mark.parametrize(("session", "agent", "path"), PLACES)
def test_a_transcript_lies_where_claude_code_would_lay_it(
    session: str, agent: str, path: str
) -> None:
    assert payload.transcript(OURS, session, agent) == path


NOTHING: dict[str, object] = {
    "session": "", "speaker": "", "cwd": "", "agent": "", "text": "", "tool": {}, "lines": [],
    "others": {}, "window": 0,
}  # fmt: skip


def _told(raw: Json) -> dict[str, object]:
    told = Told(raw)
    return {name: getattr(told, name) for name in Told.__slots__}


KINDS = [
    (None, {}), (True, {}), (1.5, {}), (7, {"window": 7}), ("x", {"agent": "x", "text": "x"}),
    ([1], {"lines": [1]}), ({"x": 1}, {"tool": {"x": 1}, "others": {"x": []}}),
]  # fmt: skip
OWN = ("agent", "model", "window", "text", "tool", "lines", "others")


@pytest.mark.parametrize(("value", "understood"), KINDS)
def test_a_part_of_a_wrong_kind_is_nothing(value: object, understood: Json) -> None:
    assert _told({"opencode": dict.fromkeys(OWN, value)}) == {**NOTHING, **understood}


@pytest.mark.parametrize("value", [None, True, 7, "x", [1]])
def test_a_message_without_a_part_of_opencodes_tells_nothing(value: object) -> None:
    assert _told({"opencode": value}) == _told({}) == NOTHING


WINDOWS = [
    (200_000, 200_000), (1, 1), (0, 0), (-1, 0), (10**9, 0), (True, 0), (2e5, 0), ("200000", 0),
    (None, 0),
]  # fmt: skip


@pytest.mark.parametrize(("said", "window"), WINDOWS)
def test_a_window_is_a_number_that_a_model_could_have(said: object, window: int) -> None:
    assert Told({"opencode": {"window": said}}).window == window


SPEAKERS = [
    pytest.param({}, "", id="the session itself"),
    pytest.param({"agent_id": ""}, "", id="an empty id"),
    pytest.param({"agent_id": None}, "", id="null"),
    pytest.param({"agent_id": "a1"}, "a1", id="a subagent"),
    pytest.param({"agent_id": 7}, "?", id="a number is no main session's"),
    pytest.param({"agent_id": ["a1"]}, "?", id="nor is a list"),
]


@pytest.mark.parametrize(("raw", "speaker"), SPEAKERS)
def test_whose_message_it_is(raw: Json, speaker: str) -> None:
    assert Told(raw).speaker == speaker
    assert Payload("stop", raw).agent == speaker


def test_nobody_else_speaks_for_the_main_session() -> None:
    others = {"": [1], "a1": [2], "a2": "x"}
    assert Told({"opencode": {"others": others}}).others == {"a1": [2], "a2": []}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=9), inner, max_size=4)
    ),
    max_leaves=12,
)
NAMES = ("session_id", "agent_id", "cwd", "prompt", "tool_name", "source")


@given(
    st.dictionaries(st.sampled_from(NAMES), JSON),
    JSON | st.dictionaries(st.sampled_from(OWN), JSON),
)
def test_whatever_comes_is_a_payload(raw: dict[str, Any], own: object) -> None:
    whole = {**raw, "opencode": own}
    told = Told(whole)
    found = payload.translate(whole, told, OURS)
    json.dumps(found)
    assert Payload("stop", found).session in ("", told.session)
    for kept in (payload.transcript(OURS, told.session, who) for who in ("", *told.others)):
        assert not kept or kept.startswith(f"{OURS}/opencode/")
        assert ".." not in kept
