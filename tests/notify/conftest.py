from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from sisyphus.notify import send

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(autouse=True)
def _no_leftovers() -> Iterator[None]:
    """What a test started has ended before its folders go."""
    yield
    for process in send._started:  # noqa: SLF001
        process.wait()
    send._started.clear()  # noqa: SLF001
