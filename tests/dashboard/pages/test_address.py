from __future__ import annotations

import pytest

from sisyphus.dashboard.pages.address import Address

HERE = Address("/loops/a b", {"q": "x&y", "page": 3, "quiet": 0, "state": ""})


@pytest.mark.parametrize(
    ("changes", "address"),
    [
        pytest.param({}, "/loops/a%20b?q=x%26y&page=3", id="what is chosen"),
        pytest.param({"page": 4}, "/loops/a%20b?q=x%26y&page=4", id="something else"),
        pytest.param({"page": 0, "q": ""}, "/loops/a%20b", id="nothing"),
        pytest.param({"sort": "oldest", "page": 0}, "/loops/a%20b?q=x%26y&sort=oldest", id="more"),
    ],
)
def test_an_address_has_what_is_chosen(changes: dict[str, object], address: str) -> None:
    assert HERE(**changes) == address
