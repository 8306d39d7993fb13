"""No test may see or touch the real home: every one gets its own."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings
from making import HANG_SECONDS
from world import World

from sisyphus.notify import send

if TYPE_CHECKING:
    from collections.abc import Iterator

# No test is timed: a busy machine is no failure.
settings.register_profile("sisyphus", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("everyday", settings.get_profile("sisyphus"), max_examples=40)


def pytest_configure(config: pytest.Config) -> None:
    """`make test` tries fewer examples of each property than `make cover` and `make test-all`."""
    is_everyday = config.option.markexpr == "not slow"
    settings.load_profile("everyday" if is_everyday else "sisyphus")


_OF_THE_TERMINAL = ("COLUMNS", "LINES")
"""Readline sets them in whoever starts the workers of `pytest -n`."""

_HERE = Path(__file__).parent
_UNMEASURED = (
    "arbiter", "boulder", "checkpoint", "context", "demo", "integration", "ralph", "rules",
    "session", "slow", "test_doc_blocks.py", "test_doc_json.py", "test_docs.py", "test_pictures.py",
    "test_start_up.py",
)  # fmt: skip
"""Where coverage is not started in the processes that a test starts. It would make one live seven
times as long, and what such a process of these tests runs is run by others as well."""


SLOW = (
    "cli/test_install.py", "cli/test_ralph_run.py", "cli/test_redraw.py",
    "dashboard/api/test_schema.py", "dashboard/test_serve.py", "install/test_actions.py",
    "integration/test_parallel.py", "integration/test_paths.py", "integration/test_slow_texts.py",
    "integration/test_state.py", "integration/test_stdin.py", "runner/test_recover.py",
    "test_doc_blocks.py", "test_doc_json.py", "test_pictures.py",
)  # fmt: skip
"""Files of tests that start many processes, or a browser: `make slow` runs them."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Before `-m` chooses."""
    for item in items:
        if item.path.is_relative_to(_HERE) and item.path.relative_to(_HERE).as_posix() in SLOW:
            item.add_marker("slow")


@pytest.fixture(autouse=True)
def home_of_its_own(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> Path:
    """Not named `home`: a test may have a parameter of that name, which would replace it."""
    folder = tmp_path_factory.mktemp("home")
    ours = ("SISYPHUS_", "CLAUDE")
    for name in [n for n in os.environ if n.startswith(ours) or n in _OF_THE_TERMINAL]:
        monkeypatch.delenv(name)
    if request.path.relative_to(_HERE).parts[0] in _UNMEASURED:
        monkeypatch.delenv("COVERAGE_PROCESS_CONFIG", raising=False)
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(folder / ".claude"))
    return folder


@pytest.fixture
def home(home_of_its_own: Path) -> Path:
    """The home folder of this test, empty; the client's folder is `.claude` in it."""
    return home_of_its_own


@pytest.fixture(autouse=True)
def _no_notifiers_left() -> Iterator[None]:
    """Those that a test started have ended before the next one begins."""
    yield
    for process in send._started:  # noqa: SLF001
        process.wait(HANG_SECONDS)
    send._started.clear()  # noqa: SLF001


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """An empty project: a folder with a git marker."""
    folder = tmp_path / "project"
    (folder / ".git").mkdir(parents=True)
    return folder


@pytest.fixture
def form(request: pytest.FixtureRequest) -> str:
    """How `world.use` tells of a tool call: see `world.EITHER`."""
    return str(getattr(request, "param", "call"))


@pytest.fixture
def world(
    home_of_its_own: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str
) -> World:
    """A home, an empty project and a session "s1" of Claude Code in it."""
    folder = tmp_path / "project"
    (folder / ".git").mkdir(parents=True, exist_ok=True)
    return World(home_of_its_own, folder, monkeypatch, form)
