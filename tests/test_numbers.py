from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sisyphus import numbers

COUNTS = [
    (0, 0), (7, 7), (10**15 - 1, 10**15 - 1), (10**15, None), (10**400, None), (-1, None),
    (True, None), (1.0, None), ("7", None), (None, None),
]  # fmt: skip


@pytest.mark.parametrize(("value", "count"), COUNTS)
def test_a_count_is_what_somebody_could_have_counted(value: object, count: int | None) -> None:
    assert numbers.count(value) == count


PERCENTS = [
    (0.5, 0.5), (100, 100.0), (1_000, 1_000.0), (1_000.1, None), (10**400, None), (0, None),
    (-3, None), (True, None), (float("nan"), None), (float("inf"), None), ("40", None),
]  # fmt: skip


@pytest.mark.parametrize(("value", "percent"), PERCENTS)
def test_a_percent_is_what_somebody_could_have_measured(
    value: object, percent: float | None
) -> None:
    assert numbers.percent(value) == percent


@given(st.recursive(st.none() | st.booleans() | st.floats() | st.integers() | st.text(), st.lists))
def test_whatever_a_file_holds_is_a_figure_or_none(value: object) -> None:
    for found in (numbers.count(value), numbers.percent(value)):
        assert found is None or json.loads(json.dumps(found)) == value
