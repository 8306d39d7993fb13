from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from boulder.scene import Scene

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def scene(home: Path, project: Path) -> Scene:
    """A project without a plan."""
    return Scene(home, project)


@pytest.fixture
def other(tmp_path: Path) -> Path:
    """Another project."""
    folder = tmp_path / "other"
    (folder / ".git").mkdir(parents=True)
    return folder
