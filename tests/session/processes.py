"""Processes for tests, real ones and those that a `ps` of ours tells of."""

from __future__ import annotations

import os
import subprocess
from contextlib import contextmanager
from typing import TYPE_CHECKING

from making import put

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import pytest


@contextmanager
def sleeping() -> Iterator[subprocess.Popen[bytes]]:
    """A process that lives until it is killed, at the latest at the end of the block."""
    process = subprocess.Popen(["sleep", "600"])
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def fake_ps(folder: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """Puts a `ps` that runs these lines of shell ahead of the real one."""
    put(folder / "bin" / "ps", f"#!/bin/sh\n{script}\n").chmod(0o700)
    monkeypatch.setenv("PATH", f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}")


def nobody_above(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever runs the tests may do so from a client's shell."""
    monkeypatch.setattr(os, "getppid", lambda: 0)
