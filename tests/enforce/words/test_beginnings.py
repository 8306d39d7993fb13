from __future__ import annotations

import pytest

from enforce.words.reading import read
from sisyphus.enforce.words import beginnings

WORK = [
    *("Next: docs", "Next, the docs.", "It works, next is the lexer.", "Tests next.", "On to x."),
    *("Now for the docs.", "TODO: docs", "To do:\n\nx", "## To do", "Running the tests."),
    *("Now checking it.", "So running them all", "It is here; parsing now.", "Now parsing it"),
    *("I'm adding x", "I am still adding x", "We're now adding x", "It works but I'm adding x"),
]
NONE = [
    *(
        "Next steps: docs",
        "Next to it",
        "Next: nothing",
        "Next time",
        "It says what comes up right next",
    ),
    *("I'd suggest the docs next.", "You could add docs next.", "Missing: nothing", "todo"),
    *("- Running the tests", "Running it takes 3 s.", "Running is fun.", "Waiting for your reply."),
    *("Running all of the old and new tests of it", "Something now", "now", "It is here now"),
    *("I'm done testing", "I'm using x", "I am", "We are", "## What I did", "It runs."),
]


@pytest.mark.parametrize("text", WORK)
def test_these_say_that_work_goes_on(text: str) -> None:
    assert beginnings.find(read(text)[0], [])


@pytest.mark.parametrize("text", NONE)
def test_these_do_not(text: str) -> None:
    assert beginnings.find(read(text)[0], []) == []


def test_a_short_answer_empties_a_label() -> None:
    assert beginnings.find(read("## To do")[0], ["none"]) == []
    assert beginnings.find(read("Next:")[0], ["nothing"]) == []


def test_the_words_that_say_so_are_told() -> None:
    assert beginnings.find(read("It is here; parsing now.")[0], []) == ["parsing", "now"]
