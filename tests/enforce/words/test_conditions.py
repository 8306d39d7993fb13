from __future__ import annotations

import pytest

from enforce.words.reading import place
from sisyphus.enforce.words import conditions

CONDITIONS = [
    *("If it is done", "Unless done", "Until it is done", "When all is done", "Once done"),
    *("After it is done", "Having finished it", "As soon as it is done", "In case it is done"),
    *("Then it's done", "Then done", "If it works, it is done", "Once it works, really, all done"),
    *("When it works, it is done", "Done if it works", "It is done as soon as it works"),
    *("Done, if it works", "Done, once it works"),
]
FREE = [
    *("It is done", "I ran it once more and it is done", "When I ran it, it was done"),
    *("When we ran it again: all done", "If it fails; it is done", "Then I finished it"),
    *("Done and if it fails", "Done, if you look", "Done, as I said", "Done: if it works"),
    *("Once again it is done", "It is done for now"),
]


@pytest.mark.parametrize("text", CONDITIONS)
def test_it_depends(text: str) -> None:
    assert conditions.is_conditional(place(text))


@pytest.mark.parametrize("text", FREE)
def test_it_does_not(text: str) -> None:
    assert not conditions.is_conditional(place(text))
