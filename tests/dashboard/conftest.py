from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest
from starlette.testclient import TestClient

from sisyphus.dashboard.access import Access
from sisyphus.dashboard.app import build
from sisyphus.dashboard.desk import Desk

if TYPE_CHECKING:
    from pathlib import Path

TOKEN = "a-token-of-the-tests"  # noqa: S105
ADDRESS = "http://127.0.0.1:3847"


@pytest.fixture
def access() -> Access:
    return Access("127.0.0.1", 3847, TOKEN)


@pytest.fixture
def desk(home: Path) -> Desk:
    return Desk(str(home / ".claude"), time.time)


@pytest.fixture
def stranger(desk: Desk, access: Access) -> TestClient:
    """A browser that has not opened the printed address. Nothing is watched: what is on disk counts
    at every request."""
    app = build(desk, access, watches=False)
    return TestClient(app, base_url=ADDRESS, follow_redirects=False)


@pytest.fixture
def browser(stranger: TestClient, access: Access) -> TestClient:
    """One that has, with what it sends of itself."""
    stranger.cookies.set(access.cookie_name, access.cookie)
    stranger.headers["origin"] = ADDRESS
    return stranger


@pytest.fixture
def program(stranger: TestClient) -> TestClient:
    """No browser: it sends the token itself."""
    stranger.headers["authorization"] = f"Bearer {TOKEN}"
    return stranger
