"""The words in which clients say why they failed, and where they count."""

from __future__ import annotations

import json
import os
import time

import pytest
from test_headless import answer, end, failure, init, refused
from world import Reply, World

from sisyphus.clients.reports import (
    ACCOUNT,
    BILLING,
    CLIENT,
    CONTEXT,
    LOGIN,
    MODEL,
    NETWORK,
    OVERLOAD,
)

STOP, GO_ON = 0, 1

PRINTED = {
    "You're out of extra usage · resets 7pm (UTC)": ACCOUNT,
    "5-hour limit reached ∙ resets 3pm": ACCOUNT,
    "Weekly limit reached · resets Mon 9am": ACCOUNT,
    "Claude AI usage limit reached|1749924000": ACCOUNT,
    "You've hit your org's monthly usage limit": ACCOUNT,
    "You’ve hit your usage limit. Upgrade to Pro.": ACCOUNT,
    "You've hit your limit · resets 3pm (UTC)\n     /upgrade to increase your usage limit": ACCOUNT,
    'API Error: 429 {"type":"error","error":{"type":"rate_limit_error"}}': ACCOUNT,
    "API Error: Rate limit reached": ACCOUNT,
    "API Error: Server is temporarily limiting requests (not your usage limit) · Rate limited":
        OVERLOAD,
    "API Error: Repeated 529 Overloaded errors": OVERLOAD,
    "Repeated 529 Overloaded errors · check status.claude.com": OVERLOAD,
    'API Error: 529 {"type":"error","error":{"type":"overloaded_error"}}': OVERLOAD,
    "API Error: Request timed out.": NETWORK,
    "API Error: Connection error.": NETWORK,
    "API Error: Unable to connect to API (ECONNREFUSED)": NETWORK,
    'API Error: 403 {"error":{"type":"forbidden","message":"Request not allowed"}}': LOGIN,
    'API Error: 401 {"type":"error","error":{"type":"authentication_error"}}': LOGIN,
    "Your organization has disabled Claude subscription access for Claude Code · Use a key": LOGIN,
    "This organization has been disabled.": LOGIN,
    "OAuth token has expired. Please run /login": LOGIN,
    "Extra usage is required for long context requests": BILLING,
    "API Error: Extra usage is required for long context": BILLING,
    'API Error: 400 {"message":"Your credit balance is too low to access the API."}': BILLING,
    "There's an issue with the selected model (x). It may not exist.": MODEL,
    "Prompt is too long": CONTEXT,
    "error: unknown option '--nope'": CLIENT,
    "./loop.sh: line 3: claude: command not found": CLIENT,
}  # fmt: skip

ANSWERS = (
    "The page of the 'issue with the selected model' is written.",
    "The checkout says 'credit balance is too low' in red.",
    "Credit balance is too low is what the page says now.",
    "Credit balance is too low.\nThat is the text of the page now.",
    "Not logged in, it shows the form:\n\n- a name\n- a password",
    "Weekly limit reached is a heading now.",
    "Overloaded operators are gone.",
    "I handle `API Error: 403` in the client.",
    "Unknown option --nope is refused.",
    "Rate limit reached · " + "x" * 1_000,
)


@pytest.mark.parametrize("text", PRINTED)
def test_an_error_that_a_client_prints(text: str) -> None:
    found = failure(text.encode(), code=1)

    assert found
    assert found.kind == PRINTED[text]


@pytest.mark.parametrize("text", PRINTED)
def test_an_error_that_a_client_reports(text: str) -> None:
    found = failure(init(), end(text, is_error=True))

    assert found
    assert found.kind == PRINTED[text]


@pytest.mark.parametrize("text", ANSWERS)
def test_an_agent_that_writes_of_an_error_has_none(text: str) -> None:
    for lines in ([text.encode()], [init(), answer(text)]):
        found = failure(*lines, code=1)
        assert found
        assert not (found.is_fatal or found.passes), found


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("API Error: Server is temporarily limiting requests (not your usage limit)", OVERLOAD),
        ("API Error: Extra usage is required for long context requests", BILLING),
        ("API Error: Request rejected", ACCOUNT),
    ],
)
def test_the_words_say_what_a_429_is(text: str, kind: str) -> None:
    found = failure(init(), *refused(text, "rate_limit", 429))

    assert found
    assert found.kind == kind


def test_a_word_without_an_end_costs_nothing() -> None:
    began = time.process_time()

    failure(code=1, errors=("x" * 50_000 + " ") * 4 + "\n" + "hit your " * 20_000)

    assert time.process_time() - began < 5


# ------------------------------------------------------------ `sisyphus ralph decide`


def decide(world: World, output: str, iteration: int = 2) -> Reply:
    state = {"iteration": iteration, "max_iterations": 50, "completion_promise": "DONE"}
    file = world.write(".claude/ralph-state.json", json.dumps(state))
    os.utime(file, (time.time() - 3600,) * 2)
    (world.root / "out").write_text(output)
    return world.cli("ralph", "decide", "--output", world.root / "out")


PASSING = [text for text, kind in PRINTED.items() if kind in (ACCOUNT, OVERLOAD, NETWORK)]
FATAL = [text for text, kind in PRINTED.items() if kind in (LOGIN, BILLING, MODEL, CLIENT)]


@pytest.mark.parametrize("text", PASSING[:4] + PASSING[-3:])
def test_what_passes_never_stops_a_loop(world: World, text: str) -> None:
    for n in range(6):
        answer = decide(world, text + "\n", n)
        assert (answer.code, "may pass" in answer.out) == (GO_ON, True), answer


@pytest.mark.parametrize("text", FATAL)
def test_what_does_not_pass_stops_it(world: World, text: str) -> None:
    assert decide(world, text + "\n").code == STOP


@pytest.mark.parametrize("text", ANSWERS)
def test_an_answer_stops_nothing(world: World, text: str) -> None:
    answer = decide(world, text + "\n")

    assert (answer.code, answer.out) == (GO_ON, "Go on: the promise was not said\n")


def test_an_execution_error_is_told_and_counts_as_an_error(world: World) -> None:
    answers = [decide(world, "Execution error\n", n) for n in range(5)]

    assert "may pass: it failed: Execution error" in answers[0].out
    assert [answer.code for answer in answers] == [GO_ON] * 4 + [STOP]


@pytest.mark.parametrize(
    ("output", "code"),
    [
        ("\x1b[31mCredit balance is too low\x1b[0m\n", STOP),
        ("\x1b[1mDone.\x1b[0m\n\x1b[32m<promise>DONE</promise>\x1b[0m\n", STOP),
        ("\x1b]8;;http://h\x1b\\<promise>DO\x1b[1mNE</promise>\x1b]8;;\x07\n", STOP),
        ("\x1b[31mAPI Error: Request timed out.\x1b[0m\n", GO_ON),
    ],
)
def test_colours_are_left_out(world: World, output: str, code: int) -> None:
    answer = decide(world, output)

    assert answer.code == code
    assert "not said" not in answer.out
