from __future__ import annotations

from sisyphus.dashboard.charts.lines import Chart

POINTS = [(1_795_200_000.0 + 60 * n, 10.0 * n) for n in range(10)]


def _lefts(*levels: tuple[float, str]) -> list[float]:
    return [level.left for level in Chart([POINTS], levels=levels, high=100).levels]


def test_names_of_levels_begin_where_the_drawing_does() -> None:
    assert len(set(_lefts((70, "L1"), (85, "L2"), (95, "L3")))) == 1


def test_a_name_that_would_cover_the_one_below_stands_beside_it() -> None:
    first, second, third, far = _lefts((40, "L1 40 %"), (44, "L2 44 %"), (48, "L3"), (90, "L4"))
    assert first < second < third
    assert far == first


def test_levels_are_drawn_from_the_lowest_up() -> None:
    found = Chart([POINTS], levels=[(95, "L3"), (70, "L1")], high=100).levels
    assert [level.text for level in found] == ["L1", "L3"]
