from __future__ import annotations

import pytest

from sisyphus.ralph.tree.bounds import Budget, TooMuchError


def test_a_budget_is_of_entries() -> None:
    budget = Budget(60, 2)
    budget.spend()
    budget.spend()
    with pytest.raises(TooMuchError, match=r"^there are more than 2 files$"):
        budget.spend()


def test_and_of_time() -> None:
    budget = Budget(0, 10)
    with pytest.raises(TooMuchError, match=r"^it took longer than 0 s$"):
        budget.spend()
    with pytest.raises(TooMuchError, match=r"^it took longer than 0 s$"):
        budget.check()
