from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sisyphus.dashboard.charts.bars import Bars, Kind

GOOD, BAD = Kind("good", "went well"), Kind("bad", "did not")
KINDS = (GOOD, BAD)

COUNTS = st.dictionaries(st.sampled_from(["good", "bad"]), st.integers(0, 10**9))


def test_a_bar_is_made_of_its_kinds_from_the_bottom_up() -> None:
    [bar] = Bars([("Monday", {"bad": 1, "good": 3})], KINDS).bars
    assert [(part.kind, part.text) for part in bar.parts] == [
        ("good", "3 went well"), ("bad", "1 did not"),
    ]  # fmt: skip
    good, bad = bar.parts
    assert good.y + good.height == Bars.bottom
    assert bad.y + bad.height == pytest.approx(good.y)
    assert good.height == pytest.approx(3 * bad.height, abs=0.2)


def test_nothing_to_show_is_a_chart_too() -> None:
    chart = Bars([], KINDS)
    assert (chart.bars, chart.kinds, chart.summary) == ([], [], "0 in 0 bars")
    assert [tick.text for tick in chart.y_ticks] == ["0", "1"]


def test_a_day_without_anything_has_its_place() -> None:
    chart = Bars([("Monday", {}), ("Tuesday", {"good": 1})], KINDS)
    assert [len(bar.parts) for bar in chart.bars] == [0, 1]


def test_a_legend_tells_the_kinds_that_are_there() -> None:
    assert Bars([("a", {"good": 1})], KINDS).kinds == [GOOD]
    assert Bars([("a", {"good": 0, "bad": 1})], KINDS).kinds == [BAD]
    assert Bars([("a", {"good": 1}), ("b", {"bad": 1})], KINDS).kinds == [GOOD, BAD]


def test_many_bars_have_some_names_the_last_of_them_too() -> None:
    bars = Bars([(f"{n}", {"good": 1}) for n in range(14)], KINDS).bars
    named = [bar.text for bar in bars if bar.shows]
    assert named == ["1", "3", "5", "7", "9", "11", "13"]


@given(st.lists(COUNTS, max_size=40))
def test_every_bar_lies_in_the_drawing(rows: list[dict[str, float]]) -> None:
    chart = Bars([("", counts) for counts in rows], KINDS)
    for bar in chart.bars:
        assert Bars.left <= bar.x
        assert bar.x + bar.width <= Bars.right + 0.2
        for part in bar.parts:
            assert part.height >= 0
            assert 13.9 <= part.y <= part.y + part.height <= Bars.bottom + 0.1


@given(st.lists(COUNTS, min_size=2, max_size=40))
def test_bars_stand_side_by_side(rows: list[dict[str, float]]) -> None:
    bars = Bars([("", counts) for counts in rows], KINDS).bars
    assert all(one.x + one.width < other.x for one, other in pairwise(bars))
