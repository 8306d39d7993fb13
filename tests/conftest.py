from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import pytest
from browser import Browser
from world import World

hypothesis.settings.register_profile("ours", deadline=None)  # `make bench` measures
hypothesis.settings.load_profile("ours")

collect_ignore = ["e2e"]  # `make e2e` runs these, with the installed product and real clients


@pytest.fixture
def browser(world: World) -> Iterator[Browser]:
    browser = Browser(world)
    yield browser
    browser.desk.store.close()


@pytest.fixture
def ctrl_c() -> Iterator[None]:
    """Lets the programs that a test starts heed SIGINT: in a shell's background job, which ignores
    it, they would ignore it too."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    return World(tmp_path, monkeypatch)
