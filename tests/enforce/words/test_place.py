from __future__ import annotations

import pytest

from enforce.words.reading import place
from sisyphus.enforce.words.place import statement

STATEMENTS = [
    pytest.param("the work is", "the work is", id="one statement"),
    pytest.param("it failed but it is", "it is", id="behind a but"),
    pytest.param("it failed but", "", id="a but alone"),
    pytest.param("not tested and", "not tested and", id="an and without a subject"),
    pytest.param("not tested and it is", "it is", id="an and with a subject"),
    pytest.param("not tested and the work has", "the work has", id="an and with a verb"),
    pytest.param("not tested and that's", "that's", id="an and with both in one"),
    pytest.param("", "", id="nothing"),
]


@pytest.mark.parametrize(("words", "own"), STATEMENTS)
def test_the_statement_of_a_phrase(words: str, own: str) -> None:
    assert statement(words.split()) == own.split()


JOINED = [
    pytest.param("It is not, however, done.", "it is not however", id="a filler between commas"),
    pytest.param("It is not (yet) done.", "it is not yet", id="a filler in brackets"),
    pytest.param("Tests pass, done.", "tests pass", id="a bare word behind a comma"),
    pytest.param("It did not fail, now all is done.", "now all is", id="a statement of its own"),
    pytest.param("Not bad: done.", "", id="a colon parts more"),
    pytest.param("It did not, and it is, done.", "and it is", id="the nearest clause alone"),
    pytest.param("Done.", "", id="nothing before it"),
]


@pytest.mark.parametrize(("text", "words"), JOINED)
def test_what_a_comma_only_seems_to_part(text: str, words: str) -> None:
    assert place(text).joined == words.split()


def test_the_words_around_a_phrase() -> None:
    found = place("First this, now all is done for today, since it works.")

    assert found.before == ["now", "all", "is"]
    assert found.phrase == ["done"]
    assert found.after == ["for", "today"]
    assert found.behind == ["for", "today", "since", "it", "works"]
    assert [clause.words for clause in found.earlier] == [["first", "this"]]
    assert found.mark == ","
