from __future__ import annotations

import pytest

from sisyphus.enforce.words import settled
from sisyphus.enforce.words.lists import WORKS
from sisyphus.enforce.words.phrases import Phrases

NO_WORK = [
    *("let me know", "i'll be happy", "i'll be here", "pending review", "i will not", "let me say"),
    *(
        "i finished working on x",
        "was in progress",
        "i was asked to implement x",
        "fixed remaining x",
    ),
    *("by moving to x", "of implementing x", "no remaining work", "nothing is in progress"),
    *("remaining none", "0 pending", "isn't in progress", "you still need to test"),
]
WORK = [
    *(
        "let me run it",
        "i'll be adding x",
        "in progress",
        "remaining work",
        "a list of remaining x",
    ),
    *("it did not work so let me see", "no luck and work is in progress", "not good i will see"),
    *(
        "i finished it and i am working on x",
        "still need tests",
        "no one in all of it is in progress",
    ),
]


def _is_no_work(words: list[str], behind: list[str]) -> bool:
    start, end = next(Phrases(WORKS).find(words))
    return settled.is_no_work(words, start, end, behind)


@pytest.mark.parametrize("words", NO_WORK)
def test_these_speak_of_no_work(words: str) -> None:
    assert _is_no_work(words.split(), [])


@pytest.mark.parametrize("words", WORK)
def test_these_do(words: str) -> None:
    assert not _is_no_work(words.split(), [])


def test_what_stands_behind_may_say_that_there_is_none() -> None:
    assert _is_no_work(["remaining"], ["none"])
    assert not _is_no_work(["remaining"], ["docs"])
    assert not _is_no_work(["remaining", "work"], ["none"])
