from __future__ import annotations

import pytest

from enforce.words.reading import clauses, read
from sisyphus.markdown import HIDDEN

SENTENCES = [
    pytest.param("One. Two! Three? Four", ["One.", "Two!", "Three?", "Four"], id="marks"),
    pytest.param("One\u2026 Two\u3002 Three", ["One\u2026", "Two\u3002", "Three"], id="others"),
    pytest.param("One ! Two", ["One", "Two"], id="a mark apart"),
    pytest.param("**One.** Two", ["**One.**", "Two"], id="a mark within emphasis"),
    pytest.param("Version 3.11 of x.py", ["Version 3.11 of x.py"], id="points within words"),
    pytest.param("e.g. this", ["e.g. this"], id="an abbreviation"),
    pytest.param("one\ntwo", ["one\ntwo"], id="a line goes on"),
    pytest.param("One\nTwo", ["One", "Two"], id="a line begins anew"),
    pytest.param("so\nI'm here", ["so\nI'm here"], id="a line that begins with I"),
    pytest.param("One\n\u2705 two", ["One", "two"], id="a line that begins with an emoji"),
    pytest.param("one\n---x\ntwo", ["one\n---x\ntwo"], id="no ruler"),
    pytest.param("one\n*** two", ["one", "two"], id="a ruler"),
    pytest.param("one\n`code`\ntwo", ["one", "`code`\ntwo"], id="a line of code begins anew"),
    pytest.param("one\n`code` two", ["one\n`code` two"], id="a line that begins with code goes on"),
    pytest.param("One.\n\n- two\n- three.", ["One.", "two", "three."], id="items"),
    pytest.param("One:\n```\ntwo\n```", ["One:"], id="a fence behind it"),
    pytest.param("`one`", [], id="nothing but code"),
    pytest.param("...", [], id="nothing but marks"),
]


@pytest.mark.parametrize(("text", "found"), SENTENCES)
def test_a_text_falls_into_sentences(text: str, found: list[str]) -> None:
    assert [sentence.text() for sentence in read(text)] == found


CLAUSES = [
    pytest.param("One, two; three: four", ["one", "two", "three", "four"], id="marks"),
    pytest.param("one (two) three", ["one", "two", "three"], id="brackets"),
    pytest.param("one\u2014two \u2013 three - four", ["one", "two", "three", "four"], id="dashes"),
    pytest.param("one \U0001f389 two", ["one", "two"], id="an emoji"),
    pytest.param("(one), two", ["one", "two"], id="two marks at once"),
    pytest.param(", one", ["one"], id="a mark before everything"),
]


@pytest.mark.parametrize(("text", "found"), CLAUSES)
def test_a_sentence_falls_into_clauses(text: str, found: list[str]) -> None:
    assert clauses(text) == [words.split() for words in found]


WORDS = [
    pytest.param("**Done!**", "done", id="emphasis"),
    pytest.param("_done_", "done", id="underscores around it"),
    pytest.param("Isn\u2019t", "isn't", id="a curly apostrophe"),
    pytest.param("done.md", "done.md", id="a file"),
    pytest.param("is_done", "is_done", id="an identifier"),
    pytest.param("done()", "done(", id="a call"),
    pytest.param("--done", "--done", id="an option"),
    pytest.param("well-done", "well-done", id="a hyphen"),
    pytest.param("80%", "80%", id="percent"),
    pytest.param("a `b c` d", f"a {HIDDEN} d", id="hidden text"),
    pytest.param("`b`s", f"{HIDDEN} s", id="hidden text at a word"),
    pytest.param("80 %", "80 %", id="percent, apart"),
    pytest.param("~~done~~", "~~done~~", id="struck through"),
]


@pytest.mark.parametrize(("text", "words"), WORDS)
def test_words_lose_the_marks_around_them(text: str, words: str) -> None:
    assert clauses(text) == [words.split(" ")]


def test_a_clause_knows_what_ends_it() -> None:
    (sentence,) = read("One, two (three): four \u2014 five")

    assert [clause.mark for clause in sentence.clauses] == [",", "(", ":", "\u2014", ""]
    assert sentence.text(3) == "four \u2014 five"


def test_a_question_is_known() -> None:
    assert [sentence.is_question for sentence in read("One? Two. **Three?!**")] == [
        True,
        False,
        True,
    ]
