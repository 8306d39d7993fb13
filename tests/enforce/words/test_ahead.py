from __future__ import annotations

import pytest

from enforce.words.reading import read
from sisyphus.enforce.words import ahead
from sisyphus.enforce.words.lists import WORKS
from sisyphus.enforce.words.phrases import Phrases

CASES = [
    pytest.param("Let me see.", ("let me see", False), id="a phrase"),
    pytest.param("The tool works.", ("tool works", True), id="beside a claim alone"),
    pytest.param("The tool works, I'll stay at it.", ("i'll stay at it", False), id="the stronger"),
    pytest.param("Tests next.", ("tests next", False), id="by its end"),
    pytest.param("The tool works; testing now.", ("testing now", False), id="by its beginning"),
    pytest.param("- [ ] the docs", ("[ ] the docs", False), id="an open box"),
    pytest.param("Let me see `a b` now", ("let me see \u2026 now", False), id="code in it"),
    pytest.param("I will a b c d e f g", ("i will a b c d", False), id="cut"),
    pytest.param("If you like, I'll add it.", None, id="an offer"),
    pytest.param("Remaining: none", None, id="nothing remains"),
    pytest.param("It works.", None, id="nothing"),
]


@pytest.mark.parametrize(("text", "found"), CASES)
def test_what_speaks_of_work(text: str, found: tuple[str, bool] | None) -> None:
    work = ahead.find(read(text)[0], None, Phrases(WORKS))

    assert (work and (work.text, work.is_beside)) == found


def test_a_short_sentence_behind_it_may_say_that_nothing_remains() -> None:
    works = Phrases(WORKS)
    short, long = read("## Remaining\n\nNone."), read("## Remaining\n\nNone of the docs exist.")

    assert ahead.find(short[0], short[1], works) is None
    assert ahead.find(long[0], long[1], works) is not None
