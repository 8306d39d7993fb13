from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from command_files import put_foreign, put_ours, put_skill
from making import a_payload, a_space, a_start, debug_log, ours, put, run_hook

from ralph.lines import add, prompt
from sisyphus.ralph import store
from sisyphus.ralph.hooks import (
    on_post_tool_use,
    on_session_end,
    on_session_start,
    on_stop_failure,
    on_user_prompt_submit,
)
from sisyphus.ralph.loop import BY_HOST_CAP, Loop

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from sisyphus.clients.base import Outcome, Payload
    from sisyphus.ralph.memory import Memory

ARGS = '"do it" --completion-promise "DONE"'
TYPED = f"/ralph-wiggum:ralph-loop {ARGS}"
NOW = "1970-01-12T13:46:40.000Z"  # the clock of `a_space`


def _start(project: Path, payload: Payload) -> Outcome | None:
    return on_session_start(payload, a_space(project))


def _submit(project: Path, text: str, **raw: object) -> Outcome | None:
    payload = a_payload("user-prompt-submit", prompt=text, prompt_id="p1", **raw)
    return on_user_prompt_submit(payload, a_space(project))


def _use(project: Path, args: str, call: str = "toolu_1", **raw: object) -> Outcome | None:
    fields: dict[str, object] = {
        "tool_name": "Skill",
        "tool_input": {"skill": "ralph-wiggum:ralph-loop", "args": args},
        "tool_use_id": call,
        **raw,
    }
    return on_post_tool_use(a_payload("post-tool-use", **fields), a_space(project))


def _loops(home: Path, session: str = "s1") -> list[Loop]:
    with store.LoopStore(str(ours(home, "")), session) as held:
        return held.loops


def _memory(home: Path) -> Memory:
    return store.glance(str(ours(home, "")), "s1")


def _give(home: Path, *loops: Loop, blocks: int = 0) -> None:
    with store.LoopStore(str(ours(home, "")), "s1") as held:
        held.memory.blocks = blocks
        held.save(loops)


def _loop(name: str = "aaaaa") -> Loop:
    loop = Loop("s1", name, "do it")
    loop.completion_promise = "DONE"
    return loop


def test_a_fork_is_noted_with_its_time(project: Path, home: Path) -> None:
    assert _start(project, a_start("fork")) is None

    assert (_memory(home).forked_at, _memory(home).met_at) == (NOW, "")


def test_a_session_that_is_resumed_before_it_was_met_is_noted(project: Path, home: Path) -> None:
    _start(project, a_start("resume"))

    assert (_memory(home).forked_at, _memory(home).met_at) == ("", NOW)


@pytest.mark.parametrize("source", ["fork", "resume"])
def test_a_session_that_is_known_is_not_noted_again(project: Path, home: Path, source: str) -> None:
    _give(home, blocks=3)

    assert _start(project, a_start(source)) is None
    assert (_memory(home).forked_at, _memory(home).met_at) == ("", "")


@pytest.mark.parametrize("source", ["startup", "clear", "compact", "", "new"])
def test_other_starts_leave_nothing(project: Path, home: Path, source: str) -> None:
    assert _start(project, a_start(source)) is None

    assert not ours(home, "ralph").exists()


def test_after_a_compaction_the_model_does_not_know_its_prompt(project: Path, home: Path) -> None:
    _give(home, _loop("aaaaa"), _loop("bbbbb"))

    outcome = _start(project, a_start("compact"))

    assert outcome is not None
    assert "prompt" in outcome.notes[0]
    assert [loop.prompt_known for loop in _loops(home)] == [False, False]


NOBODY = [
    pytest.param({"session_id": ""}, id="no session"),
    pytest.param({"session_id": "../x"}, id="an unsafe session"),
    pytest.param({"agent_id": "a1"}, id="a subagent"),
]


@pytest.mark.parametrize("raw", NOBODY)
def test_nothing_is_noted_of_nobody(project: Path, home: Path, raw: dict[str, object]) -> None:
    assert _start(project, a_start("fork", **raw)) is None
    assert _submit(project, TYPED, **raw) is None
    assert on_stop_failure(a_payload("stop-failure", **raw), a_space(project)) is None
    assert on_session_end(a_payload("session-end", **raw), a_space(project)) is None

    assert not ours(home, "ralph").exists()


def test_a_typed_command_starts_a_loop_at_once(project: Path, home: Path) -> None:
    outcome = _submit(project, TYPED)

    (loop,) = _loops(home)
    assert (loop.prompt, loop.completion_promise, loop.iteration) == ("do it", "DONE", 1)
    assert (loop.project, loop.started_at) == (str(project), NOW)
    assert outcome is not None
    assert outcome.notes == [f"loop {loop.loop_id} started"]
    assert outcome.reason is None
    told = f"Ralph loop {loop.loop_id} goes on until <promise>DONE</promise>, "
    assert outcome.messages == [told + "at most 100 iterations, 1,440 minutes."]
    assert _memory(home).starts == ["prompt p1"]


BARE = f"/ralph-loop {ARGS}"
CALLED = {"skill": "ralph-loop", "args": ARGS}


def test_a_command_of_ours_without_a_prefix_starts_one_too(project: Path, home: Path) -> None:
    put_ours(home / ".claude", "ralph-loop")

    assert _submit(project, BARE) is not None
    (typed,) = _loops(home)
    assert (typed.prompt, typed.completion_promise) == ("do it", "DONE")
    assert _use(project, "", tool_input={**CALLED, "args": "more"}) is not None
    assert [loop.prompt for loop in _loops(home)] == ["do it", "more"]


def test_what_is_wrong_with_it_is_told_at_once(project: Path, home: Path) -> None:
    put_ours(home / ".claude", "ralph-loop")

    outcome = _submit(project, "/ralph-loop go --max-iterations x")

    assert outcome is not None
    assert "--max-iterations" in str(outcome.reason)
    assert _loops(home) == []


@pytest.mark.parametrize(
    "put_command", [put_foreign, put_skill, lambda *_: None], ids=["c", "s", "n"]
)
def test_somebody_elses_command_of_that_name_starts_none(
    project: Path, home: Path, put_command: Callable[[Path, str], object]
) -> None:
    put_command(home / ".claude", "ralph-loop")

    assert _submit(project, BARE) is None
    assert _use(project, "", tool_input=CALLED) is None
    assert _loops(home) == []


def test_what_was_said_and_done_before_is_not_the_loops(
    project: Path, home: Path, tmp_path: Path
) -> None:
    transcript = tmp_path / "t.jsonl"
    add(transcript, prompt("x"))
    _give(home, blocks=5)

    _submit(project, TYPED, transcript_path=str(transcript))

    assert _memory(home).offset_in(str(transcript)) == transcript.stat().st_size
    assert _memory(home).blocks == 0


def test_a_new_loop_replaces_what_the_user_has(project: Path, home: Path) -> None:
    _give(home, _loop("aaaaa"), _loop("bbbbb"))

    outcome = _submit(project, TYPED.replace("do it", "do that"))

    assert [loop.prompt for loop in _loops(home)] == ["do that"]
    assert outcome is not None
    assert outcome.notes[:2] == [
        "loop aaaaa cancelled: a new one replaces it",
        "loop bbbbb cancelled: a new one replaces it",
    ]


def test_our_own_command_typed_wrongly_is_answered(project: Path, home: Path) -> None:
    outcome = _submit(project, "/sisyphus:ralph-loop do it --max-iterations five")

    assert outcome is not None
    assert outcome.reason is not None
    assert outcome.reason.startswith("[RALPH LOOP NOT STARTED]\n\n--max-iterations needs")
    assert _loops(home) == []


def test_another_plugins_command_typed_wrongly_runs_without_us(project: Path, home: Path) -> None:
    outcome = _submit(project, "/ralph-wiggum:ralph-loop do it --bad")

    assert outcome is not None
    assert outcome.reason is None
    assert "unknown option --bad" in outcome.messages[0]
    assert _loops(home) == []
    assert _memory(home).starts == ["prompt p1"]


def test_a_bad_command_line_keeps_the_loop_there_is(project: Path, home: Path) -> None:
    _give(home, _loop())
    _submit(project, "/ralph-wiggum:ralph-loop --bad")

    assert [loop.loop_id for loop in _loops(home)] == ["aaaaa"]


SILENT = [
    pytest.param("go on", id="a prompt"),
    pytest.param("what does /ralph-wiggum:ralph-loop do?", id="prose"),
    pytest.param(f"<task-notification>{TYPED}</task-notification>", id="a machine's turn"),
    pytest.param("", id="nothing"),
]


@pytest.mark.parametrize("text", SILENT)
def test_other_prompts_start_nothing(project: Path, home: Path, text: str) -> None:
    assert _submit(project, text) is None
    assert not ours(home, "ralph").exists()


def test_nothing_starts_where_ralph_is_switched_off(
    project: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SISYPHUS_RALPH_ENABLED", "0")

    assert _submit(project, TYPED) is None
    assert not ours(home, "ralph").exists()


def test_the_users_prompt_resumes_a_loop_that_the_cap_paused(project: Path, home: Path) -> None:
    loop = _loop()
    loop.pause(BY_HOST_CAP, 0.0)
    _give(home, loop, blocks=7)

    outcome = _submit(project, "go on")

    assert outcome is not None
    assert outcome.notes == ["the loop goes on: the user spoke"]
    assert not _loops(home)[0].is_paused
    assert _memory(home).blocks == 0


def test_a_machines_prompt_does_not(project: Path, home: Path) -> None:
    loop = _loop()
    loop.pause(BY_HOST_CAP, 0.0)
    _give(home, loop)

    assert _submit(project, "<task-notification>done</task-notification>") is None
    assert _loops(home)[0].is_paused


def test_a_command_that_is_answered_resumes_nothing(project: Path, home: Path) -> None:
    loop = _loop()
    loop.pause(BY_HOST_CAP, 0.0)
    _give(home, loop)

    outcome = _submit(project, "/sisyphus:ralph-status")

    assert outcome is not None
    assert outcome.reason is not None
    assert _loops(home)[0].is_paused


def test_a_command_of_somebody_elses_is_a_prompt(project: Path, home: Path) -> None:
    loop = _loop()
    loop.pause(BY_HOST_CAP, 0.0)
    _give(home, loop)

    _submit(project, "/other:ralph-thing")

    assert not _loops(home)[0].is_paused


@pytest.mark.parametrize("command", ["/sisyphus:boulder-status", "/boulder-clear"])
def test_a_prompt_that_never_reaches_the_model_does_not_either(
    project: Path, home: Path, command: str
) -> None:
    loop = _loop()
    loop.pause(BY_HOST_CAP, 0.0)
    _give(home, loop)

    payload = {"session_id": "s1", "cwd": str(project), "prompt": command}
    assert run_hook("user-prompt-submit", payload)[0] == 0
    assert _loops(home)[0].is_paused


def test_a_loop_that_the_user_paused_stays_paused(project: Path, home: Path) -> None:
    loop = _loop()
    loop.pause("", 0.0)
    _give(home, loop)

    assert _submit(project, "go on") is None
    assert _loops(home)[0].is_paused


def test_the_models_call_starts_a_loop_at_once(project: Path, home: Path, tmp_path: Path) -> None:
    transcript = tmp_path / "t.jsonl"
    add(transcript, prompt("x"))

    outcome = _use(project, ARGS, transcript_path=str(transcript))

    (loop,) = _loops(home)
    assert (loop.prompt, loop.origin, loop.by_model) == ("do it", "call toolu_1", True)
    assert outcome is not None
    assert outcome.notes == [f"loop {loop.loop_id} started"]
    assert _memory(home).starts == ["call toolu_1"]
    assert _memory(home).offset_in(str(transcript)) == transcript.stat().st_size


def test_the_models_call_is_nested_in_the_loop_there_is(
    project: Path, home: Path, tmp_path: Path
) -> None:
    _give(home, _loop(), blocks=3)
    transcript = tmp_path / "t.jsonl"
    add(transcript, prompt("x"))

    _use(project, '"that" --completion-promise OTHER', transcript_path=str(transcript))

    assert [loop.prompt for loop in _loops(home)] == ["do it", "that"]
    assert _memory(home).offset_in(str(transcript)) == 0
    assert _memory(home).blocks == 3


def test_the_same_call_starts_no_second_loop(project: Path, home: Path) -> None:
    _use(project, ARGS)
    _use(project, ARGS)
    _use(project, ARGS, call="toolu_2")

    assert len(_loops(home)) == 1


def test_what_the_model_called_wrongly_is_told_to_the_user(project: Path, home: Path) -> None:
    outcome = _use(project, ARGS + " --verify 'make test'")

    assert outcome is not None
    assert "--verify names a command" in outcome.messages[0]
    assert _loops(home) == []


OTHER_CALLS = [
    pytest.param({"tool_name": "Bash"}, id="another tool"),
    pytest.param({"tool_input": {"skill": "other:skill"}}, id="another skill"),
    pytest.param({"tool_input": "ralph-wiggum:ralph-loop"}, id="no input"),
    pytest.param({"agent_id": "a1"}, id="a subagent"),
    pytest.param({"session_id": ""}, id="no session"),
]


@pytest.mark.parametrize("raw", OTHER_CALLS)
def test_other_calls_start_nothing(project: Path, home: Path, raw: dict[str, object]) -> None:
    assert _use(project, ARGS, "toolu_1", **raw) is None
    assert not ours(home, "ralph").exists()


def test_the_model_starts_nothing_where_ralph_is_switched_off(
    project: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SISYPHUS_RALPH_ENABLED", "0")

    assert _use(project, ARGS) is None
    assert not ours(home, "ralph").exists()


def test_state_of_a_newer_version_is_left_alone(project: Path, home: Path) -> None:
    path = put(ours(home, "ralph/loops/ralph-loop.s1.local.md"), "---\nversion: 99\n---\n\nfuture")

    for outcome in (
        _submit(project, TYPED),
        _submit(project, "x"),
        _use(project, ARGS),
        _start(project, a_start("compact")),
    ):
        assert outcome is not None
        assert "newer sisyphus" in outcome.notes[0]
    assert path.read_text() == "---\nversion: 99\n---\n\nfuture"
    assert "newer sisyphus" in debug_log(home)


def test_a_folder_that_cannot_be_made_is_no_reason_to_fail(project: Path, home: Path) -> None:
    put(ours(home, "ralph"), "in the way")

    refused, forked = _submit(project, TYPED), _start(project, a_start("fork"))
    assert refused is not None
    assert "[RALPH LOOP NOT STARTED]" in refused.messages[0]
    assert forked is not None
    assert "left alone" in forked.notes[0]
    assert os.path.isfile(ours(home, "ralph"))
