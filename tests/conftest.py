"""No test may see or touch the real home: every one gets its own."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from pathlib import Path

# No test is timed: a busy machine is no failure.
settings.register_profile("sisyphus", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("sisyphus")


@pytest.fixture(autouse=True)
def home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The home folder of this test, empty; the client's folder is `.claude` in it."""
    folder = tmp_path_factory.mktemp("home")
    for name in [n for n in os.environ if n.startswith(("SISYPHUS_", "CLAUDE"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(folder / ".claude"))
    return folder


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """An empty project: a folder with a git marker."""
    folder = tmp_path / "project"
    (folder / ".git").mkdir(parents=True)
    return folder
