from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner import scripted
from runner.streams import NAMES, fed, recorded
from sisyphus.clients import running
from sisyphus.ralph.limits import LONGEST
from sisyphus.runner.client.failures import (
    COUNTING,
    FATAL,
    KINDS,
    MEANING,
    PASSING,
    Failure,
    classify,
    delay,
    of_start,
)
from sisyphus.runner.client.stream import Seen

if TYPE_CHECKING:
    from sisyphus._types import Json

NOW = 1_795_236_000.0
RESETS = 1_795_239_999
INIT = scripted.init()[1]

RECORDED = [
    pytest.param("done", 0, "", id="done"),
    pytest.param("background-agent", 0, "", id="done, a background agent too"),
    pytest.param("retried", 0, "", id="done at the third try"),
    pytest.param("limit-warning", 0, "", id="done near the limit"),
    pytest.param("authentication", 1, running.AUTHENTICATION, id="no such key"),
    pytest.param("forbidden", 1, running.AUTHENTICATION, id="no access"),
    pytest.param("not-logged-in", 1, running.AUTHENTICATION, id="no login"),
    pytest.param("model", 1, running.MODEL, id="no such model"),
    pytest.param("credit", 1, running.BILLING, id="no money"),
    pytest.param("limit", 1, running.LIMIT, id="the account's limit"),
    pytest.param("rate-limit", 1, running.LIMIT, id="too many requests"),
    pytest.param("overloaded", 1, running.OVERLOADED, id="529"),
    pytest.param("server-error", 1, running.OVERLOADED, id="500"),
    pytest.param("refused", 1, running.NETWORK, id="no server"),
    pytest.param("too-long", 1, running.CONTEXT, id="the prompt is too long"),
    pytest.param("too-large", 1, running.CONTEXT, id="the request is too large"),
    pytest.param("turns", 1, running.TURNS, id="as many turns as allowed"),
    pytest.param("budget", 1, running.TURNS, id="as much money as allowed"),
    pytest.param("interrupted-tool", 0, running.INTERRUPTED, id="interrupted in a command"),
    pytest.param("interrupted-answer", 0, running.INTERRUPTED, id="interrupted in an answer"),
    pytest.param("terminated", 143, running.INTERRUPTED, id="SIGTERM"),
    pytest.param("denied", 0, running.PERMISSION, id="nothing was permitted"),
    pytest.param("bad-request", 1, running.CRASH, id="a request that was wrong"),
    pytest.param("retrying", 137, running.NETWORK, id="killed while nobody could be reached"),
    pytest.param("retrying-limit", 137, running.LIMIT, id="killed while it was too fast"),
]


@pytest.mark.parametrize(("name", "exit_code", "kind"), RECORDED)
def test_recorded_runs(name: str, exit_code: int, kind: str) -> None:
    assert classify(recorded(name), exit_code, "", NOW).kind == kind


@pytest.mark.parametrize("name", NAMES)
def test_a_client_that_is_not_our_child_is_judged_by_its_stream(name: str) -> None:
    """Where its end is not in the stream, its exit code was all that told it."""
    known = {"terminated": running.CRASH}
    expected = classify(recorded(name), 1 if recorded(name).is_error else 0, "", NOW).kind
    assert classify(recorded(name), None, "", NOW).kind == known.get(name, expected)


CLASSES = [
    pytest.param(running.AUTHENTICATION, True, False, id="fatal"),
    pytest.param(running.LIMIT, False, True, id="passing"),
    pytest.param(running.CONTEXT, False, False, id="a checkpoint"),
    pytest.param(running.CRASH, False, False, id="it counts"),
    pytest.param("", False, False, id="none"),
]


@pytest.mark.parametrize(("kind", "is_fatal", "is_passing"), CLASSES)
def test_what_follows_from_a_kind(kind: str, is_fatal: bool, is_passing: bool) -> None:
    failure = Failure(kind)
    assert (failure.is_fatal, failure.is_passing, bool(failure)) == (
        is_fatal,
        is_passing,
        bool(kind),
    )


def test_a_limit_ends_when_its_event_says() -> None:
    failure = classify(recorded("limit"), 1, "", NOW)

    assert failure.until == RESETS
    assert failure.why == (
        "the account's limit is reached: You've hit your 5-hour limit · resets 5:46am (UTC)"
    )


def test_a_limit_ends_when_its_words_say() -> None:
    seen = fed(INIT, *_failing("You've hit your 5-hour limit · resets 5:46am (UTC)", "rate_limit"))
    assert 0 < classify(seen, 1, "", NOW).until - NOW < 86_400


def test_a_reset_that_is_further_ahead_than_a_week_is_none() -> None:
    far = int(NOW + LONGEST + 1)
    limited = scripted.limited(far)[1]
    assert classify(fed(INIT, limited, *_failing("x", "rate_limit")), 1, "", NOW).until == 0


def _failing(words: str, error: str = "", status: int | None = None) -> list[Json]:
    """The refusal and the result, as the client tells them."""
    events: list[Json] = scripted.failed(words, error, status)[1]
    return events


MODELS_OWN = [
    "API Error: 401 Unauthorized. Please run /login",
    "You've hit your 5-hour limit · resets 3am (UTC)",
    "ENOSPC: no space left on device",
    "Prompt is too long",
    "connect ECONNREFUSED 127.0.0.1:9",
    "There's an issue with the selected model (x).",
]


@pytest.mark.parametrize("words", MODELS_OWN)
def test_what_the_model_says_is_no_failure(words: str) -> None:
    answer, done = scripted.text(words)[1], scripted.result(words)[1]

    assert classify(fed(INIT, answer, done), 0, "", NOW).kind == ""
    assert classify(fed(INIT, answer), 1, "", NOW).kind == running.CRASH
    assert classify(fed(words), 0, "", NOW).kind == ""
    assert classify(fed(words), 1, "", NOW).kind == running.CRASH


@pytest.mark.parametrize("words", MODELS_OWN)
def test_what_a_tool_answers_is_no_failure(words: str) -> None:
    block = {"type": "tool_result", "content": words, "is_error": True}
    told = {"type": "user", "message": {"role": "user", "content": [block]}}
    assert classify(fed(INIT, told), 1, "", NOW).kind == running.CRASH


def test_complaints_of_a_run_that_went_well_are_none() -> None:
    errors = "SessionEnd hook failed: ENOSPC: no space left on device"
    assert classify(recorded("done"), 0, errors, NOW).kind == ""


COMPLAINTS = [
    pytest.param("error: unknown option '--nonsense'", 1, running.CLIENT, id="a flag"),
    pytest.param("sh: 1: cloude: not found", 127, running.CLIENT, id="no such program"),
    pytest.param("sh: 1: ./claude: Permission denied", 126, running.CLIENT, id="no program"),
    pytest.param("ENOSPC: no space left on device, write", 1, running.DISK, id="a full disk"),
    pytest.param("Could not resolve host: example.com", 6, running.NETWORK, id="no network"),
    pytest.param("Traceback", 1, running.CRASH, id="something else"),
    pytest.param("", 137, running.CRASH, id="killed"),
    pytest.param("", 130, running.INTERRUPTED, id="Ctrl-C"),
    pytest.param("", 0xC000013A, running.INTERRUPTED, id="Ctrl-C on Windows"),
    pytest.param("rate_limit_error", 0, "", id="all is well"),
]


@pytest.mark.parametrize(("errors", "exit_code", "kind"), COMPLAINTS)
def test_a_client_that_said_nothing(errors: str, exit_code: int, kind: str) -> None:
    assert classify(Seen(), exit_code, errors, NOW).kind == kind


WHY = [
    pytest.param(1, "a\nTypeError: x\n", "the client failed: exit code 1: TypeError: x", id="code"),
    pytest.param(139, "", "the client failed: signal 11 ended it", id="signal"),
    pytest.param(0, "", "the client failed: it ended without a result", id="no result"),
]


@pytest.mark.parametrize(("exit_code", "errors", "why"), WHY)
def test_why_it_failed(exit_code: int, errors: str, why: str) -> None:
    assert classify(fed(INIT), exit_code, errors, NOW).why == why


def test_why_is_one_harmless_line() -> None:
    failure = classify(fed(INIT, *_failing("a\x1b[31m\n" + "b" * 1_000)), 1, "", NOW)

    assert "\n" not in failure.why
    assert "\x1b" not in failure.why
    assert len(failure.why) <= 300


def test_whose_time_is_over_was_not_interrupted() -> None:
    for name in ("interrupted-tool", "terminated"):
        assert classify(recorded(name), 0, "", NOW, timed_out=True).kind == running.TIMEOUT


def test_whose_time_is_over_while_nobody_can_be_reached_may_try_again() -> None:
    assert classify(recorded("retrying"), 0, "", NOW, timed_out=True).kind == running.NETWORK


def test_who_came_to_the_end_in_time_has_no_failure() -> None:
    assert classify(recorded("done"), 0, "", NOW, timed_out=True).kind == ""


def test_one_tool_that_was_not_permitted_is_no_failure() -> None:
    calls = [scripted.tool("Bash", {"command": c}, call=c)[1] for c in ("ls", "rm")]
    done = scripted.result("done", **scripted.denied("rm"))[1]

    assert classify(fed(INIT, *calls, done), 0, "", NOW).kind == ""


STARTS = [
    pytest.param(errno.ENOENT, "claude", "claude", running.CLIENT, id="no such program"),
    pytest.param(errno.EACCES, "claude", "claude", running.CLIENT, id="not executable"),
    pytest.param(errno.ENOEXEC, "claude", "claude", running.CLIENT, id="no program"),
    pytest.param(errno.ENOENT, "claude", "", running.CLIENT, id="whichever it was"),
    pytest.param(errno.E2BIG, "/bin/sh", "/bin/sh", running.CLIENT, id="too many words"),
    pytest.param(errno.ENOTDIR, ".claude/PROMPT.md", "/bin/sh", running.DISK, id="no folder"),
    pytest.param(errno.EACCES, "/out.jsonl", "claude", running.DISK, id="a file of ours"),
    pytest.param(errno.ENOSPC, "/out.jsonl", "", running.DISK, id="a full disk"),
]


@pytest.mark.parametrize(("number", "path", "program", "kind"), STARTS)
def test_a_client_that_cannot_be_started(number: int, path: str, program: str, kind: str) -> None:
    failure = of_start(OSError(number, os.strerror(number), path), program)

    assert (failure.kind, failure.is_fatal) == (kind, True)
    assert failure.why.endswith(f"{path}: {os.strerror(number)}")


DELAYS = [
    pytest.param(running.LIMIT, 0, 1, 300, id="a limit without an end"),
    pytest.param(running.LIMIT, 0, 2, 600, id="doubled"),
    pytest.param(running.LIMIT, 0, 9, 3_600, id="an hour at most"),
    pytest.param(running.LIMIT, 0, 10**9, 3_600, id="for ever"),
    pytest.param(running.LIMIT, NOW + 1_000, 3, 1_005, id="until the reset"),
    pytest.param(running.LIMIT, NOW + LONGEST + 1, 1, 300, id="a reset that cannot be"),
    pytest.param(running.LIMIT, NOW - 60, 1, 5, id="a reset that has passed"),
    pytest.param(running.LIMIT, NOW - 60, 2, 600, id="a reset that was none"),
    pytest.param(running.NETWORK, 0, 1, 5, id="the network"),
    pytest.param(running.NETWORK, 0, 4, 40, id="the network again"),
    pytest.param(running.OVERLOADED, 0, 12, 300, id="five minutes at most"),
]


@pytest.mark.parametrize(("kind", "until", "tries", "seconds"), DELAYS)
def test_how_long_to_wait(kind: str, until: float, tries: int, seconds: float) -> None:
    assert delay(Failure(kind, "", until), tries, 300, NOW) == seconds


@given(
    st.sampled_from(PASSING),
    st.floats(allow_nan=False) | st.just(0.0),
    st.integers(-5, 10**6),
    st.integers(-1_000, 10**6),
)
def test_a_wait_is_neither_nothing_nor_for_ever(
    kind: str, until: float, tries: int, first: int
) -> None:
    assert 1 <= delay(Failure(kind, "", until), tries, first, NOW) <= LONGEST + 10


@given(st.sampled_from(NAMES), st.none() | st.integers(-300, 300), st.text(), st.booleans())
def test_every_end_is_judged(name: str, code: int | None, errors: str, timed_out: bool) -> None:
    failure = classify(recorded(name), code, errors, NOW, timed_out=timed_out)
    assert failure.kind in ("", *KINDS)
    assert bool(failure.why) == bool(failure)


def test_every_kind_has_words_and_one_class() -> None:
    classes = [*FATAL, *PASSING, running.CONTEXT, *COUNTING]
    assert sorted(KINDS) == sorted(set(classes)) == sorted(MEANING)


def test_the_last_line_with_a_sign_counts() -> None:
    text = "connect ECONNREFUSED 127.0.0.1:9\n  Not logged in  \nbye\n"
    failure = classify(Seen(), 1, text, NOW)
    assert (failure.kind, "Not logged in" in failure.why) == (running.AUTHENTICATION, True)
    assert classify(Seen(), 1, "bye\n", NOW).kind == running.CRASH
