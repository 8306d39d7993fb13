from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from making import configure, debug_log, ours, put, stored
from ralph.lines import (
    continued,
    notified,
    prompt,
    result,
    said,
    skill,
    thought,
    typed,
    used,
)

from arbiter.desk import ARGS, NOW, PROMISE
from sisyphus.arbiter.hooks import NOTE_BYTES
from sisyphus.clients.claude_code import CAP_VARIABLE

if TYPE_CHECKING:
    from pathlib import Path

    from arbiter.desk import Desk

RUNNING = {"id": "b1", "type": "shell", "status": "running"}
MEMORY = "ralph/loops/session-s1.json"


def _typed_loop(desk: Desk, args: str = ARGS) -> Desk:
    desk.add(typed(args))
    return desk


# --- sessions that are not to be held -----------------------------------------------------------

FREE = [
    pytest.param({"session_id": ""}, id="no session"),
    pytest.param({"session_id": "../../x"}, id="an unsafe session"),
    pytest.param({"session_id": None}, id="a session that is no text"),
]


@pytest.mark.parametrize("raw", FREE)
def test_a_stop_without_a_session_blocks_nobody(desk: Desk, raw: dict[str, object]) -> None:
    _typed_loop(desk)

    with pytest.raises(AssertionError):  # None: nothing to say
        desk.stop("working", **raw)
    assert not ours(desk.home, "ralph").exists()


ALLOWED = [
    pytest.param({"agent_id": "a1"}, "a subagent stops freely", id="a subagent"),
    pytest.param({"permission_mode": "plan"}, "plan mode waits for the user", id="plan mode"),
]


@pytest.mark.parametrize(("raw", "why"), ALLOWED)
def test_some_stops_are_allowed_at_once(desk: Desk, raw: dict[str, object], why: str) -> None:
    _typed_loop(desk)
    desk.answer("working")
    before = stored(ours(desk.home, MEMORY))

    outcome = desk.stop(PROMISE, **raw)

    assert (outcome.reason, outcome.messages) == (None, [])
    assert outcome.notes == [f"allowed: {why}"]
    assert stored(ours(desk.home, MEMORY)) == before


def test_switched_off_ralph_holds_nobody(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    _typed_loop(desk)
    monkeypatch.setenv("SISYPHUS_RALPH_ENABLED", "0")

    assert desk.stop("working").notes == ["allowed: ralph is switched off"]


# --- a quiet session ----------------------------------------------------------------------------


def test_a_quiet_stop_says_so_and_leaves_no_file(desk: Desk) -> None:
    desk.add(prompt("hello"), said("hi"))

    outcome = desk.stop("hi")

    assert (outcome.reason, outcome.texts, outcome.messages) == (None, [], [])
    assert outcome.notes == ["allowed: no loop is active"]
    assert not ours(desk.home, "ralph").exists()


def test_a_long_transcript_is_not_read_again(desk: Desk) -> None:
    desk.add(prompt("x" * NOTE_BYTES))
    desk.stop("hi")

    assert stored(ours(desk.home, MEMORY))["offset"] == desk.transcript.stat().st_size


def test_prose_about_ralph_starts_nothing(desk: Desk) -> None:
    desk.add(prompt(f"What does /ralph-wiggum:ralph-loop {ARGS} do?"), said("it loops"))

    assert desk.stop("it loops, context compacted, done").reason is None
    assert not ours(desk.home, "ralph").exists()


# --- blocking -----------------------------------------------------------------------------------


def test_a_message_without_words_does_not_end_a_loop(desk: Desk) -> None:
    _typed_loop(desk)
    desk.add(thought("<promise>DONE</promise>"), used("Read"), result(PROMISE))

    for message in ("", None):
        outcome = desk.stop(message)
        assert outcome.reason is not None
        assert "the model said nothing" in outcome.notes[0]


def test_text_of_subagents_does_not_end_a_loop(desk: Desk) -> None:
    _typed_loop(desk)
    desk.add(said(PROMISE, isSidechain=True))

    assert desk.stop("the agent is done").reason is not None


BEFORE = [
    pytest.param([typed(ARGS), said(PROMISE), prompt("it is not, go on")], id="the last prompt"),
    pytest.param([typed(ARGS), said(PROMISE), continued()], id="the last continuation"),
    pytest.param([said(PROMISE), typed(ARGS)], id="the loop"),
    pytest.param([prompt("x"), said(PROMISE), skill(ARGS)], id="the model's loop"),
]


@pytest.mark.parametrize("records", BEFORE)
def test_a_promise_does_not_count_that_was_given_before(
    desk: Desk, records: list[dict[str, object]]
) -> None:
    desk.add(*records)

    assert desk.stop("working").reason is not None


def test_a_promise_in_the_middle_of_the_turn_counts(desk: Desk) -> None:
    _typed_loop(desk)
    desk.add(said(PROMISE), used("Bash"), result("pushed"))

    assert desk.stop("Pushed it as well.").reason is None


# --- ends ---------------------------------------------------------------------------------------


def test_a_kept_promise_ends_the_loop_for_good(desk: Desk) -> None:
    _typed_loop(desk)
    desk.answer("working")
    loop_id = desk.loop.loop_id

    outcome = desk.answer(PROMISE)

    assert outcome.notes == ["ended: promise `DONE` kept", f"loop {loop_id} ended: success"]
    assert desk.loops == []
    assert desk.answer("hello again").notes == ["allowed: no loop is active"]


def test_an_ended_loop_does_not_come_back_from_another_copy_of_the_transcript(
    desk: Desk, tmp_path: Path
) -> None:
    _typed_loop(desk)
    desk.answer(PROMISE)
    copy = put(tmp_path / "copy.jsonl", desk.transcript.read_bytes())

    outcome = desk.stop("hello again", transcript_path=str(copy))

    assert outcome.reason is None
    assert desk.loops == []


def test_the_limit_ends_the_loop_and_says_so(desk: Desk) -> None:
    _typed_loop(desk, f"{ARGS} --max-iterations 3")

    outcomes = [desk.answer("working") for _ in range(4)]

    assert [outcome.reason is not None for outcome in outcomes] == [True, True, False, False]
    assert "[RALPH LOOP ENDED]" in outcomes[2].messages[0]
    assert "the limit of 3 iterations is reached" in outcomes[2].messages[0]
    assert outcomes[2].notes[0] == "ended: the limit of 3 iterations is reached"
    assert outcomes[2].notes[1].endswith(" ended: max_iterations")
    assert outcomes[3].messages == []


def test_a_limit_of_one_ends_the_loop_at_its_first_stop(desk: Desk) -> None:
    _typed_loop(desk, f"{ARGS} --max-iterations 1")

    assert desk.answer("working").reason is None


def test_the_promise_at_the_last_iteration_is_a_success(desk: Desk) -> None:
    _typed_loop(desk, f"{ARGS} --max-iterations 1")

    assert "[RALPH LOOP COMPLETE]" in desk.answer(PROMISE).messages[0]


def test_a_loop_whose_file_was_removed_stays_away(desk: Desk) -> None:
    _typed_loop(desk)
    desk.answer("working")
    ours(desk.home, "ralph/loops/ralph-loop.s1.local.md").unlink()

    assert desk.answer("working").reason is None
    assert desk.loops == []


def test_a_new_command_replaces_the_loop(desk: Desk) -> None:
    _typed_loop(desk)
    desk.answer("working")
    desk.add(typed('"that" --completion-promise OTHER'))

    outcome = desk.answer(PROMISE)

    assert "<promise>OTHER</promise>" in str(outcome.reason)
    assert outcome.notes[0].endswith("iteration 2 of 100")
    assert outcome.notes[1].endswith(" ended: cancelled")


# --- starts -------------------------------------------------------------------------------------


def test_a_bad_command_line_is_told_once(desk: Desk) -> None:
    _typed_loop(desk, "do it --bad")

    first, second = desk.answer("working"), desk.answer("working")

    assert first.reason is None
    assert "[RALPH LOOP NOT STARTED]\n\nunknown option --bad." in first.messages[0]
    assert second.messages == []


def test_what_the_user_typed_wrongly_is_not_told_again_at_stop(desk: Desk) -> None:
    desk.prompt("/ralph-wiggum:ralph-loop do it --bad", prompt_id="p7")
    desk.add(typed("do it --bad", prompt_id="p7"))

    assert desk.answer("working").messages == []


def test_a_failed_call_of_the_skill_starts_nothing(desk: Desk) -> None:
    desk.add(prompt("x"), skill(ARGS), result("Unknown skill", is_error=True))

    assert desk.answer("working").reason is None


def test_the_model_cannot_take_a_loop_beyond_the_default_limit(desk: Desk) -> None:
    desk.add(prompt("x"), skill(f"{ARGS} --max-iterations 0"))

    assert "the model asked for --max-iterations 0; it gets 100" in desk.answer("x").notes
    assert desk.loop.max_iterations == 100


def test_a_fork_adopts_no_loop(desk: Desk) -> None:
    _typed_loop(desk)
    desk.start("fork")

    assert desk.stop("working").reason is None


def test_a_fork_may_have_a_loop_of_its_own(desk: Desk) -> None:
    _typed_loop(desk, '"parent" --completion-promise OTHER')
    desk.start("fork")
    desk.add(typed(ARGS, timestamp="2099-01-01T00:00:00.000Z"))

    assert "<promise>DONE</promise>" in str(desk.stop("working").reason)


def test_a_session_that_is_resumed_keeps_its_loop(desk: Desk) -> None:
    _typed_loop(desk)
    desk.answer("working")
    desk.start("resume")
    desk.add(prompt("go on"))

    assert desk.answer("working").notes[0].endswith("iteration 3 of 100")


def test_a_loop_that_nobody_saw_is_found_after_a_resume(desk: Desk) -> None:
    desk.add(typed(ARGS), said("working"))
    desk.start("resume")
    desk.add(prompt("go on"))

    assert desk.answer("working").reason is not None


def test_a_loop_that_ended_while_nobody_saw_stays_ended(desk: Desk) -> None:
    desk.add(typed(ARGS), said(PROMISE))
    desk.start("resume")
    desk.add(prompt("something else"))

    assert desk.answer("working").reason is None


# --- background work ----------------------------------------------------------------------------


def test_background_work_excuses_and_counts_nothing(desk: Desk) -> None:
    _typed_loop(desk)
    desk.answer("working")

    outcome = desk.answer("waiting", background_tasks=[RUNNING])

    assert outcome.reason is None
    assert outcome.notes == ["allowed: background work is pending: b1"]
    assert desk.loop.iteration == 2
    assert stored(ours(desk.home, MEMORY))["blocks"] == 1


def test_a_scheduled_wake_up_excuses_too(desk: Desk) -> None:
    _typed_loop(desk)

    assert desk.answer("waiting", session_crons=[{"id": "c1"}]).reason is None


def test_background_work_excuses_for_ten_minutes(desk: Desk) -> None:
    _typed_loop(desk)
    desk.answer("waiting", background_tasks=[RUNNING])

    desk.now = NOW + 599
    assert desk.answer("waiting", background_tasks=[RUNNING]).reason is None
    desk.now = NOW + 601
    assert desk.answer("waiting", background_tasks=[RUNNING]).reason is not None


def test_the_time_is_a_setting(desk: Desk) -> None:
    configure("ralph.background_wait", 0)
    _typed_loop(desk)

    assert desk.answer("waiting", background_tasks=[RUNNING]).reason is not None


def test_a_server_that_ran_before_the_loop_does_not_excuse(desk: Desk) -> None:
    desk.add(prompt("start the server"))
    desk.answer("it runs", background_tasks=[RUNNING])
    _typed_loop(desk)

    assert desk.answer("working", background_tasks=[RUNNING]).reason is not None
    assert desk.answer("x", background_tasks=[RUNNING, {**RUNNING, "id": "b2"}]).reason is None


def test_what_ran_for_one_loop_does_not_excuse_the_next(desk: Desk) -> None:
    _typed_loop(desk)
    desk.answer("waiting", background_tasks=[RUNNING])
    desk.prompt('/ralph-wiggum:ralph-loop "that" --completion-promise DONE', prompt_id="p2")

    assert desk.answer("working", background_tasks=[RUNNING]).reason is not None


def test_the_promise_ends_the_loop_in_spite_of_background_work(desk: Desk) -> None:
    _typed_loop(desk)

    assert desk.answer(PROMISE, background_tasks=[RUNNING]).messages != []
    assert desk.loops == []


# --- the client's cap ---------------------------------------------------------------------------


def _count(desk: Desk, stops: int) -> list[bool]:
    return [desk.answer("working").reason is not None for _ in range(stops)]


def test_the_eighth_stop_in_a_row_is_a_pause(desk: Desk) -> None:
    _typed_loop(desk)

    assert _count(desk, 7) == [True] * 7
    outcome = desk.answer("working")

    assert outcome.reason is None
    assert "[RALPH LOOP PAUSED]" in outcome.messages[0]
    assert "send any prompt" in outcome.messages[0]
    assert outcome.notes == ["paused: 8 Stops in a row without a tool call"]
    assert (desk.loop.status, desk.loop.paused_by) == ("paused", "host cap")
    assert desk.loop.iteration == 8


CAPS = [
    pytest.param("3", [True, True, False, False], id="a lower cap"),
    pytest.param("0", [True] * 12, id="no cap"),
    pytest.param("x", [True] * 7 + [False], id="a cap that is no number"),
    pytest.param("9" * 5_000, [True] * 7 + [False], id="thousands of digits"),
    pytest.param("-1", [True] * 7 + [False], id="a negative cap"),
    pytest.param("٣", [True] * 7 + [False], id="digits of other scripts"),
]


@pytest.mark.parametrize(("cap", "blocks"), CAPS)
def test_the_cap_is_the_clients(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, cap: str, blocks: list[bool]
) -> None:
    monkeypatch.setenv(CAP_VARIABLE, cap)
    _typed_loop(desk)

    assert _count(desk, len(blocks)) == blocks


def test_another_client_has_no_cap(desk: Desk) -> None:
    desk.client = "opencode"
    _typed_loop(desk)

    assert _count(desk, 12) == [True] * 12


def test_a_tool_call_starts_the_count_anew(desk: Desk) -> None:
    _typed_loop(desk)
    assert _count(desk, 6) == [True] * 6
    desk.add(used("Read"), result("x"))

    assert _count(desk, 8) == [True] * 7 + [False]


def test_a_subagents_tool_call_does_not(desk: Desk) -> None:
    _typed_loop(desk)
    assert _count(desk, 6) == [True] * 6
    desk.add({**used("Read"), "isSidechain": True})

    assert _count(desk, 2) == [True, False]


def test_a_paused_loop_holds_nobody(desk: Desk) -> None:
    _typed_loop(desk)
    _count(desk, 8)
    desk.add(notified())

    outcome = desk.answer("the task has ended")

    assert outcome.notes == ["allowed: the loop is paused (host cap)"]
    assert outcome.messages == []


@pytest.mark.parametrize("hook_runs", [True, False], ids=["hook", "transcript alone"])
def test_the_users_next_prompt_resumes_the_loop(desk: Desk, hook_runs: bool) -> None:
    _typed_loop(desk)
    _count(desk, 8)
    if hook_runs:
        desk.prompt("go on")
    else:
        desk.add(prompt("go on"))

    assert _count(desk, 8) == [True] * 7 + [False]
    assert desk.loop.iteration == 15


# --- state that is not as it should be ----------------------------------------------------------


def test_unreadable_state_is_set_aside_and_holds_nobody(desk: Desk) -> None:
    _typed_loop(desk)
    desk.answer("working")
    path = put(ours(desk.home, "ralph/loops/ralph-loop.s1.local.md"), "nonsense")

    outcome = desk.answer("working")

    assert outcome.reason is None
    assert "[RALPH LOOP]" in outcome.messages[0]
    assert [kept.read_text() for kept in path.parent.glob("*.corrupt-*")] == ["nonsense"]
    assert "set aside" in debug_log(desk.home)
    assert desk.answer("working").messages == []


@pytest.mark.parametrize("name", ["ralph-loop.s1.local.md", "session-s1.json"])
def test_state_of_a_newer_version_holds_nobody_and_stays(desk: Desk, name: str) -> None:
    text = '{"version": 99}' if name.endswith("json") else "---\nversion: 99\n---\n\nx"
    path = put(ours(desk.home, f"ralph/loops/{name}"), text)
    _typed_loop(desk)

    outcome = desk.stop("working")

    assert outcome.reason is None
    assert "newer sisyphus" in outcome.notes[0]
    assert path.read_text() == text
    assert "newer sisyphus" in debug_log(desk.home)


def test_a_disk_that_refuses_holds_nobody(desk: Desk) -> None:
    _typed_loop(desk)
    put(ours(desk.home, "ralph"), "in the way")

    outcome = desk.stop("working")

    assert outcome.reason is None
    assert "cannot be used" in outcome.notes[0]


def test_a_memory_full_of_nonsense_is_repaired(desk: Desk) -> None:
    _typed_loop(desk)
    put(ours(desk.home, MEMORY), '{"offset": [], "starts": {}, "blocks": "x", "tasks": [1]}')

    assert desk.stop("working").reason is not None


HOSTILE = [
    pytest.param(b"\xff\xfe\x00ralph-loop</command-name>\n", id="no text"),
    pytest.param(b'{"type":"user","x":":ralph-loop</command-name>"}\n', id="no message"),
    pytest.param(b"[" * 100_000 + b':ralph-loop "Skill"\n', id="brackets"),
    pytest.param(b'{"type":"user","message":{"content":[[":ralph-loop</command-name>"]]}}\n',
                 id="no blocks"),
    pytest.param(b'{"type":"assistant","message":{"content":[{"type":"tool_use","name":"Skill",'
                 b'"input":":ralph-loop"}]}}\n', id="no input"),
    pytest.param(b"\n\n\n", id="empty lines"),
]  # fmt: skip


@pytest.mark.parametrize("data", HOSTILE)
def test_a_hostile_transcript_starts_nothing(desk: Desk, data: bytes) -> None:
    put(desk.transcript, data * 3)

    assert desk.stop("x").reason is None


@pytest.mark.parametrize("data", HOSTILE)
def test_nor_does_it_end_anything(desk: Desk, data: bytes) -> None:
    _typed_loop(desk)
    with desk.transcript.open("ab") as file:
        file.write(data * 3)

    assert desk.stop("x").reason is not None
    assert desk.stop(PROMISE).reason is None


@pytest.mark.parametrize("kind", ["fifo", "folder", "absent"])
def test_a_transcript_that_cannot_be_read_changes_nothing(desk: Desk, kind: str) -> None:
    desk.prompt(f"/ralph-wiggum:ralph-loop {ARGS}")
    desk.transcript.unlink()
    if kind == "fifo":
        os.mkfifo(desk.transcript)
    if kind == "folder":
        desk.transcript.mkdir()

    assert desk.stop("x").reason is not None
    assert desk.stop(PROMISE).reason is None


def test_tasks_of_any_shape_do_no_harm(desk: Desk) -> None:
    _typed_loop(desk)
    tasks: list[object] = [7, None, [], {}, {"id": {}}, "x" * 1_000_000]

    assert desk.stop("x", background_tasks=tasks, session_crons={"a": 1}).reason is None
