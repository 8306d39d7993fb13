from __future__ import annotations

import pytest

from sisyphus.measure import units
from sisyphus.ralph import texts
from sisyphus.ralph.loop import Loop


def _loop(prompt: str = "do it", promise: str | None = "TASK1_DONE", limit: int = 100) -> Loop:
    loop = Loop("s1", "abcde", prompt)
    loop.completion_promise = promise
    loop.max_iterations = limit
    loop.iteration = 4
    return loop


def test_the_completion_text() -> None:
    assert texts.complete("TASK1_DONE") == (
        "[RALPH LOOP COMPLETE]\n"
        "\n"
        "Completion promise detected: <promise>TASK1_DONE</promise>\n"
        "Ralph loop has ended."
    )


def test_the_continuation_text() -> None:
    assert texts.go_on(_loop()) == (
        "[RALPH LOOP ENFORCEMENT]\n"
        "\n"
        "The completion promise was not output. The loop must continue.\n"
        "\n"
        "Expected promise: <promise>TASK1_DONE</promise>\n"
        "\n"
        "Continue working on the task. Output the promise only when the task is TRULY complete.\n"
        "\n"
        "Iteration 4 of 100."
    )


ENDS = [
    pytest.param(
        100,
        "The loop must continue. It has no completion promise and ends at its limits or by "
        "`sisyphus ralph cancel`.",
        "Iteration 4 of 100.",
        id="with a limit",
    ),
    pytest.param(
        0,
        "The loop must continue. It has no completion promise and ends only by "
        "`sisyphus ralph cancel`.",
        "Iteration 4 without a limit.",
        id="without a limit",
    ),
]


@pytest.mark.parametrize(("limit", "end", "progress"), ENDS)
def test_a_loop_without_a_promise_says_how_it_ends(limit: int, end: str, progress: str) -> None:
    assert texts.go_on(_loop(promise=None, limit=limit)) == (
        f"[RALPH LOOP ENFORCEMENT]\n\n{end}\n\nContinue working on the task.\n\n{progress}"
    )


def test_the_whole_prompt_goes_out_where_the_model_has_not_seen_it() -> None:
    assert texts.prompt(_loop("one\n\ntwo"), "/p") == "The prompt of this ralph loop:\n\none\n\ntwo"


@pytest.mark.parametrize("letter", ["x", "😀"])
def test_a_prompt_too_long_for_a_reply_says_where_it_goes_on(letter: str) -> None:
    text = texts.prompt(_loop(f"{letter * 99}\n" * 200), "/path")

    assert units(text) < 9_000
    assert text.endswith("\n[cut here; the whole prompt is in /path]")
    assert f"{letter * 99}\n" in text


REMINDERS = [
    pytest.param("do it", "do it", id="one line is the whole prompt"),
    pytest.param("\n do it\nnow", "do it …", id="of several lines the first"),
    pytest.param("x" * 400, "x" * 300 + " …", id="of a long line the start"),
]


@pytest.mark.parametrize(("prompt", "first"), REMINDERS)
def test_the_reminder_is_the_first_line(prompt: str, first: str) -> None:
    assert texts.reminder(_loop(prompt), "/p") == (
        f"The prompt of this ralph loop begins: {first}\nIt can be read in /p"
    )


def test_a_pause_says_why_and_how_to_go_on() -> None:
    text = texts.paused(_loop(), 8)

    assert text.startswith("[RALPH LOOP PAUSED]\n\nThe loop was paused: 8 answers in a row ")
    assert "Iteration 4 of 100. Task: do it" in text
    assert text.endswith("To resume it, send any prompt in this session.")


def test_a_limit_says_which() -> None:
    assert texts.at_limit(_loop()) == (
        "[RALPH LOOP ENDED]\n\nThe loop reached its limit of 100 iterations "
        "without its promise <promise>TASK1_DONE</promise>.\nTask: do it"
    )
    assert "limit of 100 iterations.\n" in texts.at_limit(_loop(promise=None))


def test_a_refusal_says_what_to_do() -> None:
    assert texts.refused("no prompt. Write one") == (
        "[RALPH LOOP NOT STARTED]\n\nno prompt. Write one."
    )


def test_options_that_nothing_obeys_are_named() -> None:
    assert texts.not_done(["--verify", "--max-tokens"]).endswith(": --verify, --max-tokens.")


def test_unreadable_state_is_reported() -> None:
    assert "set aside /x: it has no header" in texts.set_aside("set aside /x: it has no header")
