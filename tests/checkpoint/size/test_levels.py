from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sisyphus.checkpoint.size.levels import FALL, Thresholds, name, step

USUAL = Thresholds()

WALKS = [
    pytest.param([10, 69.9], [], id="below all"),
    pytest.param([70], [1], id="at a level"),
    pytest.param([72, 73, 84.9], [1], id="a level is told once"),
    pytest.param([72, 87, 96], [1, 2, 3], id="each of them"),
    pytest.param([60, 96], [3], id="of three passed together the highest"),
    pytest.param([60, 87, 72], [2], id="no level below one that was told"),
    pytest.param([87, 84, 86, 81, 90], [2], id="usage that hovers around a level"),
    pytest.param([87, 80, 86], [2], id="a fall of five points to the dot is none"),
    pytest.param([87, 79.9, 86], [2, 2], id="a fall of more than that"),
    pytest.param([96, 86, 96], [3, 3], id="to the level below"),
    pytest.param([96, 3, 72, 87, 96], [3, 1, 2, 3], id="an empty context begins anew"),
    pytest.param([72, 66, 71], [1], id="a small fall below the lowest"),
    pytest.param([72, 64, 71], [1, 1], id="a large one"),
    pytest.param([250], [3], id="more than all"),
]


def _told(walk: list[float], thresholds: Thresholds = USUAL) -> list[int]:
    told, levels = 0, []
    for percent in walk:
        told, is_new = step(told, percent, thresholds)
        levels += [told] if is_new else []
    return levels


@pytest.mark.parametrize(("walk", "levels"), WALKS)
def test_a_level_is_told_when_it_is_reached(walk: list[float], levels: list[int]) -> None:
    assert _told(walk) == levels


percents = st.floats(0, 120, allow_nan=False)
settings = st.floats(1, 100)


@given(st.lists(percents, max_size=30), st.tuples(settings, settings, settings))
def test_no_level_is_told_twice_without_a_fall_below_it(
    walk: list[float], begins: tuple[float, float, float]
) -> None:
    thresholds = Thresholds(*sorted(begins))
    lows = dict(enumerate(sorted(begins), 1))
    told, lowest = 0, dict.fromkeys(lows, -100.0)  # since a level was told
    for percent in walk:
        for level in lowest:
            lowest[level] = min(lowest[level], percent)
        told, is_new = step(told, percent, thresholds)
        assert told <= thresholds.level(percent + FALL)
        if is_new:
            assert told == thresholds.level(percent)
            assert lowest[told] + FALL < lows[told]
            lowest[told] = percent


@given(percents, st.integers(0, 3))
def test_what_was_told_is_the_level_or_one_that_is_near(percent: float, told: int) -> None:
    after, _ = step(told, percent, USUAL)
    assert USUAL.level(percent) <= after <= USUAL.level(percent + FALL)


WITHIN = [
    pytest.param(100, (70, 85, 95), id="a client that uses all"),
    pytest.param(96.7, (70, 85, 95), id="a late compaction moves nothing"),
    pytest.param(95, (70, 85, 94), id="it moves the last level"),
    pytest.param(90, (70, 81, 89), id="and the handing over"),
    pytest.param(83.5, (67.635, 75.15, 82.5), id="and the warning before that"),
    pytest.param(49, (39.69, 44.1, 48), id="an early one"),
    pytest.param(10, (8.1, 9, 9.5), id="a very early one"),
]


@pytest.mark.parametrize(("usable", "expected"), WITHIN)
def test_work_is_handed_over_before_the_client_compacts(
    usable: float, expected: tuple[float, float, float]
) -> None:
    found = USUAL.within(usable)
    assert (found.l1, found.l2, found.l3) == pytest.approx(expected)
    assert found.l1 < found.l2 < found.l3 < usable


ORDERS = [
    pytest.param((70, 85, 95), (70, 85, 95), id="in order"),
    pytest.param((90, 85, 95), (85, 85, 95), id="a warning that is late"),
    pytest.param((70, 99, 95), (70, 95, 95), id="a handing over that is late"),
    pytest.param((90, 80, 60), (60, 60, 60), id="the wrong way round"),
    pytest.param((0, -5, 400), (1, 1, 100), id="no percentages"),
]


@pytest.mark.parametrize(("given_", "expected"), ORDERS)
def test_no_level_lies_behind_a_higher_one(
    given_: tuple[float, float, float], expected: tuple[float, float, float]
) -> None:
    found = Thresholds(*given_)
    assert (found.l1, found.l2, found.l3) == expected


@given(st.tuples(percents, percents, percents), st.floats(2, 100))
def test_the_levels_stay_in_order_before_whatever_end(
    begins: tuple[float, float, float], usable: float
) -> None:
    found = Thresholds(*begins).within(usable)
    assert 1 <= found.l1 <= found.l2 <= found.l3 < usable


def test_levels_have_names() -> None:
    assert [name(level) for level in range(4)] == ["L0", "L1", "L2", "L3"]
