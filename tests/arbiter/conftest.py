from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from making import configure

from arbiter.desk import Desk

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def desk(home: Path, project: Path) -> Desk:
    """Its circuit breaker is off: most sessions here only talk, however long."""
    configure("ralph.no_progress", 0)
    configure("ralph.same_error", 0)
    return Desk(home, project)
