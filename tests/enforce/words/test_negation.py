from __future__ import annotations

import pytest

from enforce.words.reading import place
from sisyphus.enforce.words import negation

NEGATED = [
    *("It is not done", "It isn't done", "Never done", "None is done", "No task is done"),
    *("It is far from done", "I doubt it is done", "It is not, then, done", "Not tested and done"),
]  # fmt: skip
AFFIRMED = [
    *("It is done", "Not only this is done", "No doubt it is done", "It did not fail but is done"),
    *("I did not fail and it is done", "There were no errors in any of them, it is done"),
    *("No one of the many old tests failed here now done",),
]


@pytest.mark.parametrize("text", NEGATED)
def test_it_is_negated(text: str) -> None:
    assert negation.is_negated(place(text))


@pytest.mark.parametrize("text", AFFIRMED)
def test_it_is_not(text: str) -> None:
    assert not negation.is_negated(place(text))


PUT_OFF = [
    *("It will be done", "It will have finished", "I'll be done", "It'd be done", "to be done"),
    *("to fully complete", "to complete", "It can soon be done", "It is being done"),
    *("Make sure it is done", "Check it is done", "Please confirm it is done", "I hope it's done"),
    *("It needs to get done", "Steps to complete", "I want it done"),
]  # fmt: skip
NOW = [
    *("It is done", "It seems to be complete", "You can see it is done", "I say we have finished"),
    *("I came to the end, it is done", "Due to luck done", "I can confirm it is done"),
]  # fmt: skip


@pytest.mark.parametrize("text", PUT_OFF)
def test_it_is_put_off(text: str) -> None:
    assert negation.is_put_off(place(text))


@pytest.mark.parametrize("text", NOW)
def test_it_is_now(text: str) -> None:
    assert not negation.is_put_off(place(text))
