from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sisyphus.checkpoint.outlook.complexity import MEDIUM
from sisyphus.checkpoint.outlook.forecast import backtest, forecast, mean_error, order, usual

if TYPE_CHECKING:
    from sisyphus._types import Json

    Points = list[tuple[int, int]]

SERIES = sorted((Path(__file__).parents[2] / "data" / "growth").glob("*.json"))

STEADY = [(calls, 20_000 + 1_000 * calls) for calls in range(10)]


def test_a_steady_growth_goes_on() -> None:
    found = forecast(STEADY, 49_000)
    assert (found.calls_left, found.growth, found.spread, found.why) == (20, 1_000, (20, 20), "")


UNKNOWN = [
    pytest.param([], "0 answers so far; 3 are needed", id="nothing"),
    pytest.param(STEADY[:1], "1 answer so far; 3 are needed", id="one"),
    pytest.param(STEADY[:2], "2 answers so far; 3 are needed", id="two"),
    pytest.param([(3, 1_000)] * 5, "5 answers so far; 3 are needed", id="no call between them"),
    pytest.param([(n, 5_000) for n in range(5)], "the context does not grow", id="no growth"),
    pytest.param(
        [*STEADY, (10, 3_000), (11, 4_000)],
        "2 answers so far; 3 are needed",
        id="behind a compaction",
    ),
]


@pytest.mark.parametrize(("points", "why"), UNKNOWN)
def test_it_says_that_it_does_not_know(points: Points, why: str) -> None:
    found = forecast(points, 100_000)
    assert (found.calls_left, found.spread, found.why) == (None, None, why)


def test_without_a_limit_nothing_is_known() -> None:
    assert forecast(STEADY, 0).why == "how much the context holds is not known"


def test_what_is_reached_is_reached() -> None:
    found = forecast(STEADY, 29_000)
    assert (found.calls_left, found.why) == (0, "it is reached")


def test_one_huge_result_is_not_taken_for_the_rule() -> None:
    points = [(n, 1_000 * n + (50_000 if n > 20 else 0)) for n in range(30)]
    assert 900 <= forecast(points, 170_000).growth <= 3_600


def test_results_in_the_same_answer_count_each() -> None:
    points = [(3 * n, 20_000 + 3_000 * n) for n in range(5)]
    assert forecast(points, 42_000).calls_left == 10


def test_answers_without_a_call_do_no_harm() -> None:
    points = [(0, 20_000), (0, 20_100), (1, 21_000), (1, 21_100), (2, 22_000)]
    assert forecast(points, 32_000).calls_left == 10


def test_what_was_long_ago_is_forgotten() -> None:
    long_ago = [(n, 9_000 * n) for n in range(11)]
    points = [*long_ago, *((10 + n, 90_000 + 100 * n) for n in range(1, 40))]
    assert forecast(points, 95_000).growth == 100


def test_a_small_fall_is_no_compaction() -> None:
    points = [*STEADY[:5], (5, 23_500), *STEADY[6:]]
    assert forecast(points, 49_000).calls_left == 20


HISTORY: list[Json] = [
    {"iteration": 1, "peak_percent": 45, "checkpoint": False},
    {"iteration": 2, "peak_percent": 62, "checkpoint": False},
    {"iteration": 3, "peak_percent": 88, "checkpoint": True},
    {"iteration": 4, "peak_percent": 56, "checkpoint": False},
    {"iteration": 5, "peak_percent": 87, "checkpoint": True},
]

USUAL = [
    pytest.param(HISTORY, (62, 0.4, 5), id="five iterations"),
    pytest.param(HISTORY[:2], (None, 0.0, 2), id="two are too few"),
    pytest.param([], (None, 0.0, 0), id="none"),
    pytest.param(
        [*HISTORY, {"peak_percent": "x"}, {}, {"peak_percent": -1}], (62, 0.4, 5), id="odd rows"
    ),
]


@pytest.mark.parametrize(("history", "expected"), USUAL)
def test_what_iterations_are_like(
    history: list[Json], expected: tuple[int | None, float, int]
) -> None:
    found = usual(history)
    assert (found.peak, found.checkpoints, found.iterations) == expected


ORDERS = [
    pytest.param([], 50, [], id="nothing"),
    pytest.param(["a (medium)", "b (trivial)"], 50, [0, 1], id="the first fits and stays first"),
    pytest.param(["a (complex)", "b", "c (simple)"], 30, [1, 2, 0], id="what fits comes before"),
    pytest.param(["a (complex)", "b (complex)"], 30, [0, 1], id="nothing fits"),
    pytest.param(["a (very complex)", "b"], 100, [1, 0], id="one that must be split"),
    pytest.param(["1. a (complex)", "2. b (trivial)"], 30, [0, 1], id="numbers"),
    pytest.param(["Step 1: a (complex)", "step 2: b"], 30, [0, 1], id="steps"),
    pytest.param(
        ["a (complex)", "b after: a", "c (complex)", "d"],
        30,
        [0, 1, 3, 2],
        id="nothing is moved past one that waits for another",
    ),
    pytest.param(["a (complex)", "b, needs a"], 30, [0, 1], id="needs"),
    pytest.param(["a (complex)", "b depends on a"], 30, [0, 1], id="depends on"),
    pytest.param(["a (complex)", "use the needle"], 30, [1, 0], id="no whole word"),
]


@pytest.mark.parametrize(("items", "left", "expected"), ORDERS)
def test_the_order_suits_what_is_left(items: list[str], left: float, expected: list[int]) -> None:
    assert order(items, left) == expected


def test_the_order_goes_by_what_items_took() -> None:
    assert order(["a", "b (simple)"], 20, [(MEDIUM, 10.0)] * 3) == [0, 1]
    assert order(["a", "b (simple)"], 20) == [1, 0]


@given(st.lists(st.text()), st.floats(0, 100))
def test_no_item_is_lost(items: list[str], left: float) -> None:
    assert sorted(order(items, left)) == list(range(len(items)))


def test_a_forecast_is_held_against_what_came() -> None:
    points = [(calls, 20_000 + 1_000 * calls) for calls in range(21)]
    pairs = backtest(points, 40_000)
    assert pairs[0] == (18.0, 18.0)
    assert len(pairs) == 18
    assert mean_error(pairs) == 0


def test_what_never_came_is_left_out() -> None:
    points = [*STEADY, (10, 5_000), *((10 + n, 5_000 + 1_000 * n) for n in range(1, 30))]
    assert len(backtest(points, 32_000)) == 25
    assert backtest(STEADY, 100_000) == []
    assert mean_error([]) is None


def test_the_error_is_that_of_all_together() -> None:
    assert mean_error([(30, 20), (10, 20)]) == 50


ERRORS = {
    "bursty": 247, "compacted": 53, "editing": 25, "large-window": 19, "reading": 34, "turning": 40,
}  # fmt: skip
"""Percent, as docs/checkpoints.md tells them."""


@pytest.mark.parametrize("path", SERIES, ids=lambda path: path.stem)
def test_its_error_is_known(path: Path) -> None:
    series = json.loads(path.read_text())
    points = [(calls, tokens) for calls, tokens in series["points"]]
    error = mean_error(backtest(points, series["limit"]))
    assert error is not None
    print(f"{path.stem}: {len(points)} answers, mean error {error:.0f} %")  # noqa: T201
    assert round(error) == ERRORS[path.stem]


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(1, 1_000_000))), st.integers(1, 10**6))
def test_odd_points_do_no_harm(points: Points, limit: int) -> None:
    found = forecast(points, limit)
    if found.calls_left is None:
        assert found.why
    elif found.spread:
        assert 0 <= found.spread[0] <= found.calls_left <= found.spread[1]
