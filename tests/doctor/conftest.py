from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from doctor.scene import Scene

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def scene(home: Path, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Scene:
    """Everything there, nothing wired yet."""
    for name in ("OPENCODE_CONFIG_DIR", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    return Scene(home, project, tmp_path)
