from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from sisyphus.boulder.sections import folds


def test_what_is_finished_or_far_away_is_folded() -> None:
    done = [True] * 5 + [False] * 10
    assert folds(done, 6, 4) == [(0, 5), (5, 6), (6, 7), (7, 8), (8, 9), (9, 15)]


@given(st.lists(st.booleans()), st.integers(-1, 40), st.integers(1, 8))
def test_every_item_is_in_one_range_and_the_current_one_in_its_own(
    done: list[bool], current: int, room: int
) -> None:
    ranges = folds(done, current, room)
    assert [n for start, end in ranges for n in range(start, end)] == list(range(len(done)))
    if 0 <= current < len(done):
        assert (current, current + 1) in ranges
