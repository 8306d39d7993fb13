from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from enforce.pure import SECOND, limits_of
from sisyphus.enforce.limits import Limits

if TYPE_CHECKING:
    from sisyphus._types import Json

COOLDOWNS = [
    pytest.param({}, [30, 60, 120, 240, 480], id="as the design has it"),
    pytest.param({"backoff": 1}, [30, 30, 30, 30, 30], id="always the same"),
    pytest.param({"backoff": 0.5}, [30, 30, 30, 30, 30], id="never shorter"),
    pytest.param({"backoff": 1.5, "cooldown_seconds": 2}, [2, 3, 4.5, 6.75, 10.125], id="slower"),
    pytest.param({"cooldown_seconds": 0.25}, [0.25, 0.5, 1, 2, 4], id="parts of a second"),
    pytest.param({"cooldown_seconds": -5}, [0, 0, 0, 0, 0], id="below zero"),
]


@pytest.mark.parametrize(("settings", "seconds"), COOLDOWNS)
def test_the_cooldown_grows_with_each_failure(settings: Json, seconds: list[float]) -> None:
    limits = limits_of(**settings)

    assert [limits.cooldown_of(n) / SECOND for n in range(5)] == seconds


@given(
    st.floats(0, 2**63, exclude_max=True) | st.integers(0, 2**63 - 1),
    st.floats(0, 2**63, exclude_max=True) | st.integers(0, 2**63 - 1),
)
def test_whatever_the_settings_a_cooldown_is_a_moment_of_a_year(
    cooldown: float, backoff: float
) -> None:
    limits = limits_of(cooldown_seconds=cooldown, backoff=backoff, idle_seconds=cooldown)
    found = [limits.cooldown_of(n) for n in (0, 1, 5, 99, 10**9)]

    assert found == sorted(found)
    assert all(0 <= one <= 366 * 86_400 * SECOND for one in (*found, limits.idle))


def test_a_number_below_zero_is_no_way_to_have_no_limit() -> None:
    limits = Limits(lambda _: -1)
    assert (limits.max_failures, limits.max_iterations) == (5, 50)
    assert (limits.idle, limits.cooldown, limits.recovery, limits.backoff) == (0, 0, 0, 1)
