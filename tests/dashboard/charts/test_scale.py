from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sisyphus.dashboard.charts import scale as sc

VALUES = st.floats(0, 1e15)


@given(VALUES, VALUES, VALUES)
def test_every_value_lies_in_the_drawing(low: float, high: float, value: float) -> None:
    scale = sc.Scale(min(low, high), max(low, high), 48, 708)
    assert 48 <= scale(value) <= 708


@given(VALUES, VALUES, VALUES)
def test_what_is_more_does_not_lie_lower(high: float, one: float, other: float) -> None:
    scale = sc.upwards(high)
    assert (scale(one) >= scale(other)) == (one <= other) or scale(one) == scale(other)


def test_the_ends_of_a_scale_are_the_ends_of_the_drawing() -> None:
    scale = sc.upwards(10)
    assert (scale(0), scale(10)) == (sc.HEIGHT - sc.BOTTOM, sc.TOP)
    scale = sc.onwards([5, 3, 4])
    assert (scale(3), scale(5)) == (sc.LEFT, sc.WIDTH - sc.RIGHT)


@pytest.mark.parametrize("values", [pytest.param([], id="none"), pytest.param([7.0], id="one")])
def test_few_values_have_a_scale_too(values: list[float]) -> None:
    assert sc.onwards(values)(7) >= sc.LEFT


@pytest.mark.parametrize(
    ("high", "steps"),
    [
        pytest.param(0, [0, 1], id="nothing"),
        pytest.param(-3, [0, 1], id="less than nothing"),
        pytest.param(1, [0, 1], id="one"),
        pytest.param(3, [0, 1, 2, 3], id="few"),
        pytest.param(7, [0, 2, 4, 6, 8], id="some"),
        pytest.param(100, [0, 20, 40, 60, 80, 100], id="percents"),
        pytest.param(101, [0, 50, 100, 150], id="a little above"),
        pytest.param(0.05, [0, 0.01, 0.02, 0.03, 0.04, 0.05], id="a small part"),
        pytest.param(200_000, [0, 50_000, 100_000, 150_000, 200_000], id="thousands"),
    ],
)
def test_an_axis_has_round_steps(high: float, steps: list[float]) -> None:
    assert sc.round_steps(high) == steps


@given(st.floats(1e-5, 1e15))
def test_the_steps_reach_what_is_shown_and_are_few(high: float) -> None:
    steps = sc.round_steps(high)
    assert (steps[0], steps == sorted(set(steps))) == (0, True)
    assert steps[-1] >= high or steps[-1] == pytest.approx(high)
    assert 2 <= len(steps) <= 6


@given(st.integers(1, 10**12))
def test_a_step_more_would_be_too_much(high: int) -> None:
    steps = sc.round_steps(high)
    assert steps[-2] < high


def test_values_have_names() -> None:
    scale = sc.upwards(2000)
    assert sc.named([0, 2000], scale) == [sc.Tick(212, "0"), sc.Tick(14, "2,000")]


def test_times_along_an_axis_stay_inside() -> None:
    ticks = sc.moments(sc.onwards([1_000_000, 1_003_600]))
    assert [tick.anchor for tick in ticks] == ["start", "middle", "middle", "middle", "end"]
    assert (ticks[0].at, ticks[-1].at) == (sc.LEFT, sc.WIDTH - sc.RIGHT)
    assert all(len(tick.text) == len("12:00") for tick in ticks)


def test_over_days_they_have_the_day() -> None:
    ticks = sc.moments(sc.onwards([1_000_000, 1_300_000]))
    assert all(len(tick.text) == len("01-12 12:00") for tick in ticks)
