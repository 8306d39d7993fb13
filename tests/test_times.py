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
