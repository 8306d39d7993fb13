"""Files that hold what nobody of ours writes make no page and no answer fail."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from dashboard.api import odd
from sisyphus.dashboard.pages.show import PLACES

if TYPE_CHECKING:
    from pathlib import Path

    from starlette.testclient import TestClient

LOOPS = (odd.ACTIVE, odd.ENDED, odd.LOST, "l3", "l5")


@pytest.fixture(autouse=True)
def _odd_home(home: Path) -> None:
    odd.fill(home / ".claude")


@pytest.mark.parametrize(
    "path",
    [
        *(place.path for place in PLACES),
        "/loops?state=all", "/loops?state=all&sort=longest", "/loops?state=all&sort=iterations",
        "/loops?state=all&sort=project", "/loops?state=all&view=cards&page=2", "/context/s1",
        "/journal?session=s1&quiet=1", "/api/overview", "/api/sessions?limit=500",
        "/api/sessions?limit=500&page=2", "/api/boulders", "/api/journal?quiet=1", "/metrics",
    ],
)  # fmt: skip
def test_a_page_is_drawn(browser: TestClient, path: str) -> None:
    assert browser.get(path).status_code == 200


@pytest.mark.parametrize("loop_id", LOOPS)
def test_a_loop_is_shown(browser: TestClient, loop_id: str) -> None:
    for path in ("/loops/{}", "/api/sessions/{}", "/api/transcript/{}/iterations"):
        assert browser.get(path.format(loop_id)).status_code == 200


def test_every_plan_is_shown(browser: TestClient) -> None:
    found = browser.get("/api/boulders").json()
    rows = [*found["boulders"], *found["ended"]]
    assert rows
    for row in rows:
        for path in ("/boulders/{}", "/api/boulders/{}"):
            assert browser.get(path.format(row["id"])).status_code == 200
