from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from runner.runs import a_scene

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from runner.runs import Scene


@pytest.fixture
def scene(project: Path, tmp_path: Path) -> Iterator[Scene]:
    yield from a_scene(project, tmp_path)
