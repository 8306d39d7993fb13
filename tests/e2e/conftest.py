from __future__ import annotations

import os
import pwd
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from e2e.desk import Desk, make_project

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser

REAL_HOME = Path(pwd.getpwuid(os.getuid()).pw_dir)  # $HOME may already be a stand-in


def _traces() -> dict[Path, tuple[int, int] | None]:
    """What a client or sisyphus would leave in the real home: size and time of each file."""
    client, opencode = REAL_HOME / ".claude", REAL_HOME / ".config/opencode"
    ours = [client / ".boulder.json", *sorted((client / ".sisyphus").rglob("*"))]
    ours += sorted(opencode.glob("*/*"))
    found: dict[Path, tuple[int, int] | None] = {
        path: (path.lstat().st_size, path.lstat().st_mtime_ns) for path in ours if path.exists()
    }
    theirs = [client, REAL_HOME / ".claude.json", opencode, REAL_HOME / ".local/share/opencode"]
    return found | dict.fromkeys(path for path in theirs if path.exists())


@pytest.fixture(autouse=True)
def real_home_is_left_alone() -> Iterator[None]:
    before = _traces()
    yield
    assert _traces() == before, f"a test wrote to {REAL_HOME}"


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    home = tmp_path / "home"
    (home / "tmp").mkdir(parents=True)
    return Desk(home, make_project(tmp_path / "project"))


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """Chromium, one for all tests; each user that it is opened for has a context of its own."""
    from playwright.sync_api import sync_playwright

    from e2e.browser import launch

    with sync_playwright() as playwright:
        launched = launch(playwright.chromium, tmp_path_factory.mktemp("browser"))
        yield launched
        launched.close()
