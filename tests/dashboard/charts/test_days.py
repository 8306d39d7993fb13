from __future__ import annotations

import time
from datetime import datetime
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sisyphus.dashboard.charts.days import DAYS, by_day, since

if TYPE_CHECKING:
    from collections.abc import Iterator

HOUR = 3_600


@pytest.fixture
def _in_berlin(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with monkeypatch.context() as patch:
        patch.setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3")
        time.tzset()
        yield
    time.tzset()


def _at(moment: str) -> float:
    return datetime.fromisoformat(moment).timestamp()


@pytest.mark.usefixtures("_in_berlin")
@pytest.mark.parametrize(
    "now",
    [
        pytest.param("2026-03-30T00:30", id="after the night that was short"),
        pytest.param("2026-03-29T23:59", id="at the end of the short day"),
        pytest.param("2026-10-25T23:30", id="at the end of the long day"),
        pytest.param("2026-10-26T00:30", id="after the night that was long"),
        pytest.param("2026-01-01T12:00", id="at the beginning of a year"),
    ],
)
def test_each_day_of_the_calendar_is_there_once(now: str) -> None:
    """Each hour of the fortnight lies on its day."""
    end = _at(now)
    hours = range(int(since(end)), int(end) + 1, HOUR)
    days = by_day(((at, "good") for at in hours), end)
    names = [name for name, _ in days]
    assert (len(names), len(set(names)), names[-1]) == (DAYS, DAYS, now[5:10])
    assert sum(counts["good"] for _, counts in days) == len(hours)
    short, long = {"03-29": 23}, {"10-25": 25}
    for name, counts in days[:-1]:
        assert counts["good"] == {**short, **long}.get(name, 24)


@given(st.floats(1e9, 4e9))
def test_there_is_always_a_fortnight(now: float) -> None:
    assert len({name for name, _ in by_day([], now)}) == DAYS


@pytest.mark.usefixtures("_in_berlin")
def test_what_is_not_of_these_days_counts_on_none() -> None:
    now = _at("2026-03-30T12:00")
    strange = [since(now) - 1, now + 1, now + 364 * 24 * HOUR, 0, -1, 1e300, float("nan")]
    assert not any(counts for _, counts in by_day([(at, "bad") for at in strange], now))
    assert by_day([(since(now), "bad")], now)[0] == ("03-17", {"bad": 1})
