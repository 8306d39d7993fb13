from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

NOBODY = 65_534


@pytest.fixture(autouse=True)
def _usual_places(monkeypatch: pytest.MonkeyPatch) -> None:
    """The client's folder is the one below the home of this test."""
    for name in ("OPENCODE_CONFIG_DIR", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def not_root(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of a user who may not write everywhere, with that user's home in it; root is that
    user for a while."""
    folder, euid = Path(tempfile.mkdtemp()), os.geteuid()
    monkeypatch.setenv("HOME", str(folder / "home"))
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(folder / "claude"))
    if euid == 0:
        os.chown(folder, NOBODY, NOBODY)
        os.seteuid(NOBODY)
    try:
        yield folder
    finally:
        os.seteuid(euid)
        _make_removable(folder)
        shutil.rmtree(folder)


def _make_removable(folder: Path) -> None:
    for above, names, _ in os.walk(folder):
        for name in names:
            if not (path := Path(above, name)).is_symlink():
                path.chmod(0o700)
