from __future__ import annotations

import pytest

from sisyphus.enforce.words.phrases import LONGEST, MOST, Phrases

CASES = [
    pytest.param(["done"], "all done now", [(1, 2)], id="a word"),
    pytest.param(["done"], "undone donee", [], id="whole words alone"),
    pytest.param(["all done"], "all done", [(0, 2)], id="two words"),
    pytest.param(["all done"], "all not done", [], id="words side by side alone"),
    pytest.param(["done", "done now"], "done now", [(0, 2)], id="the longest"),
    pytest.param(["a b c", "a"], "a b", [(0, 1)], id="the longest that is whole"),
    pytest.param(["a b", "b"], "a b", [(0, 2), (1, 2)], id="one that begins in another"),
    pytest.param(["need*"], "it needs need no", [(1, 2), (2, 3)], id="any end"),
    pytest.param(["still need*"], "still needs", [(0, 2)], id="any end of the last word"),
    pytest.param(["a*", "a b"], "a b", [(0, 2)], id="any end, and a longer one"),
    pytest.param(["a", "a b*"], "a bc", [(0, 2)], id="a longer one with any end"),
    pytest.param(["Done!"], "done", [(0, 1)], id="an entry's case and marks do not count"),
    pytest.param(["that\u2019s it"], "that's it", [(0, 2)], id="nor its apostrophes"),
    pytest.param(["x" * LONGEST], "x" * LONGEST, [(0, 1)], id="the longest entry"),
    pytest.param(["x" * (LONGEST + 1)], "x" * (LONGEST + 1), [], id="too long an entry"),
    pytest.param(["x"] * MOST + ["done"], "done", [], id="too many entries"),
    pytest.param(["", " ", "*", "a*b", "* a", "a* b"], "a b * ab", [], id="no phrases"),
    pytest.param(["done"], "", [], id="no words"),
]


@pytest.mark.parametrize(("entries", "words", "found"), CASES)
def test_phrases_are_found(entries: list[str], words: str, found: list[tuple[int, int]]) -> None:
    assert list(Phrases(entries).find(words.split())) == found


def test_phrases_apart_do_not_overlap() -> None:
    assert list(Phrases(["a b", "b c", "c"]).find_apart(["a", "b", "c"])) == [(0, 2), (2, 3)]


LOOKS = [
    pytest.param(["all done"], "ALL of it", True, id="the first word is there"),
    pytest.param(["that's it"], "That\u2019s", True, id="with another apostrophe"),
    pytest.param(["need*"], "Needs", True, id="the beginning is there"),
    pytest.param(["all done", "need*"], "nothing", False, id="none is there"),
    pytest.param([], "done", False, id="no phrases"),
]


@pytest.mark.parametrize(("entries", "text", "maybe"), LOOKS)
def test_the_cheap_look_misses_nothing(entries: list[str], text: str, maybe: bool) -> None:
    assert Phrases(entries).may_be_in(text) is maybe
