from __future__ import annotations

import pytest

from enforce.words.reading import place
from sisyphus.enforce.words import doubts

ENGLISH = ["it is done", "done", "the caf\u00e9 is done", "\u2713 done", "3 done"]
FOREIGN = ["das ist done", "alles done", "\u5b8c\u6210 done", "\u0434\u0430 done"]


@pytest.mark.parametrize("words", ENGLISH)
def test_english_is_looked_at(words: str) -> None:
    assert not doubts.is_foreign(words.split())


@pytest.mark.parametrize("words", FOREIGN)
def test_another_language_is_left_alone(words: str) -> None:
    assert doubts.is_foreign(words.split())


DOUBTS = [
    pytest.param("It is done", None, id="none"),
    pytest.param("The user says it is done", False, id="somebody else's word"),
    pytest.param("says it is done", False, id="nobody's word"),
    pytest.param("I said it is done", None, id="the model's own word"),
    pytest.param("As reported it is done", None, id="a known word"),
    pytest.param("A complete list", False, id="describes"),
    pytest.param("When done", False, id="a condition"),
    pytest.param("You can get it done", False, id="the user's"),
    pytest.param("It is not done", True, id="negated"),
    pytest.param("It is almost done", True, id="a part"),
    pytest.param("It will be done", True, id="put off"),
]


@pytest.mark.parametrize(("text", "decides"), DOUBTS)
def test_some_doubts_say_that_work_is_left(text: str, decides: bool | None) -> None:
    doubt = doubts.find(place(text))

    assert (doubt.decides if doubt else None) is decides
