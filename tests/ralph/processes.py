"""What became of processes that a test had started by others."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from making import HANG_SECONDS

if TYPE_CHECKING:
    from collections.abc import Callable

Ending = TypeVar("Ending")

TIMES = (0.3, 3.0, 30.0)
"""Seconds until a command is ended. On a busy machine it may not even have begun by then."""


def ended_after_it_began(
    run: Callable[[float, Path], Ending], folder: Path, has_begun: Callable[[Ending, Path], object]
) -> tuple[Ending, Path]:
    """`run` with the first of `TIMES` that lets its command begin, each in a folder of its own."""
    tried = (_ended_after(seconds, run, folder) for seconds in TIMES)
    return next(found for found in tried if has_begun(*found))


def _ended_after(
    seconds: float, run: Callable[[float, Path], Ending], folder: Path
) -> tuple[Ending, Path]:
    place = folder / f"{seconds:g}"
    place.mkdir()
    return run(seconds, place), place


def is_running(pid: int) -> bool:
    """Whether there is such a process, one that waits for its parent's question aside."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in "ZX"


def have_ended(*pids: int) -> bool:
    """A signal takes a moment. Who is told to end, and does not, is seen by the time that is up."""
    end = time.monotonic() + HANG_SECONDS
    while any(map(is_running, pids)) and time.monotonic() < end:
        time.sleep(0.01)
    return not any(map(is_running, pids))


def pids_in(folder: Path) -> list[int]:
    """The numbers that processes wrote, each into a file `NAME.pid`."""
    found = [path.read_text() for path in sorted(folder.glob("*.pid"))]
    return [int(text) for text in found if text]


def wait_for(path: Path) -> str:
    """What a process writes into `path`, as soon as there is something."""
    while not (path.exists() and path.read_text()):
        time.sleep(0.01)
    return path.read_text()
