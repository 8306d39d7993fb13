"""The ralph loop as its users meet it: each scenario and each criterion by its name."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest
from making import run_hook
from ralph.lines import add, continued, expanded, prompt, said, skill, typed

from arbiter.desk import ARGS, PROMISE

if TYPE_CHECKING:
    from pathlib import Path

    from arbiter.desk import Desk

BLOCKED = """\
[RALPH LOOP ENFORCEMENT]

The completion promise was not output. The loop must continue.

Expected promise: <promise>TASK1_DONE</promise>

Continue working on the task. Output the promise only when the task is TRULY complete."""

SUCCESS = """\
[RALPH LOOP COMPLETE]

Completion promise detected: <promise>TASK1_DONE</promise>
Ralph loop has ended."""

TASK1 = '"do it" --completion-promise "TASK1_DONE"'


def test_manual_1_a_ralph_loop_without_its_promise_stop_blocked(desk: Desk) -> None:
    desk.add(typed(TASK1))

    outcome = desk.stop("I worked on it.")

    assert outcome.reason is not None
    assert outcome.reason.startswith(BLOCKED)


def test_manual_1_a_ralph_loop_without_any_promise_stop_blocked(desk: Desk) -> None:
    desk.add(typed('"do it"'))

    assert desk.stop("I worked on it.").reason is not None


def test_manual_2_output_promise_stop_allowed(desk: Desk) -> None:
    desk.add(typed(TASK1))
    desk.answer("I worked on it.")

    outcome = desk.answer("<promise>TASK1_DONE</promise>")

    assert outcome.reason is None
    assert outcome.messages == [SUCCESS]


def test_manual_3_promise_in_code_block_not_detected(desk: Desk) -> None:
    desk.add(typed(TASK1))

    outcome = desk.stop("```\n<promise>TASK1_DONE</promise>\n```")

    assert outcome.reason is not None
    assert outcome.reason.startswith(BLOCKED)


def test_manual_4_multiple_nested_loops_most_recent_checked(desk: Desk) -> None:
    desk.add(typed('"all" --completion-promise "ALL_DONE"'), said("first"), skill(TASK1))

    assert BLOCKED in str(desk.answer("<promise>ALL_DONE</promise>").reason)
    assert desk.answer("<promise>TASK1_DONE</promise>").messages == [SUCCESS]
    assert "Expected promise: <promise>ALL_DONE</promise>" in str(desk.answer("next").reason)
    assert desk.answer("<promise>ALL_DONE</promise>").reason is None


def test_triggers_on_the_stop_event(desk: Desk) -> None:
    desk.add(typed(f"{TASK1} --max-minutes 0"))
    payload = {
        "session_id": "s1",
        "transcript_path": str(desk.transcript),
        "cwd": str(desk.project),
        "hook_event_name": "Stop",
        "stop_hook_active": False,
        "last_assistant_message": "I worked on it.",
        "background_tasks": [],
        "session_crons": [],
    }

    code, reply = run_hook("stop", payload)

    assert (code, reply["decision"]) == (0, "block")
    assert reply["reason"].startswith(BLOCKED)

    code, reply = run_hook(
        "stop", {**payload, "last_assistant_message": "<promise>TASK1_DONE</promise>"}
    )

    assert (code, reply) == (0, {"systemMessage": SUCCESS})


def test_not_in_a_loop_stop_allowed(desk: Desk) -> None:
    desk.add(prompt("hello"), said("hi"))
    payload = {"session_id": "s1", "transcript_path": str(desk.transcript)}

    assert run_hook("stop", {**payload, "last_assistant_message": "hi"}) == (0, {})


def test_a_loop_is_found_by_its_command_in_the_transcript(desk: Desk) -> None:
    desk.add(typed(TASK1), expanded(TASK1), said("working"))

    assert desk.stop("working").reason is not None


def test_the_completion_promise_is_taken_from_the_arguments(desk: Desk) -> None:
    desk.add(typed('do it --completion-promise "TASK1_DONE" --max-iterations 5'))

    assert BLOCKED in str(desk.stop("x").reason)


TOKENS = [
    pytest.param('"TASK 1 IS DONE"', "TASK 1 IS DONE", id="spaces"),
    pytest.param('"say \\"done\\" now"', 'say "done" now', id="escaped quotes"),
    pytest.param("'TASK 1'", "TASK 1", id="single quotes"),
    pytest.param("TASK1", "TASK1", id="no quotes"),
]


@pytest.mark.parametrize(("argument", "token"), TOKENS)
def test_escaped_quotes_and_spaces_in_the_token(desk: Desk, argument: str, token: str) -> None:
    desk.add(typed(f'"do it" --completion-promise {argument}'))

    assert f"Expected promise: <promise>{token}</promise>" in str(desk.answer("x").reason)
    assert desk.answer(f"<promise>{token}</promise>").reason is None


def test_the_transcript_is_searched_for_the_promise(desk: Desk) -> None:
    desk.add(typed(TASK1), said("<promise>TASK1_DONE</promise>"))

    assert desk.stop().messages == [SUCCESS]


def test_the_most_recent_invocation_counts(desk: Desk) -> None:
    desk.add(typed('"one" --completion-promise "ONE"'), said("x"), typed(TASK1), said("x"))

    assert BLOCKED in str(desk.stop("<promise>ONE</promise>").reason)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("<!-- <promise>TASK1_DONE</promise> -->", id="in a comment"),
        pytest.param("`<promise>TASK1_DONE</promise>`", id="in inline code"),
        pytest.param("> <promise>TASK1_DONE</promise>", id="in a quotation"),
    ],
)
def test_edge_promise_in_a_comment_does_not_count(desk: Desk, text: str) -> None:
    desk.add(typed(TASK1))

    assert desk.stop(text).reason is not None


@pytest.mark.parametrize(
    "text",
    [
        "<promise>TASK1_DONE",
        "<promise>TASK1_DONE<promise>",
        "<Promise>TASK1_DONE</Promise>",
        "<promise id=1>TASK1_DONE</promise>",
        "<promise><promise>TASK1_DONE</promise></promise>",
        "TASK1_DONE",
        "<promise></promise>",
        "<promise>TASK2_DONE</promise>",
    ],
)
def test_edge_malformed_promise_tag(desk: Desk, text: str) -> None:
    desk.add(typed(TASK1))

    assert desk.stop(text).reason is not None


def test_integration_a_loop_for_each_task_one_after_the_other(desk: Desk) -> None:
    desk.add(prompt("/dev-implement"))
    for task in ("TASK1", "TASK2"):
        desk.add(skill(f'"{task}" --completion-promise "{task}_DONE"'))
        assert f"<promise>{task}_DONE</promise>" in str(desk.answer("working").reason)
        assert desk.answer(f"<promise>{task}_DONE</promise>").reason is None
        desk.add(prompt("next"))

    assert desk.answer("all tasks are finished").reason is None


def test_integration_all_tasks_in_one_turn(desk: Desk) -> None:
    desk.add(
        prompt("/dev-implement"),
        skill('"one" --completion-promise "ONE_DONE"'),
        said("<promise>ONE_DONE</promise>"),
        skill('"two" --completion-promise "TWO_DONE"'),
    )

    outcome = desk.answer("working")
    assert "<promise>TWO_DONE</promise>" in str(outcome.reason)
    assert desk.answer("<promise>TWO_DONE</promise>").reason is None
    assert desk.answer("the end").reason is None


def test_a_loop_cannot_be_left_without_its_promise(desk: Desk, tmp_path: Path) -> None:
    """Not by another folder, a wrong transcript, an active hook, or words about it."""
    desk.add(typed(ARGS))
    desk.answer("working")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()

    for raw in (
        {"cwd": str(elsewhere)},
        {"transcript_path": "/nowhere"},
        {"stop_hook_active": True},
    ):
        assert desk.stop("The promise DONE is what I would say.", **raw).reason is not None


def test_the_race_of_the_transcript_does_not_matter(desk: Desk) -> None:
    """The last message may or may not be there yet, and come before the next continuation."""
    desk.add(typed(ARGS))
    assert desk.stop("working").reason is not None
    desk.add(said("working"), continued())
    desk.add(said(PROMISE))

    assert desk.stop(PROMISE).reason is None


def test_a_gigabyte_of_transcript_is_read_once(desk: Desk) -> None:
    desk.add(prompt("x"))
    os.truncate(desk.transcript, 1_000_000_000)
    with desk.transcript.open("ab") as file:
        file.write(b"\n")
    desk.add(typed(ARGS))

    assert desk.answer("working").reason is not None
    assert desk.answer(PROMISE).reason is None
    memory = desk.home / ".claude/.sisyphus/ralph/loops/session-s1.json"
    assert json.loads(memory.read_text())["offset"] > 1_000_000_000


def test_two_sessions_in_one_project_have_loops_of_their_own(desk: Desk, tmp_path: Path) -> None:
    desk.add(typed(ARGS))
    other = tmp_path / "s2.jsonl"
    add(other, typed('"that" --completion-promise "OTHER"'))
    second = {"session_id": "s2", "transcript_path": str(other)}

    assert "DONE" in str(desk.stop("x").reason)
    assert "OTHER" in str(desk.stop("x", **second).reason)
    assert desk.stop(PROMISE, **second).reason is not None
    assert desk.stop(PROMISE).reason is None
    assert desk.stop("<promise>OTHER</promise>", **second).reason is None
