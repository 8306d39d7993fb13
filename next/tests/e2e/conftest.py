from __future__ import annotations

import os
import pwd
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.register_assert_rewrite("e2e.scenario", "e2e.desk")

from e2e.desk import Desk, make_project  # noqa: E402 (after the line above)

REAL_HOME = Path(pwd.getpwuid(os.getuid()).pw_dir)


def _traces() -> dict[Path, tuple[int, int]]:
    """Returns size and time of every file that the client or sisyphus could write in the real
    home."""
    client = REAL_HOME / ".claude"
    files = [client, REAL_HOME / ".claude.json", *(client / ".sisyphus").rglob("*")]
    return {f: (f.lstat().st_size, f.lstat().st_mtime_ns) for f in files if f.exists()}


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
