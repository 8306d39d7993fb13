from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from arbiter.desk import Desk

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def desk(home: Path, project: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    """Its circuit breaker is off: most sessions here only talk, however long."""
    monkeypatch.setenv("SISYPHUS_RALPH_NO_PROGRESS", "0")
    monkeypatch.setenv("SISYPHUS_RALPH_SAME_ERROR", "0")
    return Desk(home, project)
