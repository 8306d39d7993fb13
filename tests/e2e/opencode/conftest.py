from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from e2e.opencode.lab import Lab, make_lab
from e2e.opencode.wired import wire

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

TAIL = 6000  # characters of a log; its end tells what went wrong


@pytest.fixture
def bare_lab(tmp_path: Path) -> Lab:
    """The client alone."""
    return make_lab(tmp_path)


@pytest.fixture
def lab(bare_lab: Lab) -> Lab:
    """With sisyphus, as its own command installs it."""
    wire(bare_lab)
    return bare_lab


def _gist(path: Path) -> str:
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    return "\n".join(line for line in lines if " level=INFO " not in line)[-TAIL:]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Shows the logs of the client, the model and sisyphus where a test failed."""
    report = yield
    folder = getattr(item, "funcargs", {}).get("tmp_path")
    if report.failed and folder:
        for path in sorted((folder / "home").rglob("*.log")):
            report.sections.append((str(path.relative_to(folder)), _gist(path)))
    return report
