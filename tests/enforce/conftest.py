from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from enforce.desk import Desk

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def desk(home: Path, project: Path) -> Desk:
    """A session "s1" that has just begun in a project that is enforced."""
    found = Desk(home, project)
    found.on()
    found.says()
    return found
