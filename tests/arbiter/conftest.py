from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from arbiter.desk import Desk

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def desk(home: Path, project: Path) -> Desk:
    return Desk(home, project)
