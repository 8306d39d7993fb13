"""How long a test waits for what another process does."""

from __future__ import annotations

import time
from collections.abc import Callable

PATIENCE = 50.0
"""Seconds. Only a test that fails waits so long: what takes a second where nothing else runs took
twenty on a busy machine. What must be ended sleeps for longer."""


def wait_for(
    is_so: Callable[[], object], what: str = "it did not come", seconds: float = PATIENCE
) -> None:
    """what: what the failure says."""
    deadline = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < deadline, what
        time.sleep(0.02)
