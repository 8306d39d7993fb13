from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sisyphus.enforce import texts
from sisyphus.enforce.limits import Limits
from sisyphus.enforce.record import Entry
from sisyphus.settings import SETTINGS
from sisyphus.text import units

REASON_UNITS = 900
LIMITS = Limits(lambda key: SETTINGS[key].default)
ENDLESS = Limits(lambda key: 0 if key.endswith("iterations") else SETTINGS[key].default)

IDLE = [
    pytest.param(30_000, "30 seconds", id="half a minute"),
    pytest.param(2_400, "2 seconds", id="two"),
    pytest.param(1_000, "1 s", id="one"),
    pytest.param(90_000, "1 min 30 s", id="longer"),
]


@pytest.mark.parametrize(("milliseconds", "words"), IDLE)
def test_how_long_a_session_rested(milliseconds: int, words: str) -> None:
    text = texts.idle(milliseconds, Entry({"iteration": 3}), LIMITS)

    assert f"The session has been idle for {words}." in text
    assert text.endswith("\n\nEnforcement 3 of 50. Only the user ends this, with "
                         "/sisyphus:enforce stop.")  # fmt: skip


def test_an_endless_one_has_no_limit() -> None:
    assert texts.count(Entry({"iteration": 3}), ENDLESS) == "Enforcement 3"


@given(st.text(st.characters()))
def test_whatever_the_model_says_the_text_is_short_and_harmless(claim: str) -> None:
    text = texts.claimed(claim, Entry({"iteration": 10**14}), LIMITS)

    assert units(text) <= REASON_UNITS
    [said] = [line for line in text.split("\n") if line.startswith("You said: ")]
    assert said.isprintable()
    assert said.count('"') == 2
