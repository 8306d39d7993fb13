from __future__ import annotations

from typing import TYPE_CHECKING

from making import ours, put
from ralph.lines import prompt, said, skill, typed

from arbiter.desk import ARGS

if TYPE_CHECKING:
    from arbiter.desk import Desk

MEMORY = "ralph/loops/session-s1.json"


def _typed_loop(desk: Desk, args: str = ARGS) -> Desk:
    desk.add(typed(args))
    return desk


def test_a_block_counts_and_is_noted_in_plain_words(desk: Desk) -> None:
    _typed_loop(desk)

    first, second = desk.answer("working"), desk.answer("`<promise>DONE</promise>`")

    assert first.reason is not None
    assert first.reason.endswith("\n\nIteration 2 of 100.")
    assert first.messages == []
    assert first.notes[0] == (
        "blocked: promise `DONE` not found in the last message (the message holds no promise tag); "
        "iteration 2 of 100"
    )
    assert second.notes == [
        (
            "blocked: promise `DONE` not found in the last message (the tag stands in code, a "
            "comment or a quotation); iteration 3 of 100"
        )
    ]
    assert desk.loop.iteration == 3


def test_an_unlimited_loop_is_noted_as_one(desk: Desk) -> None:
    _typed_loop(desk, "do it --max-iterations 0")

    assert desk.stop("working").notes[0] == (
        "blocked: the loop has no promise and goes on; iteration 2 without a limit"
    )


def test_the_prompt_goes_out_as_a_reminder_that_is_sent_once(desk: Desk) -> None:
    _typed_loop(desk, '"do it\nwell" --completion-promise DONE')

    (first,), (second,) = desk.answer("x").texts, desk.answer("x").texts

    path = str(ours(desk.home, "ralph/loops/ralph-loop.s1.local.md"))
    assert first.kind == "loop"
    assert first.body == (
        f"The prompt of this ralph loop begins: do it …\nIt can be read in {path}"
    )
    assert first.hash == second.hash != ""
    assert first.path == path


def test_after_a_compaction_the_whole_prompt_goes_out(desk: Desk) -> None:
    _typed_loop(desk, '"do it\nwell" --completion-promise DONE')
    (before,) = desk.answer("x").texts
    desk.start("compact")

    (after,) = desk.answer("x").texts

    assert after.body == "The prompt of this ralph loop:\n\ndo it\nwell"
    assert after.hash != before.hash


def test_a_prompt_from_a_file_goes_out_whole(desk: Desk) -> None:
    put(desk.project / "task.md", "do it\n")
    _typed_loop(desk, "--prompt-file task.md --completion-promise DONE")

    (piece,) = desk.answer("x").texts

    assert piece.body == "The prompt of this ralph loop:\n\ndo it\n"


def test_loops_that_end_within_one_turn_are_told(desk: Desk) -> None:
    desk.add(
        prompt("x"),
        skill('"one" --completion-promise ONE'),
        said("<promise>ONE</promise>"),
        skill('"two" --completion-promise TWO', call="toolu_2"),
    )

    outcome = desk.stop("<promise>TWO</promise>")

    assert [message.splitlines()[2] for message in outcome.messages] == [
        "Completion promise detected: <promise>ONE</promise>",
        "Completion promise detected: <promise>TWO</promise>",
    ]


def test_where_the_official_plugin_runs_the_loop_the_prompt_is_its_job(desk: Desk) -> None:
    put(desk.project / ".claude/ralph-loop.local.md", "---\niteration: 1\n---\ndo it\n")
    _typed_loop(desk)

    answer = desk.answer("working")

    assert answer.reason is not None
    assert answer.texts == []


def test_a_stop_that_is_let_pass_carries_no_text_for_the_model(desk: Desk) -> None:
    desk.begin()

    assert desk.answer("waiting", background_tasks=[{"id": "b1"}]).texts == []
    assert desk.answer("working").texts != []
    desk.pause()
    assert desk.answer("working").texts == []
