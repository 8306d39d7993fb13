from __future__ import annotations

import pytest

from enforce.words.reading import read
from sisyphus.enforce.words import judge
from sisyphus.enforce.words.lists import CLAIMS, WORKS
from sisyphus.enforce.words.phrases import Phrases

ORDER = [
    pytest.param("Let me see. It is done.", True, id="a claim behind work"),
    pytest.param("It is done. Let me see.", False, id="work behind a claim"),
    pytest.param("It is done. It is not done.", False, id="taken back"),
    pytest.param("It is not done. It is done.", True, id="put right"),
    pytest.param("It is done. I added a test.", True, id="what says nothing is passed over"),
    pytest.param("It is done. When done, it rests.", True, id="so is a mere doubt"),
    pytest.param("It is done. Is it done? It is.", True, id="and a question"),
    pytest.param("Not done by hand, it is done.", True, id="the last word of a sentence counts"),
    pytest.param("It is done, not well done.", True, id="or the one before, where it describes"),
    pytest.param("It is done. The tool works.", True, id="words beside a claim elsewhere"),
    pytest.param("The tool is done.", False, id="words beside a claim"),
    pytest.param("It is done. The tool is done.", True, id="a sentence with them is passed over"),
    pytest.param("It is done. Das ist done.", True, id="and one of another language"),
    pytest.param("It is done. Go on?", False, id="a question at the end"),
    pytest.param("It works.", False, id="no word"),
    pytest.param("", False, id="no sentence"),
]


@pytest.mark.parametrize(("text", "says_done"), ORDER)
def test_the_last_sentence_that_decides_counts(text: str, says_done: bool) -> None:
    found = judge.judge(reversed(read(text)), Phrases(CLAIMS), Phrases(WORKS))

    assert found.says_done is says_done, found.why
