from __future__ import annotations

import pytest

from enforce.words.reading import place
from sisyphus.enforce.words import shares

LESS = [
    *("3/5 tasks", "1.5/2", "two of the five", "two of them", "3 out of 5", "one of a", "80%"),
    *("is 80% now", "80 %", "80 percent", "80% of the whole big work", "~80%", "0 of 2"),
]
WHOLE = [
    *("5/5 tasks", "7/5", "a/b", "1/2/3", "5 of 5", "all of them", "100%", "100 %", "120%"),
    *("97% coverage of nothing but the work", "of 5", "%", "percent", "3 tasks", "", "/", "1/"),
    *("\u00b2/\u00b3", "9" * 5_000 + "/" + "9" * 5_001, "no of 3", "a%"),
]


@pytest.mark.parametrize("words", LESS)
def test_less_than_the_whole(words: str) -> None:
    assert shares.is_less(words.split())


@pytest.mark.parametrize("words", WHOLE)
def test_the_whole_or_no_share_at_all(words: str) -> None:
    assert not shares.is_less(words.split())


PARTS = [
    *("Almost done", "Most of it is done", "Some tests are done", "I'm about done"),
    *("Only this is done", "This only is done", "It is more or less done", "Done so far"),
    *("Done, except for x", "Done apart from x", "I finished half", "Done, x isn't", "Done: x not"),
    *("I completed all but one", "For the most part it is done", "It is done for the most part"),
]
WHOLES = [
    *("All is done", "The only task is done", "Not only this is done", "Done, as you see"),
    *("It is done and I did not fail", "Done with all of it"),
]


@pytest.mark.parametrize("text", PARTS)
def test_a_part(text: str) -> None:
    assert shares.is_part(place(text))


@pytest.mark.parametrize("text", WHOLES)
def test_no_part(text: str) -> None:
    assert not shares.is_part(place(text))
