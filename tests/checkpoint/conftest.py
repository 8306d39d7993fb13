from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from session.processes import nobody_above, sleeping

from checkpoint.desk import Desk

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def client(monkeypatch: pytest.MonkeyPatch) -> Iterator[subprocess.Popen[bytes]]:
    """The client process that all hooks belong to."""
    nobody_above(monkeypatch)
    with sleeping() as process:
        monkeypatch.setenv("CLAUDE_PID", str(process.pid))
        yield process


@pytest.fixture
def desk(home: Path, project: Path, client: subprocess.Popen[bytes]) -> Desk:
    """Nothing holds its session."""
    assert client.pid
    return Desk(home, project)
