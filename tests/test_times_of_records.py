from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sisyphus import times
from sisyphus.times import local

NOW = 1_771_000_000.0

TIMES = [
    pytest.param("2026-02-13T16:26:40Z", NOW, id="as we write it"),
    pytest.param("2026-02-13T16:26:40.500+00:00", NOW + 0.5, id="with a fraction"),
    pytest.param("2026-02-13T17:26:40+01:00", NOW, id="of another zone"),
    pytest.param("2026-02-13T16:26:40", NOW, id="without a zone"),
    pytest.param("1960-01-01T00:00:00Z", 0.0, id="before the epoch"),
    pytest.param("0001-01-01T00:00:00+23:59", 0.0, id="before the calendar"),
    pytest.param("yesterday", 0.0, id="a word"),
    pytest.param(7, 0.0, id="a number"),
    pytest.param(None, 0.0, id="nothing"),
]


@pytest.mark.parametrize(("at", "seconds"), TIMES)
def test_a_time_is_read(at: object, seconds: float) -> None:
    assert times.epoch(at) == seconds


@given(st.text() | st.datetimes().map(str))
def test_any_text_has_an_age_or_none(at: str) -> None:
    assert times.ago(at, NOW).endswith(("ago", "just now", ""))
    assert isinstance(times.clock(at), str)


def test_an_age_is_told_in_words() -> None:
    assert times.ago("2026-02-13T15:26:40Z", NOW) == "1 h ago"
    assert times.ago("2026-02-13T16:26:41Z", NOW) == "just now"
    assert times.ago("", NOW) == ""


def test_a_time_is_shown_on_the_clock_of_the_machine() -> None:
    assert times.clock("2026-02-13T16:26:40Z") == local(NOW)
    assert times.clock("") == ""
