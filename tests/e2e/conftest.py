from __future__ import annotations

import os
import pwd
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.register_assert_rewrite("e2e.scenario", "e2e.desk")

from e2e import opencode_shared  # noqa: E402 (after the line above)
from e2e.desk import CLAUDE_CODE, Desk, make_project  # noqa: E402

REAL_HOME = Path(pwd.getpwuid(os.getuid()).pw_dir)


def _traces() -> dict[Path, tuple[int, int]]:
    """Returns size and time of every file that the clients or sisyphus could write in the real
    home."""
    client = REAL_HOME / ".claude"
    files = [client, REAL_HOME / ".claude.json", *(client / ".sisyphus").rglob("*")]
    files += [REAL_HOME / ".config" / "opencode", REAL_HOME / ".local" / "share" / "opencode"]
    files += [REAL_HOME / name for name in (".codex", ".qwen", ".copilot")]
    return {f: (f.lstat().st_size, f.lstat().st_mtime_ns) for f in files if f.exists()}


@pytest.fixture(autouse=True)
def real_home_is_left_alone() -> Iterator[None]:
    before = _traces()
    yield
    assert _traces() == before, f"a test wrote to {REAL_HOME}"


@pytest.fixture(scope="session", autouse=True)
def shared_client_ends() -> Iterator[None]:
    yield
    opencode_shared.end()


@pytest.fixture
def desk(tmp_path: Path, request: pytest.FixtureRequest) -> Desk:
    """A desk with Claude Code, or with the client that the test's parameter names."""
    home = tmp_path / "home"
    (home / "tmp").mkdir(parents=True)
    desk = Desk(home, make_project(tmp_path / "project"))
    return desk.with_client(getattr(request, "param", CLAUDE_CODE))
