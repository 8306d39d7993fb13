from __future__ import annotations

import pytest

from sisyphus.ralph import doubts

DOUBTS = [
    *("it is not done", "it isn't done", "it isn\u2019t done", "I can't", "I cannot", "never"),
    *(
        "neither this",
        "nor that",
        "without",
        "instead of",
        "rather than",
        "I refuse",
        "I am unable",
    ),
    *("if", "unless", "when", "whenever", "once", "until", "till", "before", "after", "provided"),
    *("as soon as it works", "assuming", "I would", "it should", "I could", "may", "might", "I'd"),
    *("will", "I'll", "shall", "going to", "about to", "have to", "has to", "had to", "need to"),
    *("needs", "must", "want to", "wants to", "wait", "waiting", "awaiting", "expected", "later"),
    *("soon", "yet", "next", "still", "almost", "nearly", "incomplete", "unfinished"),
    *("asked to output", "told to say", "supposed to emit", "ready to write", "to output"),
    *(
        "WHEN",
        "Not",
        "so no ",
        'he said "',
        "he said \u201c",
        "he said \u201e",
        "he said \u00ab **",
    ),
]


@pytest.mark.parametrize("words", DOUBTS)
def test_these_words_hold_a_promise_back(words: str) -> None:
    assert doubts.find(words)


CERTAIN = [
    *("", "done", "all tests pass:", "the task is complete,", "finished and verified \u2014"),
    *(
        "no errors are left:",
        "nothing remains:",
        "knot",
        "notable",
        "whenceforth",
        "ifs",
        "willing",
    ),
    *("unlessened", "a nextdoor neighbour", "said 'yes' and", "here it is, as promised:"),
]


@pytest.mark.parametrize("words", CERTAIN)
def test_these_do_not(words: str) -> None:
    assert doubts.find(words) == ""


SENTENCES = [
    pytest.param("One. Two", "Two", id="a full stop"),
    pytest.param("One! Two? Three", "Three", id="other marks"),
    pytest.param("One\u2026 Two", "Two", id="an ellipsis"),
    pytest.param('He said "one." Two', "Two", id="a mark within quotes"),
    pytest.param("**One.** Two", "Two", id="a mark within emphasis"),
    pytest.param("One.\nTwo", "Two", id="a mark at the end of a line"),
    pytest.param("一。二", "二", id="a full stop of another script"),
    pytest.param("version 3.11 works", "version 3.11 works", id="a point in a number"),
    pytest.param("e.g. this, i.e. that", "e.g. this, i.e. that", id="abbreviations"),
    pytest.param("One: two; three", "One: two; three", id="marks that end no sentence"),
    pytest.param("One. ", "", id="nothing behind the mark"),
]


@pytest.mark.parametrize(("text", "last"), SENTENCES)
def test_the_last_sentence_begins_behind_the_last_mark(text: str, last: str) -> None:
    assert doubts.last_sentence(text) == last
