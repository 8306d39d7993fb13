"""Limits, questions and nested loops, as one Stop decides about them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from making import ours
from ralph.lines import continued, prompt, result, said, skill, typed, used

from arbiter.desk import ARGS, PROMISE
from sisyphus.clients.claude_code import CAP_VARIABLE

if TYPE_CHECKING:
    from arbiter.desk import Desk

INNER = "<promise>INNER</promise>"
BOTH = f"{INNER}\n\n<promise>DONE</promise>"
MINUTES = 60


def _spend(desk: Desk, tokens: int, answer: str) -> None:
    line = said("working")
    line["message"].update(id=answer, usage={"output_tokens": tokens})
    desk.add(line)


def _told(messages: list[str]) -> list[str]:
    return [message.splitlines()[0] for message in messages]


# --- the time -----------------------------------------------------------------------------------


def test_the_loop_ends_when_its_minutes_are_over(desk: Desk) -> None:
    loop_id = desk.begin("--max-minutes 30")
    desk.now += 30 * MINUTES - 1
    assert desk.answer("working").reason is not None

    desk.now += 1
    outcome = desk.answer("working")

    assert outcome.reason is None
    (message,) = outcome.messages
    assert message == (
        "[RALPH LOOP ENDED]\n\nThe loop ended without its promise <promise>DONE</promise>: "
        "the limit of 30 minutes is reached.\nTask: do it"
    )
    assert outcome.notes == [
        "ended: the limit of 30 minutes is reached",
        f"loop {loop_id} ended: limit",
    ]
    assert desk.loops == []


def test_a_day_is_the_limit_where_none_is_given(desk: Desk) -> None:
    desk.begin()
    desk.now += 1_440 * MINUTES - 1
    assert desk.answer("working").reason is not None

    desk.now += 1
    assert "the limit of 1,440 minutes" in desk.answer("working").messages[0]


def test_no_time_is_too_long_where_that_was_asked_for(desk: Desk) -> None:
    desk.begin("--max-minutes 0")
    desk.now += 1_000_000 * MINUTES

    assert desk.answer("working").reason is not None


def test_minutes_of_a_pause_do_not_count(desk: Desk) -> None:
    desk.begin("--max-minutes 30")
    desk.now += 20 * MINUTES
    desk.pause()
    desk.now += 500 * MINUTES
    desk.resume()
    desk.now += 9 * MINUTES
    assert desk.answer("working").reason is not None

    desk.now += 1 * MINUTES
    assert desk.answer("working").reason is None
    assert desk.loops == []


def test_a_clock_that_went_back_ends_nothing(desk: Desk) -> None:
    desk.begin("--max-minutes 1")
    desk.now -= 500 * MINUTES

    assert desk.answer("working").reason is not None


# --- the tokens ---------------------------------------------------------------------------------


def test_the_loop_ends_when_its_tokens_are_spent(desk: Desk) -> None:
    loop_id = desk.begin("--max-tokens 2000")
    _spend(desk, 1_999, "m1")
    assert "1,999 of 2,000 tokens spent." in str(desk.answer("working").reason)

    _spend(desk, 1, "m2")
    outcome = desk.answer("working")

    assert outcome.notes == [
        "ended: the limit of 2,000 tokens is reached (2,000 spent)",
        f"loop {loop_id} ended: limit",
    ]
    assert _told(outcome.messages) == ["[RALPH LOOP ENDED]"]


def test_without_a_limit_any_number_will_do(desk: Desk) -> None:
    desk.begin()
    _spend(desk, 10**12, "m1")

    assert desk.answer("working").reason is not None


@pytest.mark.parametrize("options", ["--max-minutes 1", "--max-tokens 1", "--max-iterations 1"])
def test_the_promise_at_the_limit_is_a_success(desk: Desk, options: str) -> None:
    desk.begin(options)
    _spend(desk, 500, "m1")
    desk.now += 5 * MINUTES

    assert _told(desk.answer(PROMISE).messages) == ["[RALPH LOOP COMPLETE]"]
    assert desk.log[-1]["outcome"] == "success"


ODD = [
    pytest.param('{"max_minutes": -5, "max_tokens": -5}', id="negative"),
    pytest.param('{"max_minutes": "5", "max_tokens": "5"}', id="texts"),
    pytest.param('{"max_minutes": true, "max_tokens": true}', id="switches"),
    pytest.param('{"max_minutes": null, "max_tokens": [1]}', id="other things"),
]


@pytest.mark.parametrize("options", ODD)
def test_limits_that_make_no_sense_are_none(desk: Desk, options: str) -> None:
    desk.begin("--max-tokens 5")
    path = ours(desk.home, "ralph/loops/ralph-loop.s1.local.md")
    path.write_text(path.read_text().replace('{"max_tokens": 5}', options))
    _spend(desk, 500, "m1")
    desk.now += 60 * MINUTES

    assert desk.answer("working").reason is not None


# --- a question to the user ---------------------------------------------------------------------

QUESTIONS = [
    pytest.param("Which database is meant?", True, id="a question"),
    pytest.param(
        "I have two ways.\n\n**Which one do you want?**\n", True, id="emphasis, a line end"
    ),
    pytest.param("Which one? I would take the first.", False, id="not at the end"),
    pytest.param("Which one?\n\n- the first\n- the second", False, id="not the last line"),
    pytest.param("It works.", False, id="no question"),
    pytest.param("", False, id="nothing"),
]


@pytest.mark.parametrize(("message", "waits"), QUESTIONS)
def test_a_loop_that_waits_for_the_user_lets_a_question_pass(
    desk: Desk, message: str, waits: bool
) -> None:
    desk.begin("--wait-for-user")

    outcome = desk.answer(message)

    assert (outcome.reason is None) == waits
    assert desk.loop.iteration == (1 if waits else 2)
    if waits:
        assert _told(outcome.messages) == ["[RALPH LOOP WAITS]"]
        assert outcome.notes == ["allowed: the model asked the user; the loop waits for the answer"]


def test_any_other_loop_goes_on(desk: Desk) -> None:
    desk.begin()

    assert desk.answer("Which database is meant?").reason is not None


def test_the_loop_goes_on_with_the_answer(desk: Desk) -> None:
    desk.begin("--wait-for-user")
    desk.answer("Which one?")
    desk.prompt("the second one", "p2")

    assert desk.answer("Done so.").notes[0].endswith("iteration 2 of 100")
    assert desk.answer(PROMISE).messages != []


def test_a_question_of_an_earlier_turn_is_none(desk: Desk) -> None:
    desk.begin("--wait-for-user")
    desk.add(said("Which one?"), used("Read"), result("x"))

    assert desk.answer("I took the second.").reason is not None


@pytest.mark.parametrize("options", ["--max-iterations 1", "--max-minutes 1"])
def test_a_question_does_not_outlive_the_limit(desk: Desk, options: str) -> None:
    desk.begin(f"--wait-for-user {options}")
    desk.now += 5 * MINUTES

    assert _told(desk.answer("Which one?").messages) == ["[RALPH LOOP ENDED]"]


# --- nested loops -------------------------------------------------------------------------------


def test_the_outer_loop_goes_on_at_the_stop_at_which_the_inner_one_ends(desk: Desk) -> None:
    outer = desk.begin()
    first = desk.answer("working").texts[0]
    inner = desk.nest()
    assert "<promise>INNER</promise>" in str(desk.answer("working").reason)

    outcome = desk.answer(INNER)

    assert outcome.messages[0] == (
        "[RALPH LOOP COMPLETE]\n\nCompletion promise detected: <promise>INNER</promise>\n"
        "Ralph loop has ended."
    )
    assert "Expected promise: <promise>DONE</promise>" in str(outcome.reason)
    assert outcome.notes[0].startswith("blocked: promise `DONE` not found in the last message")
    assert outcome.notes[1:] == [f"loop {inner} ended: success"]
    (reminder,) = outcome.texts
    assert reminder.body == first.body
    assert reminder.hash != first.hash
    assert [loop.loop_id for loop in desk.loops] == [outer]
    assert desk.loop.iteration == 3


def test_both_promises_in_one_message_end_both(desk: Desk) -> None:
    desk.begin()
    desk.nest()

    outcome = desk.answer(BOTH)

    assert outcome.reason is None
    assert _told(outcome.messages) == ["[RALPH LOOP COMPLETE]"] * 2
    assert desk.loops == []


def test_the_order_of_two_promises_does_not_matter(desk: Desk) -> None:
    desk.begin()
    desk.nest()

    assert desk.answer(f"<promise>DONE</promise>\n\n{INNER}").reason is None


def test_the_outer_promise_alone_ends_nothing(desk: Desk) -> None:
    desk.begin()
    desk.nest()

    assert "Expected promise: <promise>INNER</promise>" in str(desk.answer(PROMISE).reason)
    assert len(desk.loops) == 2


def test_one_promise_that_both_have_ends_one_of_them(desk: Desk) -> None:
    desk.begin()
    desk.use('"a part of it" --completion-promise DONE', "toolu_7")

    outcome = desk.answer(PROMISE)

    assert _told(outcome.messages)[0] == "[RALPH LOOP COMPLETE]"
    assert outcome.reason is not None
    assert len(desk.loops) == 1


def test_an_outer_loop_that_is_paused_stays_so(desk: Desk) -> None:
    desk.begin()
    desk.pause()
    desk.nest()

    outcome = desk.answer(INNER)

    assert outcome.reason is None
    assert outcome.notes[0] == "ended: promise `INNER` kept"
    assert (len(desk.loops), desk.loop.is_paused) == (1, True)


@pytest.mark.parametrize(
    "options", ["--max-iterations 1", "--max-minutes 1", "--max-tokens 10"], ids=str
)
def test_an_inner_loop_at_its_limit_hands_over_at_once(desk: Desk, options: str) -> None:
    outer = desk.begin()
    inner = desk.nest(options)
    _spend(desk, 500, "m1")
    desk.now += 5 * MINUTES

    outcome = desk.answer("working")

    assert "Expected promise: <promise>DONE</promise>" in str(outcome.reason)
    assert _told(outcome.messages) == ["[RALPH LOOP ENDED]"]
    assert outcome.notes[0].startswith("ended: the limit of 1")
    assert outcome.notes[1] == (
        "blocked: promise `DONE` not found (a loop that was nested in it has just ended); "
        "iteration 2 of 100"
    )
    assert outcome.notes[2].startswith(f"loop {inner} ended: ")
    assert [piece.hash for piece in outcome.texts] == [f"loop {outer} reminder after {inner}"]
    assert [loop.loop_id for loop in desk.loops] == [outer]


def test_an_inner_loop_at_its_limit_in_a_paused_one_lets_pass(desk: Desk) -> None:
    desk.begin()
    desk.pause()
    desk.nest("--max-iterations 1")

    outcome = desk.answer("working")

    assert outcome.reason is None
    assert outcome.notes[:2] == [
        "ended: the limit of 1 iterations is reached",
        "allowed: the loop is paused (user)",
    ]


def test_both_at_their_limit_end_both(desk: Desk) -> None:
    desk.begin("--max-iterations 1")
    desk.nest("--max-iterations 1")

    outcome = desk.answer("working")

    assert outcome.reason is None
    assert _told(outcome.messages) == ["[RALPH LOOP ENDED]"] * 2
    assert [note.split(" ")[0] for note in outcome.notes] == ["ended:", "loop", "loop"]
    assert [line.get("outcome") for line in desk.log[2:]] == ["max_iterations"] * 2
    assert desk.loops == []


@pytest.mark.parametrize("options", ["--max-minutes 3", "--max-tokens 100"], ids=str)
def test_a_nested_loop_cannot_go_beyond_the_time_and_tokens_of_the_outer_one(
    desk: Desk, options: str
) -> None:
    desk.begin(options)
    desk.nest("--max-minutes 1000 --max-tokens 100000")
    _spend(desk, 500, "m1")
    desk.now += 5 * MINUTES

    outcome = desk.answer("working")

    assert outcome.reason is None
    assert _told(outcome.messages) == ["[RALPH LOOP ENDED]"] * 2
    assert [line.get("outcome") for line in desk.log[2:]] == ["limit"] * 2
    assert desk.loops == []


def test_iterations_are_counted_for_the_current_loop_alone(desk: Desk) -> None:
    desk.begin("--max-iterations 2")
    desk.answer("working")
    desk.nest()
    for _ in range(5):
        assert desk.answer("working").reason is not None

    assert [loop.iteration for loop in desk.loops] == [2, 6]


def test_a_kept_inner_promise_and_the_limit_of_the_outer_loop(desk: Desk) -> None:
    desk.begin("--max-iterations 1")
    desk.nest()

    outcome = desk.answer(INNER)

    assert outcome.reason is None
    assert _told(outcome.messages) == ["[RALPH LOOP COMPLETE]", "[RALPH LOOP ENDED]"]


def test_three_loops_are_left_one_after_the_other(desk: Desk) -> None:
    desk.begin()
    desk.nest()
    desk.add(skill('"deeper" --completion-promise DEEP', call="toolu_9"))

    assert "<promise>INNER</promise>" in str(desk.answer("<promise>DEEP</promise>").reason)
    assert "<promise>DONE</promise>" in str(desk.answer(INNER).reason)
    assert desk.answer(PROMISE).reason is None


def test_a_loop_that_replaces_all_others_cancels_them(desk: Desk) -> None:
    first = desk.begin()
    inner = desk.nest()
    desk.begin(args='"other" --completion-promise OTHER', prompt_id="p2")

    assert "<promise>OTHER</promise>" in str(desk.answer(BOTH).reason)
    ended = [line for line in desk.log if line["status"] == "completed"]
    assert [(line["loop_id"], line["outcome"]) for line in ended] == [
        (inner, "cancelled"),
        (first, "cancelled"),
    ]


def test_a_cancel_ends_all_of_them(desk: Desk) -> None:
    desk.begin()
    desk.nest()
    desk.cancel()

    assert desk.answer("working").reason is None
    assert desk.loops == []


def test_one_count_of_blocks_serves_inner_and_outer_loops(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The client does not know which loop held it."""
    monkeypatch.setenv(CAP_VARIABLE, "4")
    desk.begin()
    desk.nest()
    assert desk.answer("working").reason is not None
    assert desk.answer(INNER).reason is not None

    assert desk.answer("working").reason is not None
    outcome = desk.answer("working")

    assert _told(outcome.messages) == ["[RALPH LOOP PAUSED]"]


# --- loops without a promise --------------------------------------------------------------------


def test_a_loop_without_a_promise_ends_at_its_limit_alone(desk: Desk) -> None:
    desk.begin(args='"do it" --max-iterations 2')

    outcome = desk.answer("<promise></promise>")
    assert "It has no completion promise and ends at its limits" in str(outcome.reason)
    assert _told(desk.answer(PROMISE).messages) == ["[RALPH LOOP ENDED]"]


# --- starts in between --------------------------------------------------------------------------


def test_a_loop_that_begins_behind_a_kept_promise_holds(desk: Desk) -> None:
    desk.begin()
    desk.add(said(PROMISE))
    desk.nest()

    outcome = desk.answer("working")

    assert "<promise>INNER</promise>" in str(outcome.reason)
    assert _told(outcome.messages) == ["[RALPH LOOP COMPLETE]"]
    assert [loop.completion_promise for loop in desk.loops] == ["INNER"]


def test_what_the_user_said_last_starts_the_search_anew(desk: Desk) -> None:
    desk.begin()
    desk.add(said(PROMISE), prompt("no, it is not"), said("You are right."))

    assert desk.answer("I go on.").reason is not None


def test_a_start_of_an_active_loop_is_the_same_loop(desk: Desk) -> None:
    first = desk.begin()
    desk.answer("working")
    desk.add(skill(ARGS, call="toolu_9"))

    outcome = desk.answer("working")

    assert "the model started the same loop again: it goes on" in outcome.notes
    assert [(loop.loop_id, loop.iteration) for loop in desk.loops] == [(first, 3)]


def test_a_line_that_is_typed_anew_is_a_new_loop(desk: Desk) -> None:
    first = desk.begin()
    desk.answer(PROMISE)
    desk.add(typed(ARGS), continued(), said("x"))

    assert desk.answer("working").reason is not None
    assert desk.loop.loop_id != first


# --- a tag that is no promise -------------------------------------------------------------------

TAG = "<promise>DONE</promise>"
NEAR = [
    pytest.param(f"When all is done I will say {TAG}", "hold it back: `When`. ", id="postponed"),
    pytest.param(f"`{TAG}`", "but the tag stands in code", id="in code"),
    pytest.param(f"I say {TAG} here.", "but the tag stands in the middle", id="in a sentence"),
    pytest.param("<promise>DONE", "but the tag is not closed", id="not closed"),
]


@pytest.mark.parametrize(("message", "told"), NEAR)
def test_the_model_hears_why_its_tag_is_no_promise(desk: Desk, message: str, told: str) -> None:
    desk.begin()

    outcome = desk.answer(message)

    assert told in str(outcome.reason)
    assert "A promise tag was there" not in str(desk.answer("<promise>OTHER</promise>").reason)


# --- limits and checks at one Stop --------------------------------------------------------------


def test_a_promise_that_is_refused_at_the_limit_is_not_held_against_the_outer_loop(
    desk: Desk,
) -> None:
    desk.begin()
    desk.nest("--max-iterations 1 --verify-checklist")

    outcome = desk.answer(INNER)

    assert _told(outcome.messages) == ["[RALPH LOOP ENDED]"]
    assert "The completion promise was not output." in str(outcome.reason)
    assert "Expected promise: <promise>DONE</promise>" in str(outcome.reason)


def test_a_tag_of_a_nested_loop_is_not_held_against_the_outer_one(desk: Desk) -> None:
    desk.begin()
    desk.nest("--max-iterations 1")

    outcome = desk.answer(f"`{INNER}`")

    assert _told(outcome.messages) == ["[RALPH LOOP ENDED]"]
    assert "Expected promise: <promise>DONE</promise>" in str(outcome.reason)
    assert "A promise tag was there" not in str(outcome.reason)


def test_the_time_of_the_outermost_of_three_loops_ends_all(desk: Desk) -> None:
    desk.begin("--max-minutes 3")
    desk.nest()
    desk.add(skill('"deeper" --completion-promise DEEP --max-iterations 1', call="toolu_9"))
    desk.now += 5 * MINUTES

    outcome = desk.answer("working")

    assert outcome.reason is None
    ended = [line["outcome"] for line in desk.log if "outcome" in line]
    assert ended == ["max_iterations", "limit", "limit"]
    assert desk.loops == []


def test_a_promise_that_was_judged_already_ends_nothing_once_another_loop_begins(
    desk: Desk,
) -> None:
    desk.begin()
    desk.nest("--max-iterations 1")
    assert "Expected promise: <promise>DONE</promise>" in str(desk.answer(PROMISE).reason)
    desk.nest(call="toolu_8")

    assert desk.answer("working").messages == []
    assert [loop.completion_promise for loop in desk.loops] == ["DONE", "INNER"]


def test_a_question_of_a_loop_that_the_model_nested_does_not_let_the_users_out(desk: Desk) -> None:
    desk.begin()
    desk.nest("--wait-for-user")

    assert desk.answer("Shall I go on?").reason is not None


def test_where_the_users_own_loop_waits_so_does_one_in_it(desk: Desk) -> None:
    desk.begin("--wait-for-user")
    desk.nest("--wait-for-user")

    assert desk.answer("Shall I go on?").reason is None


def test_a_nested_loop_is_woken_as_the_one_around_it_is(desk: Desk) -> None:
    desk.begin("--resume-after-limit")
    desk.nest()

    assert [loop.options.get("resume_after_limit") for loop in desk.loops] == [True, True]


def test_what_a_command_did_is_told_at_the_next_stop(desk: Desk) -> None:
    loop_id = desk.begin()
    desk.pause()

    told = [f"[RALPH LOOP PAUSED]\n\nloop {loop_id} was paused by the user: do it"]
    assert desk.answer("working").messages == told
    assert desk.answer("working").messages == []


def test_a_prompt_whose_line_is_late_does_not_start_the_clients_count_anew(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(CAP_VARIABLE, "2")
    desk.begin()
    line = desk.transcript.read_bytes()
    desk.transcript.write_bytes(b"")

    first = desk.stop("working")
    desk.transcript.write_bytes(line)
    desk.add(said("working"))  # and how the Stop was answered is written even later

    assert first.reason is not None
    assert desk.answer("working").reason is None
