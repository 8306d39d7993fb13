"""What became of processes that a test had started by others."""

from __future__ import annotations

import time
from pathlib import Path


def is_running(pid: int) -> bool:
    """Whether there is such a process, one that waits for its parent's question aside."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in "ZX"


def pids_in(folder: Path) -> list[int]:
    """The numbers that processes wrote, each into a file `NAME.pid`."""
    return [int(path.read_text()) for path in sorted(folder.glob("*.pid"))]


def wait_for(path: Path) -> str:
    """What a process writes into `path`, as soon as there is something."""
    while not (path.exists() and path.read_text()):
        time.sleep(0.01)
    return path.read_text()
