from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sisyphus import times

if TYPE_CHECKING:
    from collections.abc import Iterator

DURATIONS = [
    (0, "0 s"), (-5, "0 s"), (45.4, "45 s"), (59.6, "1 min"), (60, "1 min"), (130, "2 min 10 s"),
    (3_600, "1 h"), (3_659, "1 h"), (4_320, "1 h 12 min"), (86_400, "1 d"), (100_000, "1 d 3 h"),
    (10**9, "11,574 d 1 h"),
]  # fmt: skip


@pytest.mark.parametrize(("seconds", "text"), DURATIONS)
def test_a_duration_has_its_two_largest_units(seconds: float, text: str) -> None:
    assert times.duration(seconds) == text


MOMENTS = [
    (0, "1970-01-01T00:00:00.000Z"), (1_795_186_800, "2026-11-20T15:00:00.000Z"),
    (1_795_186_800.5, "2026-11-20T15:00:00.500Z"), (1.9999, "1970-01-01T00:00:01.999Z"),
    (253_402_300_799, "9999-12-31T23:59:59.000Z"),
]  # fmt: skip


@pytest.mark.parametrize(("epoch", "text"), MOMENTS)
def test_a_moment_is_spelled_as_in_transcripts(epoch: float, text: str) -> None:
    assert times.iso(epoch) == text


@given(st.floats(0, 253_402_300_799), st.floats(0, 253_402_300_799))
def test_texts_of_moments_compare_as_the_moments_do(one: float, other: float) -> None:
    first, second = sorted((one, other))
    assert times.iso(first) <= times.iso(second)


@pytest.fixture
def _in_tokyo(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with monkeypatch.context() as patch:
        patch.setenv("TZ", "JST-9")
        time.tzset()
        yield
    time.tzset()


@pytest.mark.usefixtures("_in_tokyo")
def test_a_moment_is_told_by_the_clock_of_this_machine() -> None:
    assert times.local(1_795_186_800) == "2026-11-21 00:00"
    assert times.local(1_795_186_800.9, "%H:%M:%S") == "00:00:00"


@pytest.mark.parametrize("value", [None, "now", 0, -1, 1e300, float("nan"), float("inf"), []])
def test_what_is_no_moment_is_told_by_nothing(value: object) -> None:
    assert times.local(value) == ""


NOW = 1_771_000_000.0

TIMES = [
    pytest.param("2026-02-13T16:26:40Z", NOW, id="as we write it"),
    pytest.param("2026-02-13T16:26:40.250Z", NOW + 0.25, id="to the millisecond"),
    pytest.param("1970-01-01T00:00:00Z", 0.0, id="the beginning"),
    pytest.param("2028-02-29T00:00:00Z", 1_835_395_200.0, id="a leap day"),
    pytest.param("2100-03-01T00:00:00Z", 4_107_542_400.0, id="behind a day that was none"),
    pytest.param("2400-02-29T00:00:00Z", 13_574_563_200.0, id="a leap day every 400 years"),
    pytest.param("2026-13-13T16:26:40Z", 0.0, id="a month too many"),
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
    assert times.clock("2026-02-13T16:26:40Z") == times.local(NOW)
    assert times.clock("") == ""


ORDER = [
    pytest.param("2026-11-20T15:00:00.000Z", True, id="before"),
    pytest.param("2026-11-20T15:00:00Z", True, id="before, without milliseconds"),
    pytest.param("2026-11-20T15:00:01.000Z", False, id="at that moment"),
    pytest.param("2026-11-20T15:00:02.000Z", False, id="after"),
    pytest.param("", True, id="unknown"),
    pytest.param("9999", True, id="not understood"),
]


@pytest.mark.parametrize(("at", "is_before"), ORDER)
def test_times_compare_as_texts(at: str, is_before: bool) -> None:
    assert times.is_before(at, "2026-11-20T15:00:01.000Z") is is_before


@given(st.integers(0, 253_402_300_799_999))
def test_every_moment_is_spelled_and_read_back(milliseconds: int) -> None:
    text = times.iso(milliseconds / 1_000)
    assert times.iso(times.epoch(text) + 0.000_5) == text
