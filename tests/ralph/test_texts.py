from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sisyphus.ralph import texts
from sisyphus.ralph.loop import BY_BREAKER, BY_HOST_CAP, PLAN, Loop
from sisyphus.text import units
from sisyphus.times import local


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


def test_a_tag_that_is_not_the_promise_is_told_of_with_what_to_do() -> None:
    text = texts.go_on(_loop(), "the words before the tag hold it back: `When`")

    before, after = texts.go_on(_loop()).rsplit("\n\n", 1)
    assert text == (
        f"{before}\n\n"
        "A promise tag was there, but the words before the tag hold it back: `When`. "
        f"Put it alone on a line then.\n\n{after}"
    )


def test_where_a_promise_leaves_no_room_for_that_it_is_left_out() -> None:
    loop = _loop(promise="x" * 999, limit=10**9)
    loop.iteration, loop.tokens = 10**9, 10**12
    loop.options = {"max_minutes": 1_400, "max_tokens": 10**9}

    assert texts.go_on(loop, "no " * 40) == texts.go_on(loop)


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
        "The loop must continue. It has no completion promise and ends at its limits or by "
        "`sisyphus ralph cancel`.",
        "Iteration 4 without a limit.",
        id="without a limit of iterations",
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


REFUSED = """\
[RALPH LOOP ENFORCEMENT]

The completion promise was output, but `pytest -q` ended with exit code 1

1 failed
2 passed

Expected promise: <promise>TASK1_DONE</promise>

Put that right, then output the promise again.

Iteration 4 of 100."""


def test_a_promise_that_does_not_count_says_why() -> None:
    why = "`pytest -q` ended with exit code 1"

    assert texts.go_on_refused(_loop(), why, "1 failed\n2 passed\n") == REFUSED
    assert texts.go_on_refused(_loop(), why) == REFUSED.replace("1 failed\n2 passed\n\n", "")


def test_of_what_a_command_said_the_reason_has_the_last_whole_lines() -> None:
    reason = texts.go_on_refused(_loop(), "x", "\n".join(f"line {n}" for n in range(999)))

    assert "\n\nline 9" in reason
    assert "\nline 998\n\nExpected" in reason
    assert 560 < units(reason) <= texts.REASON_UNITS


LIMITED = [
    pytest.param({}, "Iteration 4 of 100.", id="iterations alone"),
    pytest.param({"max_minutes": 480}, "Iteration 4 of 100; 480 minutes.", id="minutes"),
    pytest.param({"max_minutes": 1_440}, "Iteration 4 of 100.", id="the default"),
    pytest.param({"max_minutes": 0}, "Iteration 4 of 100.", id="no minutes"),
    pytest.param(
        {"max_tokens": 9_000}, "Iteration 4 of 100; 1,234 of 9,000 tokens spent.", id="tokens"
    ),
]


@pytest.mark.parametrize(("options", "line"), LIMITED)
def test_the_reason_ends_with_the_limits(options: dict[str, object], line: str) -> None:
    loop = _loop()
    loop.options, loop.tokens = options, 1_234

    assert texts.go_on(loop).splitlines()[-1] == line


def test_a_loop_that_nothing_ends_says_so() -> None:
    loop = _loop(promise=None, limit=0)
    loop.options = {"max_minutes": 0}

    assert "and ends only by `sisyphus ralph cancel`." in texts.go_on(loop)


def test_of_a_very_long_promise_the_reason_has_the_start() -> None:
    reason = texts.go_on(_loop(promise="😀" * 500))

    assert f"<promise>{'😀' * 80}…</promise> (whole: completion_promise of the loop's" in reason


any_text = st.text(max_size=1_000)


@given(
    promise=st.none() | any_text | st.text(min_size=900, max_size=1_000),
    why=any_text,
    tail=any_text,
    options=st.fixed_dictionaries(
        {"max_minutes": st.integers(0, 999_999_999), "max_tokens": st.integers(0, 999_999_999)}
    ),
    iteration=st.integers(1, 10**9),
    limit=st.integers(0, 10**9),
    tokens=st.integers(0, 10**12),
)
def test_no_reason_is_longer_than_it_may_be(  # all that is said
    promise: str | None,
    why: str,
    tail: str,
    options: dict[str, object],
    iteration: int,
    limit: int,
    tokens: int,
) -> None:
    loop = _loop(promise=promise, limit=limit)
    loop.options, loop.iteration, loop.tokens = options, iteration, tokens

    assert units(texts.go_on(loop)) <= texts.REASON_UNITS
    assert units(texts.go_on(loop, why)) <= texts.REASON_UNITS
    assert units(texts.go_on_refused(loop, why, tail)) <= texts.REASON_UNITS


def test_what_the_reason_has_no_room_for_goes_out_beside_it() -> None:
    assert texts.failed_check("1 failed").endswith("checks the promise:\n\n1 failed")


def _waiting(until: float, *, resumes: bool) -> Loop:
    loop = _loop()
    loop.waiting = {"for": "usage limit", "since": 5, "until": until, "tries": 0}
    loop.options = {"resume_after_limit": True} if resumes else {}
    return loop


def test_a_loop_that_waits_says_for_what_and_until_when() -> None:
    loop = _waiting(1_795_200_000, resumes=False)
    moment = local(1_795_200_000)

    assert moment.startswith("2026-11-2")
    (told,) = texts.waits(loop)
    assert told == (
        "[RALPH LOOP WAITS]\n\n"
        f"The loop waits for the usage limit to end. It ends at {moment}. "
        "The loop goes on with your next prompt then.\n"
        "Nothing is lost. Iteration 4 of 100. Task: do it"
    )
    assert texts.waits_note(loop) == [f"the loop waits for the usage limit to end until {moment}"]


def test_a_loop_that_waits_for_nobody_knows_how_long() -> None:
    loop = _waiting(0, resumes=True)

    assert "limit to end. The loop goes on by itself then." in texts.waits(loop)[0]
    assert texts.waits_note(loop) == ["the loop waits for the usage limit to end"]


def test_a_loop_that_does_not_wait_says_nothing() -> None:
    assert (texts.waits(_loop()), texts.waits_note(_loop())) == ([], [])


def test_a_loop_that_was_left_for_hours_says_how_to_take_it_up() -> None:
    text = texts.stale(_loop())

    assert "its client has gone and nothing moved for hours" in text
    assert "Iteration 4 of 100. Task: do it" in text
    assert "`sisyphus ralph resume`" in text


def test_a_loop_that_is_taken_up_says_how_to_end_it() -> None:
    assert texts.taken_up(_loop()) == (
        "[RALPH LOOP]\n\nThe loop of this session goes on: do it (iteration 4 of 100).\n"
        "To end it: `sisyphus ralph cancel`."
    )


def test_a_pause_before_the_clients_cap_says_how_to_go_on() -> None:
    text = texts.paused(_loop(), BY_HOST_CAP, "8 Stops in a row without a tool call")

    assert text.startswith(
        "[RALPH LOOP PAUSED]\n\nThe loop was paused: 8 Stops in a row without a tool call, and the "
    )
    assert "Iteration 4 of 100. Task: do it" in text
    assert "send any prompt in this session" in text


def test_a_pause_by_the_breaker_says_how_to_go_on() -> None:
    text = texts.paused(_loop(), BY_BREAKER, "the circuit breaker opened: the same error 5 times")

    assert "The loop was paused: the circuit breaker opened: the same error 5 times." in text
    assert "To resume it: `sisyphus ralph resume`, then send any prompt" in text


def test_a_limit_says_which() -> None:
    assert texts.at_limit(_loop(), "the limit of 100 iterations is reached") == (
        "[RALPH LOOP ENDED]\n\nThe loop ended without its promise "
        "<promise>TASK1_DONE</promise>: the limit of 100 iterations is reached.\nTask: do it"
    )
    assert "The loop ended: x.\n" in texts.at_limit(_loop(promise=None), "x")


def test_a_refusal_says_what_to_do() -> None:
    assert texts.refused("no prompt. Write one") == (
        "[RALPH LOOP NOT STARTED]\n\nno prompt. Write one."
    )


def test_unreadable_state_is_reported() -> None:
    assert "set aside /x: it has no header" in texts.set_aside("set aside /x: it has no header")


STARTED = [
    pytest.param({}, 100, "until <promise>TASK1_DONE</promise>, at most 100 iterations, 1,440 "
                 "minutes.", id="the defaults"),
    pytest.param({"max_minutes": 5, "max_tokens": 9_000}, 0, "until <promise>TASK1_DONE</promise>, "
                 "at most 5 minutes, 9,000 tokens.", id="other limits"),
    pytest.param({"max_minutes": 0}, 0, "until <promise>TASK1_DONE</promise>, without a limit.",
                 id="none"),
]  # fmt: skip


@pytest.mark.parametrize(("options", "limit", "line"), STARTED)
def test_a_loop_that_begins_says_how_it_ends(
    options: dict[str, object], limit: int, line: str
) -> None:
    loop = _loop(limit=limit)
    loop.options = options

    assert texts.started(loop) == f"Ralph loop abcde goes on {line}"


def test_a_check_without_a_promise_is_pointed_out() -> None:
    loop = _loop(promise=None)
    loop.options = {"verify": "pytest", "verify_plan": True}

    first, second = texts.started(loop).splitlines()

    assert first.startswith("Ralph loop abcde goes on without a promise, at most 100")
    assert second == (
        "It has no --completion-promise, so --verify, --verify-plan will never be asked."
    )


def test_a_question_of_the_models_is_pointed_out() -> None:
    assert texts.asks(_loop()).endswith("goes on with your answer. Iteration 4 of 100.")


def _hold() -> Loop:
    """A loop that holds the session to a plan."""
    loop = _loop("boulder: Ship it", promise=None)
    loop.options = {PLAN: "/p/PLAN.md", "wait_for_user": True}
    loop.waiting = {"for": "5-hour limit"}
    return loop


HEADS = [
    pytest.param(texts.at_limit(_hold(), "x"), "ENDED", id="at a limit"),
    pytest.param(texts.paused(_hold(), BY_BREAKER, "x"), "PAUSED", id="by the breaker"),
    pytest.param(texts.paused(_hold(), BY_HOST_CAP, "x"), "PAUSED", id="before the client's cap"),
    pytest.param(texts.stale(_hold()), "PAUSED", id="stale"),
    pytest.param(texts.taken_up(_hold()), "", id="taken up"),
    pytest.param("".join(texts.waits(_hold())), "WAITS", id="a limit of the account"),
    pytest.param(texts.asks(_hold()), "WAITS", id="a question"),
]


@pytest.mark.parametrize(("text", "what"), HEADS)
def test_a_plan_that_holds_a_session_has_words_of_its_own(text: str, what: str) -> None:
    assert text.startswith(f"[{f'BOULDER ENFORCEMENT {what}'.strip()}]\n\n")
    assert "the loop" not in text.lower()
    assert "promise" not in text.lower()


def test_what_let_go_of_a_session_is_one_line() -> None:
    assert texts.let_go(_hold()) == "This session is held to its plan no more (boulder: Ship it)."
